"""Brown with fewer and with more labels than it has, run as a child.

labels.py TRAIN TEST NUMBER FOLDER      train.conll and words.conll with about NUMBER labels; sizes as JSON

Coarser labels are the first letters of Brown's; finer ones are Brown's and a number that follows from the
word, so that a word has as many possible labels as before. words.conll has the sentences of TEST whose words
TRAIN has.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from zlib import crc32

from rows import Rows, read_rows, write_rows

Relabel = Callable[[str, str], str]  # word, label → label

FINER = 10  # numbers beside each of Brown's labels: as many as give about 1,000


def relabellings(train: list[Rows]) -> dict[int, Relabel]:
    initials = Counter(label[0] for _, label in chain.from_iterable(train))
    common = {initial for initial, _ in initials.most_common(9)}
    return {
        10: lambda word, label: label[0] if label[0] in common else "other",
        50: lambda word, label: label[:2],
        250: lambda word, label: label,
        1000: lambda word, label: f"{label}|{crc32(word.encode()) % FINER}",
    }


def write(train: Path, test: Path, number: int, folder: Path) -> dict[str, float]:
    sentences = read_rows(train)
    relabel = relabellings(sentences)[number]
    labels_of: dict[str, set[str]] = defaultdict(set)
    for row in chain.from_iterable(sentences):
        row[1] = relabel(*row)
        labels_of[row[0]].add(row[1])
    write_rows(folder / "train.conll", sentences)
    known = [rows for rows in read_rows(test) if all(word in labels_of for word, _ in rows)]
    write_rows(folder / "words.conll", ([[word] for word, _ in rows] for rows in known))
    words = [word for word, _ in chain.from_iterable(known)]
    return {
        "train_tokens": sum(map(len, sentences)),
        "labels": len(set().union(*labels_of.values())),
        "test_tokens": len(words),
        "labels_a_word": sum(len(labels_of[word]) for word in words) / len(words),
    }


def main() -> None:
    train, test, number, folder = sys.argv[1:]
    print(json.dumps(write(Path(train), Path(test), int(number), Path(folder))))


if __name__ == "__main__":
    main()
