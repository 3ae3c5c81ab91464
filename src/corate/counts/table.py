"""Rows of ids with how often each occurred: they are tallied, renamed, added and subtracted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from corate._native import kernels, native
from corate.arrays import KEY_BITS, Ids, Int, pack, starts_of_runs, unpack
from corate.errors import InputError

NEVER_COUNTED = "cannot subtract events that were never counted"


@dataclass(frozen=True)
class Table:
    """Distinct rows of ids, sorted, and how often each occurred."""

    ids: Ids  # rows × fields
    n: Int

    @classmethod
    def of(cls, columns: Sequence[npt.NDArray[np.integer]], n: Int | None = None) -> Table:
        """Int rows given column by column, each counting once or n times; rows that sum to 0 vanish."""
        if len(columns[0]) == 0:
            return cls(np.empty((0, len(columns)), np.int32), np.empty(0, np.int64))
        if n is None and len(columns) == 1:
            total = np.bincount(columns[0])
            found = np.flatnonzero(total)
            return cls(found.astype(np.int32)[:, None], total[found].astype(np.int64))
        widths = [max(1, int(column.max()).bit_length()) for column in columns]
        if n is None and sum(widths) <= KEY_BITS:
            return cls._of_packed(columns, widths)
        key = reduce(_append_field, columns[1:], columns[0].astype(np.int64))
        order = np.argsort(key)
        first = starts_of_runs(key[order])
        if n is None:
            total = np.diff(np.append(first, len(key)))
        else:
            total = np.add.reduceat(n[order], first)
        ids = np.stack([column[order[first]] for column in columns], axis=1).astype(np.int32)
        kept = total != 0
        return cls(np.ascontiguousarray(ids[kept]), total[kept].astype(np.int64))

    @classmethod
    def _of_packed(cls, columns: Sequence[npt.NDArray[np.integer]], widths: Sequence[int]) -> Table:
        """The quick way: all fields in one integer, sorted, and taken apart again."""
        key = pack(columns, widths)
        if sum(widths) < 32 and 1 << sum(widths) <= len(key):  # few keys: they need not be sorted
            times = np.bincount(key)
            distinct = np.flatnonzero(times)
            total = times[distinct]
        else:
            key.sort()
            first = starts_of_runs(key)
            total = np.diff(np.append(first, len(key)))
            distinct = key[first]
        ids = np.empty((len(distinct), len(columns)), np.int32)
        unpack(distinct, widths, ids)
        return cls(ids, total)

    @property
    def n_values(self) -> int:
        """Distinct rows but for the last field."""
        before = self.ids[:, :-1]
        return int(np.count_nonzero((before[1:] != before[:-1]).any(axis=1))) + min(1, len(before))

    def field(self, k: int) -> Ids:
        return self.ids[:, k]

    def map(self, *maps: npt.NDArray[np.integer] | None) -> Table:
        """The same events with field k replaced by `maps[k][id]` (None keeps it), tallied again.

        Events that are mapped to −1 are left out.
        """
        columns = [self.field(k) if m is None else m[self.field(k)] for k, m in enumerate(maps)]
        return tally_complete(columns, self.n)

    def rename(self, *maps: Ids | None) -> Table:
        """The same events under other ids (None: the same ones); their order is to stay."""
        if all(m is None for m in maps):
            return self
        ids = np.empty_like(self.ids)
        for k, m in enumerate(maps):
            ids[:, k] = self.field(k) if m is None else m[self.field(k)]
        return Table(ids, self.n)

    def only(self, chosen: npt.NDArray[np.bool_]) -> Table:
        """Some of the rows."""
        return Table(self.ids[chosen], self.n[chosen])

    def check(self) -> tuple[bool, list[int]]:
        """Whether every row is greater than the one before it, and the highest id of each field.

        That is 0 where there are no rows, and −1 where there is a negative id."""
        if native() and self.ids.flags.c_contiguous:
            return kernels.check_rows(self.ids)
        lowest, most = self.ids.min(axis=0, initial=0), self.ids.max(axis=0, initial=0)
        above, below = self.ids[:-1], self.ids[1:]
        differs = above != below
        first = differs.argmax(axis=1)
        row = np.arange(len(above))
        is_sorted = bool(differs.any(axis=1).all() and (above[row, first] < below[row, first]).all())
        return is_sorted, np.where(lowest < 0, -1, most).tolist()

    def __add__(self, other: Table) -> Table:
        if len(other.n) > len(self.n):
            return other + self
        places, found = self.find(other.ids)
        n = self.n.copy()
        n[places[found]] += other.n[found]
        return Table(self.ids, n)._insert(places[~found], other.ids[~found], other.n[~found])

    def __sub__(self, other: Table) -> Table:
        """Events of `other` taken away, all of which must be here."""
        places, found = self.find(other.ids)
        if not found.all():
            raise InputError(NEVER_COUNTED)
        n = self.n.copy()
        n[places] -= other.n
        if (n[places] < 0).any():
            raise InputError(NEVER_COUNTED)
        return Table(self.ids, n).only(n > 0)

    def _insert(self, places: Int, rows: Ids, n: Int) -> Table:
        """With rows put in before these places."""
        if not len(rows):
            return self
        if native():
            return Table(*kernels.insert_rows(self.ids, self.n, rows, n, places))
        return Table(np.insert(self.ids, places, rows, axis=0), np.insert(self.n, places, n))

    def find(self, rows: Ids) -> tuple[Int, npt.NDArray[np.bool_]]:
        """Where each of some sorted rows is, or would have to be put; and whether it is here."""
        if native():
            return kernels.find_rows(self.ids, np.ascontiguousarray(rows))
        both = np.concatenate([self.ids, rows])
        rank = np.unique(both, axis=0, return_inverse=True)[1].reshape(-1)
        mine, theirs = np.split(rank, [len(self.ids)])
        return np.searchsorted(mine, theirs), np.isin(theirs, mine)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return np.array_equal(self.ids, other.ids) and np.array_equal(self.n, other.n)


def _append_field(key: Int, column: npt.NDArray[np.integer]) -> Int:
    """Pack one more field into the key. Where the bits do not suffice, keys are first numbered anew."""
    width = int(column.max()).bit_length()
    if int(key.max()).bit_length() + width > KEY_BITS:
        key = np.unique(key, return_inverse=True)[1].astype(np.int64)
    return (key << width) | column


def tally_complete(columns: Sequence[npt.NDArray[np.integer]], n: Int | None = None) -> Table:
    """The tally of rows all of whose fields are there, which is to say not −1."""
    lowest = reduce(np.minimum, columns)
    if len(lowest) and lowest.min() < 0:
        kept = np.flatnonzero(lowest >= 0)
        columns, n = [column[kept] for column in columns], None if n is None else n[kept]
    return Table.of(columns, n)
