"""What needs a corpus or a model's answers, each run as a child that prints JSON.

    parts write DATA SPLIT FOLDER            train.conll, test.conll, held_out.conll (word TAB label), and
                                             words.conll, the test part without labels; their sizes
    parts score TRAIN TEST TAGGED            rates of TAGGED in percent
    parts relabel TRAIN TEST NUMBER FOLDER   train.conll and words.conll with about NUMBER labels; sizes
    parts reliability MODEL FILE             tokens of FILE by the probability of their label, in ten bins

Brown has coarser labels in the first letters of its own, and finer ones in its own and a number that follows
from the word, so that a word has as many possible labels as before.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

import corate
from corate.evaluation.evaluate import evaluate
from lab import corpora, terminal
from lab.rows import Rows, column, read_rows, write_rows

FINER = 10  # numbers beside each of Brown's labels: as many as give about 1,000
BINS = 10


def write(data: str, name: str, folder: str) -> dict[str, int]:
    load = corpora.conll2002 if name == corpora.CONLL_SPLIT else corpora.brown
    corpus = load(Path(data))
    split = corpus.splits[name]
    parts = {"train.conll": split.train, "test.conll": split.test, "held_out.conll": corpus.held_out}
    for file, part in parts.items():
        pairs = zip(part.words, part.labels, strict=True)
        write_rows(Path(folder, file), (zip(words, labels, strict=True) for words, labels in pairs))
    write_rows(Path(folder, "words.conll"), ([[word] for word in words] for words in split.test.words))
    return {
        "train_sentences": len(split.train.words),
        "train_tokens": split.train.n_tokens,
        "labels": len(split.train.label_set()),
        "test_tokens": split.test.n_tokens,
    }


def score(train: str, test: str, tagged: str) -> dict[str, float]:
    seen = {row[0] for row in chain.from_iterable(read_rows(Path(train)))}
    gold, found = read_rows(Path(test)), read_rows(Path(tagged))
    words = column(gold, 0)
    if words != column(found, 0):
        raise corate.InputError(f"holds other words than {test}", tagged)
    result = evaluate(column(gold, -1), column(found, -1), words, seen)
    rates = {
        "accuracy": result.accuracy,
        "known": result.accuracy_known,
        "unknown": result.accuracy_unknown,
        "f1": result.f1,
    }
    return {name: 100 * rate for name, rate in rates.items() if rate is not None}


def relabellings(train: list[Rows]) -> dict[int, Callable[[str, str], str]]:
    """From word and label to label, by the number of labels that this gives."""
    initials = Counter(label[0] for _, label in chain.from_iterable(train))
    common = {initial for initial, _ in initials.most_common(9)}
    return {
        10: lambda word, label: label[0] if label[0] in common else "other",
        50: lambda word, label: label[:2],
        250: lambda word, label: label,
        1000: lambda word, label: f"{label}|{crc32(word.encode()) % FINER}",
    }


def relabel(train: str, test: str, number: str, folder: str) -> dict[str, float]:
    """The test part has the sentences whose words the training part has."""
    sentences = read_rows(Path(train))
    other_label = relabellings(sentences)[int(number)]
    labels_of: dict[str, set[str]] = defaultdict(set)
    for row in chain.from_iterable(sentences):
        row[1] = other_label(*row)
        labels_of[row[0]].add(row[1])
    write_rows(Path(folder, "train.conll"), sentences)
    known = [rows for rows in read_rows(Path(test)) if all(word in labels_of for word, _ in rows)]
    write_rows(Path(folder, "words.conll"), ([[word] for word, _ in rows] for rows in known))
    words = [word for word, _ in chain.from_iterable(known)]
    return {
        "train_tokens": sum(map(len, sentences)),
        "labels": len(set().union(*labels_of.values())),
        "test_tokens": len(words),
        "labels_a_word": sum(len(labels_of[word]) for word in words) / len(words),
    }


def reliability(model: str, file: str) -> dict[str, list[dict[str, float]]]:
    sentences = read_rows(Path(file))
    found = corate.load(model).predict_with_probability(column(sentences, 0))
    pairs = zip(chain.from_iterable(found), chain.from_iterable(sentences), strict=True)
    probability, right = np.array([(p, label == gold) for (label, p), (_, gold) in pairs]).T
    number = np.minimum(probability * BINS, BINS - 1).astype(int)
    chosen = [number == b for b in range(BINS)]
    bins = [
        {"n": int(of.sum()), "probability": float(probability[of].mean()), "right": float(right[of].mean())}
        if of.any()
        else {"n": 0, "probability": 0.0, "right": 0.0}
        for of in chosen
    ]
    return {"bins": bins}


ACTIONS: dict[str, Callable[..., Any]] = {
    "write": write, "score": score, "relabel": relabel, "reliability": reliability
}  # fmt: skip


def main() -> None:
    action, *arguments = sys.argv[1:]
    print(json.dumps(ACTIONS[action](*arguments)))


if __name__ == "__main__":
    terminal.run(main)
