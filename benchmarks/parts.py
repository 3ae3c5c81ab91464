"""The two ends that need the corpus, each run as a child: write a split, score what came back.

parts.py write DATA SPLIT FOLDER      train.conll, test.conll, held_out.conll (word TAB label), and
                                      words.conll, the test part without labels
parts.py score TRAIN TEST TAGGED      rates of TAGGED in percent, as JSON
"""

from __future__ import annotations

import json
import sys
from itertools import chain
from pathlib import Path

from rows import Rows, read_rows, write_rows

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiments"))

import corpora
import terminal
from corate import InputError
from corate.evaluation.evaluate import evaluate


def write(data: Path, name: str, folder: Path) -> dict[str, int]:
    load = corpora.conll2002 if name == corpora.CONLL_SPLIT else corpora.brown
    corpus = load(data)
    split = corpus.splits[name]
    parts = {"train.conll": split.train, "test.conll": split.test, "held_out.conll": corpus.held_out}
    for path, part in parts.items():
        pairs = zip(part.words, part.labels, strict=True)
        write_rows(folder / path, (zip(words, labels, strict=True) for words, labels in pairs))
    write_rows(folder / "words.conll", ([[word] for word in words] for words in split.test.words))
    return {
        "train_sentences": len(split.train.words),
        "train_tokens": split.train.n_tokens,
        "labels": len(split.train.label_set()),
        "test_tokens": split.test.n_tokens,
    }


def score(train: Path, test: Path, tagged: Path) -> dict[str, float]:
    seen = {row[0] for row in chain.from_iterable(read_rows(train))}
    gold, found = read_rows(test), read_rows(tagged)
    words = [[row[0] for row in rows] for rows in gold]
    if words != [[row[0] for row in rows] for rows in found]:
        raise InputError(f"holds other words than {test}", str(tagged))
    result = evaluate(_labels(gold), _labels(found), words, seen)
    rates = {
        "accuracy": result.accuracy,
        "known": result.accuracy_known,
        "unknown": result.accuracy_unknown,
        "f1": result.f1,
    }
    return {name: 100 * rate for name, rate in rates.items() if rate is not None}


def _labels(sentences: list[Rows]) -> list[list[str]]:
    return [[row[-1] for row in rows] for rows in sentences]


def main() -> None:
    action, *arguments = sys.argv[1:]
    if action == "write":
        data, name, folder = arguments
        print(json.dumps(write(Path(data), name, Path(folder))))
    else:
        train, test, tagged = map(Path, arguments)
        print(json.dumps(score(train, test, tagged)))


if __name__ == "__main__":
    terminal.run(main)
