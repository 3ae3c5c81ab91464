"""Every experiment, and one page of HTML that shows all of it: tables, pictures, tests, commands.

    experiments ──► results (JSON, kept in --results) ──► page

What was measured before is not measured again, unless the data, the model or its code have changed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from corate import InputError
from experiments import (
    label_bias,
    ner,
    ner_longer,
    page,
    parameterizations,
    pos,
    pos_order,
    test_time_problem,
    theorem,
)
from experiments.claims import verdicts
from experiments.measure import ALL_CAP, CAP, KEPT_ONLY, known
from experiments.models import MODELS
from lab import machine, terminal
from lab.store import Record, Store, digest, sources_of, write_json

RESULTS = Path("build/report")
QUICK_SPLITS, QUICK_CAP = ["1000/4000"], 60
SLOW = ("separate-word", "ep2-word", "crf", "crf-tuned", "crf-ap", "pw")  # not in a quick run
CORPORA = ("pos", "pos_order", "ner", "ner_longer")
SHOWING = ("page.py", "pictures.py", "report.py")  # of these no result depends
Experiment = Callable[[argparse.Namespace], Record]
EXPERIMENTS: dict[str, Experiment] = {
    "pos": pos.collect,
    "pos_order": pos_order.collect,
    "ner": ner.collect,
    "ner_longer": ner_longer.collect,
    "theorem": theorem.collect,
    "label_bias": label_bias.collect,
    "test_time_problem": test_time_problem.collect,
    "parameterizations": parameterizations.collect,
}


def parser() -> argparse.ArgumentParser:
    made = terminal.arguments(__doc__, "experiments.report --data ../shared/data --quick")
    terminal.add_json(made)
    add = made.add_argument
    add("--results", type=Path, default=RESULTS, metavar="DIR", help="keeps results (default: %(default)s)")
    add("--out", type=Path, metavar="FILE", help="the page (default: report.html among the results)")
    add("--quick", action="store_true", help=f"only {QUICK_SPLITS[0]} of Brown, {QUICK_CAP} s for one model")
    add("--cap", type=int, metavar="S", help=f"CPU seconds for one model on one split (default: {CAP})")
    add(
        "--all",
        action="store_true",
        help=f"leave nothing out: {ALL_CAP} s for one model; slow figures are kept",
    )
    add("--kept", action="store_true", help="run no model: show what was kept")
    return made


def collect(options: argparse.Namespace) -> Record:
    """All results, each also a file of its own."""
    options.split = QUICK_SPLITS if options.quick else None
    if options.kept:
        options.cap = KEPT_ONLY
    elif options.cap is None:
        options.cap = QUICK_CAP if options.quick else ALL_CAP if options.all else CAP
    every = [key for key, model in MODELS.items() if model.make and model.corpora]
    options.models = [key for key in every if not (options.quick and key in SLOW)]
    results: Record = {"machine": machine.describe(), "quick": options.quick}
    for name, experiment in EXPERIMENTS.items():
        terminal.progress(f"{name} …")
        results[name] = _kept(Store(options.results), name, experiment, options)
        write_json(options.results / f"{name}.json", results[name])
    terminal.progress("claims …")
    results["claims"] = verdicts.collect(results)
    write_json(options.results / "claims.json", results["claims"])
    return results


def _kept(store: Store, name: str, experiment: Experiment, options: argparse.Namespace) -> Record:
    """Experiments on data of their own depend on code alone; the others keep each measurement themselves."""
    if name in CORPORA:
        return experiment(options)
    scripts = sorted(path for path in Path(__file__).parent.glob("*.py") if path.name not in SHOWING)
    place = (name, digest(path.read_text(encoding="utf-8") for path in scripts), sources_of("corate"))
    found = store.find(*place)
    if found is None:
        found = experiment(options)
        store.keep(found, *place)
    return found


def _check_enough(results: Record) -> None:
    """A page needs a figure or two from each corpus."""
    for name in ("pos", "ner"):
        if not any(known(split["models"]) for split in results[name]["splits"].values()):
            title = results[name]["title"]
            raise InputError(f"no model was measured on {title}: run experiments.{name}, or leave --kept out")


def main() -> None:
    options = parser().parse_args()
    out = options.out or options.results / "report.html"
    terminal.check_writable(options.out)
    terminal.check_writable(options.json)
    results = collect(options)
    _check_enough(results)
    text = page.render(results)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text, encoding="utf-8")
    if options.json:
        write_json(options.json, results)
    print(f"{out}: {len(text.encode()) / 1000:.0f} kB")


if __name__ == "__main__":
    terminal.run(main)
