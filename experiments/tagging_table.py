"""What pos.py and ner.py share: their options, and a split's models as a table, published beside ours."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import terminal
from corate.models.empirical.empirical import MU_GRID
from corpora import Splits
from measure import CAP, DONE, NOT_RUN, Measurements
from models import MODELS
from published import PublishedTable
from results import Record, Store

PAPERS = {model.papers: key for key, model in MODELS.items() if model.papers}
METRICS = {
    "overall": "accuracy",
    "known": "known",
    "unknown": "unknown",
    "f1": "F1",
    "seconds": "training s",
    "tokens_per_second": "tokens/s",
}
NOTES = f"""\
Accuracies in percent: all words, those that training saw, those that it did not. Times are CPU seconds of
  one thread, from token lists to the first labelled sentence; the published ones are of another machine.
000 prints μ_oov as a factor of ψ, which cancels in decoding; here μ is an exponent, and 1 is the formula
  as printed. Where it is chosen, it is chosen among {", ".join(f"{mu:g}" for mu in MU_GRID)}.
CRF++'s column is published for standard training: CRFsuite stands beside it, with two penalties."""


def options_of(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("--results", type=Path, metavar="DIR", help="keep measurements here, and reuse them")
    parser.add_argument(
        "--cap",
        type=int,
        default=CAP,
        metavar="S",
        help="CPU seconds for one model (default: %(default)s); 0 runs nothing and shows what was kept",
    )
    parser.add_argument(
        "--models",
        nargs="+",
        choices=[key for key, model in MODELS.items() if model.make],
        metavar="MODEL",
        help="only these: %(choices)s",
    )
    return parser


def collect(
    experiment: str,
    title: str,
    corpus: Splits,
    splits: Iterable[str],
    published: Mapping[str, Sequence[PublishedTable]],
    options: argparse.Namespace,
) -> Record:
    """Everything that a table or a page shows, as JSON."""
    keys = options.models or [key for key, model in MODELS.items() if model.make and model.corpora]
    measurements = Measurements(title, corpus, Store(options.results), options.cap)
    for name in splits:
        measurements.add(name, keys)
        measurements.splits[name]["published"] = published_figures(published[name])
    return {"experiment": experiment, "title": title, "cap": options.cap, "splits": measurements.splits}


def published_figures(tables: Sequence[PublishedTable]) -> dict[str, Record]:
    """By model; 002 repeats CRF++'s figures of 000."""
    found: dict[str, Record] = {}
    for table in tables:
        for method in table.methods:
            found.setdefault(method, {"source": table.source, **table.column(method)})
    return found


def row_of(method: str) -> str:
    """The row that a method of the papers stands in: that of our model, or one of its own."""
    return PAPERS.get(method, method)


def print_split(title: str, split: Record) -> None:
    records, published = split["models"], {row_of(m): f for m, f in split["published"].items()}
    rows = {key: MODELS[key].title for key in records}
    rows |= {key: f"{key} (published)" for key in published if key not in rows}
    source = next(iter(split["published"].values()))["source"]
    columns = []
    for metric, head in METRICS.items():
        ours = {key: ours_of(record, metric) for key, record in records.items()}
        theirs = {
            key: figure(metric, figures[metric]) for key, figures in published.items() if metric in figures
        }
        if any(ours.values()):
            columns.append(terminal.Column(head, terminal.HERE, {k: v for k, v in ours.items() if v}))
        if theirs:
            columns.append(terminal.Column("", source, theirs))
    terminal.print_table(title, rows, columns)


def ours_of(record: Record, metric: str) -> str:
    """A figure, or why there is none; the reason stands where the time would."""
    if record["status"] == DONE:
        return "" if record[metric] is None else figure(metric, record[metric])
    if metric != "seconds":
        return ""
    if record["status"] == NOT_RUN:
        return "not run" + (f": ≈ {duration(record['seconds'])}" if record["seconds"] else "")
    return f"stopped after {record['cap']}"


def figure(metric: str, value: float) -> str:
    if metric == "tokens_per_second":
        return f"{value:,.0f}"
    if metric == "seconds":
        return f"{value:.2f}" if value < 10 else f"{value:,.0f}"
    return f"{value:.2f}"


def duration(seconds: float) -> str:
    """With two digits, in the unit that people would say."""
    for size, unit in ((86_400, "days"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.2g} {unit}" if seconds < 10 * size else f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.2g} s"
