"""Train a model, label the test part and measure both, for every column of pos.py and ner.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import process_time

import terminal
from corate import EmpiricalCRF, Tagger
from corate.empirical import MU_GRID
from corate.evaluate import evaluate
from corpora import Part, Split
from published import PublishedTable, implied_unknown_rate

ROWS = {
    "overall": "accuracy, %",
    "known": "  known words",
    "unknown": "  unknown words",
    "unknown_rate": "unknown words, %",
    "f1": "entity F1, %",
    "seconds": "training, s",
    "tokens_per_second": "tagging, tokens/s",
}
CHOSEN = "EP1, μ chosen"
COMMON_NOTES = f"""\
000 prints μ_oov as a factor of ψ, which cancels in decoding; here μ is an exponent, and 1 is the formula
  as printed. It is chosen among {", ".join(f"{mu:g}" for mu in MU_GRID)}.
Times here are CPU seconds of one thread, from token lists to the first labelled sentence (with the choice
  of μ, where it is chosen); the published ones are of another machine.
Tagger is the model of this project, not of the papers: many contexts, with fixed or fitted weights.
EP2, CRF++ and PW (piecewise training) are quoted, not run."""


@dataclass(frozen=True)
class Result:
    """Rates in percent; CPU seconds of one thread."""

    model: str
    mu_oov: float | None  # None where the model has none
    overall: float
    known: float
    unknown: float
    unknown_rate: float
    f1: float | None  # None where the labels are plain tags
    seconds: float
    tokens_per_second: float

    def column(self) -> terminal.Column:
        head = f"EP1, μ={self.mu_oov:g}" if self.model == CHOSEN else self.model
        cells = {
            name: f"{getattr(self, name):.2f}" for name in ("overall", "known", "unknown", "unknown_rate")
        }
        cells |= {"seconds": f"{self.seconds:.2f}", "tokens_per_second": f"{self.tokens_per_second:,.0f}"}
        return terminal.Column(
            head, terminal.HERE, cells if self.f1 is None else cells | {"f1": f"{self.f1:.2f}"}
        )


def models() -> dict[str, EmpiricalCRF | Tagger]:
    """The papers' experiments have one parameter a tag–word pair and one a tag–tag pair: pair="label"."""
    return {
        "EP1": EmpiricalCRF(unknown="mean", pair="label", mu_oov=1.0),
        "ECRN": EmpiricalCRF(unknown="signature", pair="label", mu_oov=1.0),
        CHOSEN: EmpiricalCRF(unknown="mean", pair="label", mu_oov=None),
        "Tagger, fixed": Tagger(weights="fixed"),
        "Tagger": Tagger(),
    }


def measure(name: str, crf: EmpiricalCRF | Tagger, split: Split, held_out: Part) -> Result:
    """Training runs from token lists to the first labelled sentence, so that the factors are in it."""
    start = process_time()
    if isinstance(crf, EmpiricalCRF) and crf.mu_oov is None:
        crf.fit(split.train.words, split.train.labels, held_out=(held_out.words, held_out.labels))
    else:
        crf.fit(split.train.words, split.train.labels)
    crf.predict(split.test.words[:1])
    trained = process_time()
    predicted = crf.predict(split.test.words)
    tagged = process_time()
    found = evaluate(split.test.labels, predicted, split.test.words, split.train.vocabulary())
    return Result(
        model=name,
        mu_oov=crf.mu_oov_ if isinstance(crf, EmpiricalCRF) else None,
        overall=100 * found.accuracy,
        known=100 * (found.accuracy_known or 0.0),
        unknown=100 * (found.accuracy_unknown or 0.0),
        unknown_rate=100 * (found.unknown_rate or 0.0),
        f1=None if found.f1 is None else 100 * found.f1,
        seconds=trained - start,
        tokens_per_second=split.test.n_tokens / (tagged - trained),
    )


def measure_all(name: str, split: Split, held_out: Part) -> list[Result]:
    results = []
    for model, crf in models().items():
        terminal.progress(f"{name}: {model} …")
        results.append(measure(model, crf, split, held_out))
    return results


def print_results(title: str, results: Sequence[Result], published: Sequence[PublishedTable]) -> None:
    columns = [result.column() for result in results]
    rows = {key: name for key, name in ROWS.items() if any(key in column.cells for column in columns)}
    terminal.print_table(title, rows, [*columns, *_published_columns(published)])


def _published_columns(tables: Sequence[PublishedTable]) -> list[terminal.Column]:
    """Every method of the papers' tables once: 002 repeats CRF++'s figures of 000."""
    columns: dict[str, terminal.Column] = {}
    for table in tables:
        for method in table.methods:
            figures = table.column(method)
            cells = {metric: f"{figure:,}" for metric, figure in figures.items()}
            cells["unknown_rate"] = f"≈{implied_unknown_rate(figures):.1f}"
            columns.setdefault(method, terminal.Column(method, table.source, cells))
    return list(columns.values())
