"""Plain rows of columns, read in one go: all sound token rows, and nothing else but empty lines between them.

Anything unusual is refused without a word: the reader of the format then looks at it line by line, and says
what is wrong and where, if something is.
"""

from __future__ import annotations

from itertools import accumulate, chain, pairwise
from typing import TypeVar

import numpy as np

from corate._native import kernels, native
from corate.text.corpus import Column, Corpus, letters_of

DOCSTART = "-DOCSTART-"  # not a word


def plain_columns(rows: list[str], width: int, separator: str) -> list[list[str]] | None:
    """The columns of sound rows; None where a closer look is due. Cells may still be blank."""
    if not rows:
        return None
    # All rows in one go, with a mark after each that no row can hold.
    text = f"{separator}\n{separator}".join(rows)
    cells = text.split(separator)
    if len(cells) != (width + 1) * len(rows) - 1 or cells[width :: width + 1].count("\n") != len(rows) - 1:
        return None
    if "\r" in text or (separator == " " and ("\t" in text or "" in cells)):
        return None
    return None if DOCSTART in text else [cells[k :: width + 1] for k in range(width)]


AnyColumn = TypeVar("AnyColumn")


def cut_label(columns: list[AnyColumn], label: int | None, labelled: bool) -> AnyColumn | None:
    """Take the label's column out, if there is one. Where labels are wanted those behind it go, too: they are
    other labels of the same tokens, and not observed."""
    if label is None:
        return None
    labels = columns.pop(label)
    if labelled:
        del columns[max(1, label) :]
    return labels


class PlainRows:
    """Rows of some columns, of which one may hold the labels, as they are read block by block."""

    def __init__(self, width: int, separator: str, label: int | None, labelled: bool = True) -> None:
        self._width, self._separator, self._label, self._labelled = width, separator, label, labelled
        self._native = native()
        self._clear()

    def _clear(self) -> None:
        if self._native:
            self._cells = kernels.Cells(self._width, ord(self._separator))
        self._columns: list[list[str]] = [[] for _ in range(self._width)]
        self._lengths: list[int] = []

    @property
    def n_tokens(self) -> int:
        return len(self._cells) if self._native else len(self._columns[0])

    def read(self, lines: list[str]) -> bool:
        """Take in lines of which the last is empty; False, and nothing is taken in, if one is not plain."""
        if self._native:
            text = "\n".join(lines)
            return DOCSTART not in text and self._cells.read(letters_of(text), letters_of(DOCSTART))
        columns = plain_columns(list(filter(None, lines)), self._width, self._separator)
        if columns is None or not all(map(str.strip, chain.from_iterable(columns))):
            return False
        for known, new in zip(self._columns, columns, strict=True):
            known += new
        empty = [-1, *(k for k, line in enumerate(lines) if not line)]
        self._lengths += [b - a - 1 for a, b in pairwise(empty) if b - a > 1]
        return True

    def take(self) -> Corpus:
        """What was read so far, which is then forgotten; with the labels if they are wanted."""
        if self._native:
            columns = [Column(codes, values) for values, codes in map(self._cells.column, range(self._width))]
            offsets = self._cells.offsets()
        else:
            columns = [Column.from_strings(cells) for cells in self._columns]
            offsets = np.fromiter(accumulate(self._lengths, initial=0), np.int64)
        self._clear()
        labels = cut_label(columns, self._label, self._labelled)
        return Corpus(tuple(columns), labels if self._labelled else None, offsets)
