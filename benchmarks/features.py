"""Tagging with ready features: the Tagger and CRFsuite, both trained on those of CRFsuite's tutorial.

Dutch, words and tags. The Tagger is given dicts; CRFsuite its own ItemSequences, made before the clock
starts, and the dicts as well. Tokens per CPU second, the best of several rounds in turn, and milliseconds a
sentence, one at a time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from benchmarks.few import CRFsuite, features, tasks
from corate import Tagger
from lab import terminal
from lab.store import Record
from lab.tables import Cell, Table

TASK = "Dutch names, words and tags"


def measure(options: argparse.Namespace) -> Record:
    import pycrfsuite

    train, test = tasks(options.data, [TASK])[TASK]()
    train = train[: options.train]
    shown, labels = [features(tokens) for tokens, _ in train], [y for _, y in train]
    X = [features(tokens) for tokens, _ in test]
    ready = [pycrfsuite.ItemSequence(tokens) for tokens in X]
    tagger, peer = Tagger().fit(shown, labels), CRFsuite().fit(shown, labels)
    ways: dict[str, tuple[Callable[[Any], Any], Sequence[Any]]] = {
        "Tagger, dicts": (tagger.predict, X),
        "CRFsuite, ready": (peer.predict_ready, ready),
        "CRFsuite, dicts": (peer.predict, X),
    }
    n_tokens, ones = sum(map(len, X)), range(0, len(X), max(1, len(X) // 500))
    found: Record = {name: {"tokens": 0.0, "ms": float("inf")} for name in ways}
    for _ in range(options.rounds):
        for name, (predict, given) in ways.items():
            each = found[name]
            each["tokens"] = max(each["tokens"], n_tokens / _seconds(partial(predict, given)))
            alone = _seconds(partial(_one_by_one, predict, [given[i] for i in ones]))
            each["ms"] = min(each["ms"], 1000 * alone / len(ones))
    return found


def _one_by_one(predict: Callable[[Any], Any], sentences: Sequence[Any]) -> None:
    for sentence in sentences:
        predict([sentence])


def _seconds(work: Callable[[], Any]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def tables(found: Record) -> list[Table]:
    peer = found["CRFsuite, ready"]["tokens"]
    rows = [
        (name, [Cell(f"{f['tokens']:,.0f}"), Cell(f"{f['tokens'] / peer:.2f}"), Cell(f"{f['ms']:.3f}")])
        for name, f in found.items()
    ]
    return [Table(TASK, ["", "tokens per CPU second", "of CRFsuite's", "ms a sentence alone"], rows)]


def main() -> None:
    parser = terminal.arguments(
        __doc__, "benchmarks.features --data ../shared/data", data="folder of the corpora"
    )
    parser.add_argument("--train", type=int, default=3_000, metavar="N", help="sentences (default: 3000)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="default: 3")
    terminal.show(parser, measure, tables, "CPU time; the best of several rounds.")


if __name__ == "__main__":
    terminal.run(main)
