"""corate eval --folds beside as many real trainings: the same figures? and at which cost?

The first 50, 200 and 1,000 training sentences of CoNLL-2002 Dutch and of Brown, in five folds, with the
weights of the default. By commands, as people would: once corate eval --folds, against five times corate
train and corate tag. In one process: the same from corpora in memory. CPU seconds, the best of N rounds.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import chain, pairwise
from pathlib import Path
from time import process_time
from typing import Any, TypeVar

from corate import Tagger
from corate.evaluation.evaluate import Evaluation, evaluate
from corate.evaluation.folds import fold_bounds, label_folds
from corate.text.tokens import as_corpus
from lab import terminal
from lab.children import ONE_THREAD, Finished, run
from lab.corpora import BROWN_SPLITS, CONLL_SPLIT, Part, brown, conll2002
from lab.rows import column, read_rows, write_rows
from lab.store import Record
from lab.tables import Cell, Table

SIZES, N_FOLDS = (50, 200, 1_000), 5
Labels = list[list[str]]
Result = TypeVar("Result")


def corate(*arguments: str | Path, stdout: Path | None = None) -> Finished:
    return run([sys.executable, "-m", "corate", *arguments], stdout=stdout, environment=ONE_THREAD)


def best_of(rounds: int, work: Callable[[], tuple[float, Result]]) -> tuple[float, Result]:
    """The least CPU seconds, and what came out."""
    done = [work() for _ in range(rounds)]
    return min(seconds for seconds, _ in done), done[-1][1]


def without(part: Part, first: int, last: int) -> Part:
    return Part(part.words[:first] + part.words[last:], part.labels[:first] + part.labels[last:])


def cuts(part: Part) -> Iterator[tuple[int, int]]:
    return pairwise(fold_bounds(len(part.words), N_FOLDS))


def write(path: Path, part: Part) -> Path:
    sentences = zip(part.words, part.labels, strict=True)
    write_rows(path, (zip(*sentence, strict=True) for sentence in sentences))
    return path


def by_commands(part: Part, folder: Path) -> tuple[float, Labels]:
    """CPU seconds of five trainings and five taggings, and the labels."""
    seconds, labels = 0.0, []
    model, words, tagged = (folder / name for name in ("rest.model", "words.txt", "tagged.conll"))
    for first, last in cuts(part):
        rest = write(folder / "rest.conll", without(part, first, last))
        words.write_text("".join(" ".join(s) + "\n" for s in part.words[first:last]), encoding="utf-8")
        seconds += corate("train", rest, "-m", model).cpu
        seconds += corate("tag", "-m", model, words, stdout=tagged).cpu
        labels += column(read_rows(tagged), -1)
    return seconds, labels


def by_folds(file: Path) -> tuple[float, dict[str, Any]]:
    done = corate("eval", "--folds", str(N_FOLDS), "--json", file)
    return done.cpu, done.json()


def trainings_inside(part: Part) -> tuple[float, Labels]:
    started, labels = process_time(), []
    for first, last in cuts(part):
        rest = without(part, first, last)
        labels += Tagger(ledger=False).fit(rest.words, rest.labels).predict(part.words[first:last])
    return process_time() - started, labels


def folds_inside(part: Part) -> tuple[float, Labels]:
    started = process_time()
    folds = label_folds(Tagger(), as_corpus(part.words, part.labels), N_FOLDS)
    labels = list(chain.from_iterable(fold.labels for fold in folds))
    return process_time() - started, labels


def figure(found: Evaluation | dict[str, Any]) -> float:
    """F1 where there are spans, else accuracy; in points."""
    values = found if isinstance(found, dict) else found.to_json()
    return 100 * float(values["f1"] if "f1" in values else values["accuracy"])


def measure(part: Part, rounds: int) -> Record:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole = write(folder / "whole.conll", part)
        real, labels = best_of(rounds, lambda: by_commands(part, folder))
        folded, found = best_of(rounds, lambda: by_folds(whole))
    real_inside, same = best_of(rounds, lambda: trainings_inside(part))
    folded_inside, own = best_of(rounds, lambda: folds_inside(part))
    return {
        "trainings": figure(evaluate(part.labels, labels)),
        "folds": figure(found),
        "same_labels": labels == same == own,
        "cpu": {"trainings": real, "folds": folded, "ratio": folded / real},
        "cpu_inside": {
            "trainings": real_inside,
            "folds": folded_inside,
            "ratio": folded_inside / real_inside,
        },
    }


def collect(options: argparse.Namespace) -> Record:
    corpora = {
        "Dutch, F1": conll2002(options.data).splits[CONLL_SPLIT].train,
        "Brown, accuracy": brown(options.data).splits[next(iter(BROWN_SPLITS))].train,
    }
    found: Record = {}
    for title, train in corpora.items():
        for n in SIZES:
            terminal.progress(f"{title}, {n:,} sentences")
            found[f"{title}, {n:,}"] = measure(Part(train.words[:n], train.labels[:n]), options.rounds)
    return found


def tables(found: Record) -> list[Table]:
    heads = ["", "trainings", "folds", "same labels", "CPU s", "folds", "ratio", "CPU s", "folds", "ratio"]
    rows = []
    for title, one in found.items():
        costs = [f"{one[kind][what]:.2f}" for kind in ("cpu", "cpu_inside") for what in one[kind]]
        same = "yes" if one["same_labels"] else "no"
        texts = [f"{one['trainings']:.2f}", f"{one['folds']:.2f}", same, *costs]
        rows.append((title, [*map(Cell, texts)]))
    groups = [(f"{N_FOLDS} folds", 3), ("by commands", 3), ("in one process", 3)]
    return [Table("Folds against real trainings", heads, rows, groups)]


def main() -> None:
    parser = terminal.arguments(__doc__, "benchmarks.folds --data ../shared/data")
    parser.add_argument("--rounds", type=int, default=3)
    terminal.show(parser, collect, tables, "Wanted: within 1 point, in at most 0.60 of the CPU time.")


if __name__ == "__main__":
    terminal.run(main)
