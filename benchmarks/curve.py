"""Does corate curve say what more sentences bring? Its range is meant to have nine of ten trainings in it.

Sentences of CoNLL-2002 Dutch and of Brown are drawn, twice as many as the curve gets to see. It says what
twice as many as its last size would add; a training on them says what they do add, on held-out sentences. All
this several times; shown are how many trainings were in the range, how wide that was, and how far off the
expected gain was, in points.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from corate import HMM, Corpus, Tagger
from corate.evaluation.curve import NAMES, learning_curves
from corate.evaluation.evaluate import evaluate
from corate.text.tokens import as_corpus
from lab import terminal
from lab.corpora import BROWN_SPLITS, CONLL_SPLIT, Part, brown, conll2002
from lab.store import Record
from lab.tables import Cell, Table

N_TEST = 600  # sentences
MODELS: dict[str, Callable[[Corpus], Any]] = {
    "HMM": lambda corpus: HMM(ledger=False).fit(corpus),
    "Tagger, fixed": lambda corpus: Tagger("fixed", ledger=False).fit(corpus),
}


def some(part: Part, chosen: list[int]) -> Corpus:
    chosen = sorted(chosen)
    return as_corpus([part.words[s] for s in chosen], [part.labels[s] for s in chosen])


def trial(train: Callable[[Corpus], Any], part: Part, test: Part, n: int, by: str, seed: int) -> Record:
    """Of each measure the gain that is expected and its range, and the one that a training has."""
    drawn = random.Random(seed).sample(range(len(part.words)), 2 * n)
    held_out = as_corpus(test.words, test.labels)
    curves = learning_curves(train, some(part, drawn[:n]), held_out if by == "test" else None)
    last = next(iter(curves.values())).points[-1].sentences
    now, then = (
        evaluate(test.labels, train(some(part, drawn[: last * k])).predict(held_out)).to_json()
        for k in (1, 2)
    )
    found = {}
    for name, one in curves.items():
        mean, twice = one.points[-1].mean, one.expected[0]
        gain, ends = 100 * (then[name] - now[name]), (100 * (twice.low - mean), 100 * (twice.high - mean))
        found[name] = {"expected": 100 * twice.gain, "low": ends[0], "high": ends[1], "gain": gain}
    return found


def collect(options: argparse.Namespace) -> Record:
    dutch, english = conll2002(options.data), brown(options.data)
    corpora = {
        "Dutch": (dutch.splits[CONLL_SPLIT].train, dutch.held_out),
        "Brown": (english.splits[list(BROWN_SPLITS)[2]].train, english.held_out),
    }
    found: Record = {}
    for title, (part, held_out) in corpora.items():
        test = Part(held_out.words[:N_TEST], held_out.labels[:N_TEST])
        for model, train in MODELS.items():
            for by in ("test", "folds"):
                name = f"{title}, {model}, {by}"
                terminal.progress(name)
                found[name] = [
                    trial(train, part, test, options.sentences, by, seed) for seed in range(options.trials)
                ]
    return found


def tables(found: Record) -> list[Table]:
    rows, inside, total = [], 0, 0
    for title, trials in found.items():
        for measure in trials[0]:
            each = [one[measure] for one in trials]
            within = sum(one["low"] <= one["gain"] <= one["high"] for one in each)
            inside, total = inside + within, total + len(each)
            half = np.mean([(one["high"] - one["low"]) / 2 for one in each])
            gain, off = (np.array([one[key] for one in each]) for key in ("gain", "expected"))
            texts = [f"{within} of {len(each)}", f"± {half:.2f}", f"{gain.mean():+.2f}"]
            off = off - gain
            rows.append(
                (f"{title}, {NAMES[measure]}", [*map(Cell, [*texts, f"{off.mean():+.2f} ± {off.std():.2f}"])])
            )
    rows.append(("all", [Cell(f"{inside} of {total}")]))
    return [Table("Twice the sentences", ["", "in the range", "range", "gain", "expected − gain"], rows)]


def main() -> None:
    parser = terminal.arguments(__doc__, "benchmarks.curve --data ../shared/data")
    parser.add_argument("--sentences", type=int, default=400, help="that the curve gets to see (400)")
    parser.add_argument("--trials", type=int, default=10)
    terminal.show(parser, collect, tables, "Meant: nine of ten.")


if __name__ == "__main__":
    terminal.run(main)
