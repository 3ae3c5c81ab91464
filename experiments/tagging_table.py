"""What pos and ner share: their options, and a split's models as a table, published beside ours."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from corate.models.empirical.empirical import MU_GRID
from experiments import published
from experiments.measure import ALL_CAP, CAP, DONE, KEPT, NOT_RUN, Measurements, keep_slow_cells, known
from experiments.models import MODELS, title_of
from lab import tables, terminal
from lab.corpora import Splits
from lab.store import Record, Store
from lab.tables import Cell, Row, Table

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


@dataclass(frozen=True)
class Task:
    """A corpus whose splits the papers have tables of."""

    name: str
    title: str
    load: Callable[[Path], Splits]
    published: Mapping[str, dict[str, published.Figures]]
    notes: str
    models: tuple[str, ...] = ()  # only these, where others are not asked for

    def show(self, parser: argparse.ArgumentParser, collect: Callable[[argparse.Namespace], Record]) -> None:
        terminal.show(parser, collect, self.tables, published.with_papers(f"{self.notes.strip()}\n{NOTES}"))

    def arguments(self, doc: str | None, example: str, folder: str) -> argparse.ArgumentParser:
        parser = terminal.arguments(doc, f"experiments.{example}", data=f"folder that holds {folder}/")
        add = parser.add_argument
        add("--results", type=Path, metavar="DIR", help="keep measurements here, and reuse them")
        limit = f"CPU seconds for one model (default: {CAP}); 0 runs nothing and shows what was kept"
        add("--cap", type=int, default=CAP, metavar="S", help=limit)
        made = [key for key, model in MODELS.items() if model.make]
        add("--models", nargs="+", choices=made, metavar="MODEL", help="only these: %(choices)s")
        return parser

    def collect(self, options: argparse.Namespace, splits: Iterable[str] | None = None) -> Record:
        """Everything that a table or a page shows, as JSON."""
        keys = options.models or [key for key, model in MODELS.items() if model.make and model.corpora]
        keys = [key for key in keys if not self.models or key in self.models]
        measurements = Measurements(self.title, self.load(options.data), Store(options.results), options.cap)
        for name in splits or self.published:
            measurements.add(name, keys)
            measurements.splits[name]["published"] = self.published[name]
            implied = published.implied_unknown_rate(self.published[name]["EP1"])
            measurements.splits[name]["implied_unknown"] = implied
        if options.cap >= ALL_CAP:
            keep_slow_cells(self.title, measurements.splits)
        return {
            "experiment": self.name,
            "title": self.title,
            "cap": options.cap,
            "splits": measurements.splits,
        }

    def tables(self, found: Record) -> list[Table]:
        return [split_table(found, name) for name in found["splits"]]


def row_of(method: str) -> str:
    """The row that a method of the papers stands in: that of our model, or one of its own."""
    return PAPERS.get(method, method)


def split_table(found: Record, name: str) -> Table:
    split = found["splits"][name]
    methods = {row_of(method): method for method in split["published"]}
    ours = {m: any(of[m] is not None for of in known(split["models"]).values()) for m in METRICS}
    theirs = {m: any(m in of for of in split["published"].values()) for m in METRICS}
    rows = []
    for key in [*split["models"], *(key for key in methods if key not in split["models"])]:
        cells = []
        for metric in METRICS:
            place = ("splits", name, "published", methods.get(key, ""), metric)
            cells += [_ours(found, name, key, metric)] if ours[metric] else []
            cells += [tables.published(found, "{:,}", *place)] if theirs[metric] else []
        rows.append((title_of(key), cells))
    heads = [head for m in METRICS for head, has in (("here", ours[m]), ("publ.", theirs[m])) if has]
    groups = [(title, n) for m, title in METRICS.items() if (n := ours[m] + theirs[m])]
    source = ", ".join(dict.fromkeys(of["source"] for of in split["published"].values()))
    dates = sorted({of["date"] for of in split["models"].values() if "date" in of})
    kept = f"; in italics: measured on {', '.join(dates)} by report --all, and kept" if dates else ""
    return Table(f"{found['title']} {name}, %; published: {source}{kept}", ["model", *heads], rows, groups)


def across_table(found: Record) -> Table:
    """Accuracy on every split, the published one beside it; above them the shares of unknown words, and μ."""
    splits = found["splits"]

    def row(title: str, ours: Sequence[object], theirs: Sequence[object], form: str = "{:.2f}") -> Row:
        cells = []
        for name in splits:
            cells.append(tables.figure(found, form, "splits", name, *ours))
            cells.append(tables.published(found, form, "splits", name, *theirs) if theirs else tables.EMPTY)
        return title, cells

    rows = [row("unknown words (implied by EP1's)", ["sizes", "unknown_rate"], ["implied_unknown"])]
    keys = dict.fromkeys(key for split in splits.values() for key in split["models"])
    if "ep1-mu" in keys:
        rows.append(row("μ chosen on held-out sentences", ["models", "ep1-mu", "mu_oov"], [], "{:g}"))
    methods = {row_of(method): method for split in splits.values() for method in split["published"]}
    for key in keys:
        theirs = ["published", methods[key], "overall"] if key in methods else []
        rows.append(row(title_of(key), ["models", key, "overall"], theirs))
    heads = ["here", "publ."] * len(splits)
    groups = [(name, 2) for name in splits]
    return Table(f"{found['title']}: accuracy on every split, %", ["", *heads], rows, groups)


def _ours(found: Record, name: str, key: str, metric: str) -> Cell:
    models = found["splits"][name]["models"]
    if key not in models:
        return tables.EMPTY
    if models[key]["status"] not in (DONE, KEPT):
        return Cell(ours_of(models[key], metric) or "–", note="reason")
    rates = [of[metric] for of in known(models).values() if of[metric] is not None]
    is_best = rates and models[key][metric] == (min(rates) if metric == "seconds" else max(rates))
    place = ("splits", name, "models", key, metric)
    note = "kept" if models[key]["status"] == KEPT else "best" if is_best else ""
    return tables.figure(found, lambda value: number(metric, value), *place, note=note)


def ours_of(record: Record, metric: str) -> str:
    """A figure, or why there is none; the reason stands where the time would."""
    if record["status"] in (DONE, KEPT):
        return "" if record[metric] is None else number(metric, record[metric])
    if metric != "seconds":
        return ""
    if record["status"] == NOT_RUN:
        return "not run" + (f": ≈ {duration(record['seconds'])}" if record["seconds"] else "")
    return f"stopped after {record['cap']:,}" + (f", {record['date']}" if "date" in record else "")


def number(metric: str, value: float) -> str:
    if metric == "tokens_per_second" or (metric == "seconds" and value >= 10):
        return f"{value:,.0f}"
    return f"{value:.2f}"


def duration(seconds: float) -> str:
    """With two digits, in the unit that people would say."""
    for size, unit in ((86_400, "days"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.2g} {unit}" if seconds < 10 * size else f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.2g} s"
