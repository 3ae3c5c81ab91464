"""All claims, checked: what a page and a terminal show of them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from corate import InputError
from experiments import label_bias, parameterizations, test_time_problem, theorem
from experiments.claims import algebra, closed_form, networks, tables, training
from experiments.claims.claim import CLAIMS, HOLDS, OPEN, VERDICTS, Claim, Finding, not_measured
from lab import terminal
from lab.store import Record, write_json
from lab.tables import Table, figure

CHECKS = (algebra, closed_form, networks, training, tables)  # importing them enters their claims
SIMULATED = {
    "theorem": theorem.collect,
    "label_bias": label_bias.collect,
    "test_time_problem": test_time_problem.collect,
    "parameterizations": parameterizations.collect,
}


def check(claim: Claim, results: Record) -> Finding:
    """What it finds; a corpus that was not measured leaves it open."""
    try:
        return claim.check(results)
    except KeyError as error:
        if error.args[0] in ("pos", "pos_order", "ner", "ner_longer"):
            return not_measured(f"needs `make report DATA=…`: {error.args[0]} was not measured")
        raise


def collect(results: Record) -> Record:
    found = {name: check(claim, results) for name, claim in CLAIMS.items()}
    return {
        "experiment": "claims",
        "counts": {verdict: sum(of.verdict == verdict for of in found.values()) for verdict in VERDICTS},
        "claims": {
            name: {
                "source": claim.source,
                "says": claim.says,
                "verdict": found[name].verdict,
                "found": found[name].found,
                "command": claim.command,
            }
            for name, claim in CLAIMS.items()
        },
    }


def table(found: Record) -> Table:
    """A row a claim, in the order of the papers."""
    rows = []
    for name, of in sorted(found["claims"].items(), key=lambda item: item[1]["source"]):
        notes = {"says": "words", "verdict": _class(of["verdict"]), "found": "words", "command": "words"}
        cells = [figure(found, "{}", "claims", name, key, note=note) for key, note in notes.items()]
        rows.append((of["source"], cells))
    return Table(counted(found), ["where", "the papers say", "verdict", "what we found", "again"], rows)


def _class(verdict: str) -> str:
    return "sure" if verdict == HOLDS else "open" if verdict == OPEN else "narrow"


def counted(found: Record) -> str:
    counts: Counter[str] = Counter(found["counts"])
    return f"{sum(counts.values())} claims: " + ", ".join(
        f"{n} {verdict}" for verdict, n in counts.items() if n
    )


def main() -> None:
    parser = terminal.arguments(__doc__, "experiments.claims theorem_1", data=terminal.OWN_DATA)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"only these: {', '.join(CLAIMS)}")
    parser.add_argument(
        "--results", type=Path, default=Path("build/report"), metavar="DIR", help="of make report"
    )
    terminal.add_json(parser)
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in CLAIMS]
    if unknown:
        raise InputError(f"no claim is called {unknown[0]}: choose from {', '.join(CLAIMS)}")
    results = _results(options.results)
    found = collect(results)
    for name, of in found["claims"].items():
        if not options.names or name in options.names:
            print(f"{of['verdict'].upper()}  {name} ({of['source']})\n  {of['says']}\n  {of['found']}\n")
    if not options.names:
        print(counted(found))
    if options.json:
        write_json(options.json, found)


def _results(folder: Path) -> Record:
    """What the report has measured, if it has; simulations anew where it has not."""
    results: Record = {}
    for name in ("pos", "pos_order", "ner", "ner_longer", *SIMULATED):
        path = folder / f"{name}.json"
        if path.exists():
            results[name] = json.loads(path.read_text(encoding="utf-8"))
        elif name in SIMULATED:
            results[name] = SIMULATED[name](None)  # type: ignore[arg-type]
    return results
