"""The plainest reader and writer of column files, for the peers. It imports nothing that would cost them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

Rows = list[list[str]]


def read_rows(path: Path) -> list[Rows]:
    """Sentences as lists of rows, a row as the list of its cells."""
    sentences: list[Rows] = [[]]
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line == "\n":
                sentences.append([])
            else:
                sentences[-1].append(line[:-1].split("\t"))
    return [rows for rows in sentences if rows]


def column(sentences: Iterable[Rows], number: int) -> list[list[str]]:
    """0 for the words, -1 for the labels."""
    return [[row[number] for row in rows] for rows in sentences]


def write_rows(path: Path, sentences: Iterable[Iterable[Iterable[str]]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for rows in sentences:
            file.writelines("\t".join(row) + "\n" for row in rows)
            file.write("\n")
