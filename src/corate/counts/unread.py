"""Counts of a model file of which no more is read than is asked for.

    labels alone, vocabularies    read at once
    contexts                      the rows of those values that sentences have, if these are few; whole
                                  tables: then all of the file is read, and all is checked that must hold

A table has *fences*, the first of every so many rows: they tell between which rows a value is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from threading import Lock
from typing import Any

import numpy as np

from corate.arrays import Int, pack, ragged_arange, starts_of_runs
from corate.contexts.values import Vocabulary
from corate.counts.counts import Counts
from corate.counts.invariants import check_table
from corate.counts.names import fields
from corate.counts.table import Table
from corate.errors import ModelFileError
from corate.storage.modelfile import Array, Opened

STEP = 512  # rows from one fence to the next
IDS, N, FENCES = "ids", "n", "first"  # what a table has in the file
KINDS = "".join(np.dtype(kind).char for kind in (np.int32, np.int64, np.int32))


def parts_of(table: Table) -> dict[str, Array]:
    """A table as it is in the file; few rows need no fences."""
    fences = {FENCES: table.ids[::STEP]} if len(table.n) > STEP else {}
    return {IDS: table.ids, N: table.n, **fences}


def table_from(name: str, parts: Mapping[str, Array]) -> Table:
    """The table of which `parts_of` gave the parts; ValueError for fences that are others."""
    table = Table(parts[IDS], parts[N])
    if (FENCES in parts) != (len(table.n) > STEP) or (
        FENCES in parts and not np.array_equal(parts[FENCES], table.ids[::STEP])
    ):
        raise ValueError(f"table {name!r} has other first rows than it says")
    return table


class UnreadTables(Mapping[str, Table]):
    """Tables in a file, some of which have been read."""

    def __init__(
        self,
        file: Opened,
        vocabularies: Mapping[str, Vocabulary],
        known: Mapping[str, Table],
        members: Mapping[str, str],
        read: Callable[[], Counts],
    ) -> None:
        """`known`: tables that have been read; `members`: where each is in the file; `read`: reads all."""
        self._file, self._members = file, members
        self._known, self._vocabularies = known, vocabularies
        self._read, self._lock = read, Lock()
        self._whole: Counts | None = None
        self._fenced: dict[str, FencedTable] = {}

    def __getitem__(self, name: str) -> Table:
        return self._known[name] if name in self._known else self.whole().tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __reduce__(self) -> tuple[Any, ...]:
        """For copies: the tables themselves, since an open file is not copied."""
        return dict, (dict(self),)

    @property
    def is_read(self) -> bool:
        return self._whole is not None

    def whole(self) -> Counts:
        """All counts; the file is read where they have not been asked for before."""
        with self._lock:
            if self._whole is None:
                self._whole = self._read()
        return self._whole

    def with_values(self, name: str, keys: Int, widths: Sequence[int]) -> Table:
        """The rows of some values of a context: their ids, packed by these widths, ascend."""
        try:
            if name not in self._fenced:
                self._fenced[name] = FencedTable(self._file, self._members[name], len(fields(name)))
            table = self._fenced[name].with_values(keys, widths)
            check_table(self._vocabularies, name, table)
        except ModelFileError:
            raise
        except ValueError as error:
            raise ModelFileError(f"{self._file.path}: not a sound model: {error}") from error
        return table


class FencedTable:
    """A table in a file, of which rows are read."""

    def __init__(self, file: Opened, member: str, n_fields: int) -> None:
        self._ids, self._n = file.rows(f"{member}.{IDS}"), file.rows(f"{member}.{N}")
        n_rows = len(self._n)
        fences = f"{member}.{FENCES}"
        self._fences = file.array(fences) if fences in file.arrays else np.empty((1, n_fields), np.int32)
        shapes = self._ids.shape, self._n.shape, self._fences.shape
        right = (n_rows, n_fields), (n_rows,), (max(1, -(-n_rows // STEP)), n_fields)
        kinds = "".join(array.dtype.char for array in (self._ids, self._n, self._fences))
        if shapes != right or kinds != KINDS:
            raise ValueError(f"the table {member!r} has shapes {shapes} where {n_fields} fields are needed")

    def with_values(self, keys: Int, widths: Sequence[int]) -> Table:
        spans = self._spans(keys, widths)
        ids = _joined([self._ids[a:b] for a, b in spans], self._fences[:0])
        places = _joined([np.arange(a, b) for a, b in spans], np.empty(0, np.int64))[: len(ids)]
        found = pack(ids.T[: len(widths)], widths)
        first = np.searchsorted(found, keys)
        last = np.searchsorted(found, keys, "right")
        rows = ragged_arange(first, np.maximum(0, last - first))
        counts = [self._n[a:b] for a, b in _runs(places[rows])]
        return Table(ids[rows], _joined(counts, np.empty(0, np.int64)))

    def _spans(self, keys: Int, widths: Sequence[int]) -> list[tuple[int, int]]:
        """Between which rows the values are, if they are there: from a fence to another."""
        if not len(keys):
            return []
        fences = pack(self._fences[1:].T[: len(widths)], widths)
        first, last = np.searchsorted(fences, keys), np.searchsorted(fences, keys, "right")
        chunks = np.unique(ragged_arange(first, np.maximum(0, last - first) + 1))
        return [(a * STEP, b * STEP) for a, b in _runs(chunks)]


def _runs(ascending: Int) -> list[tuple[int, int]]:
    """Where numbers that follow one another begin and end."""
    first = starts_of_runs(ascending - np.arange(len(ascending)))
    ends = np.append(first[1:], len(ascending))[: len(first)]
    return [*zip(ascending[first].tolist(), (ascending[ends - 1] + 1).tolist(), strict=True)]


def _joined(parts: list[Array], nothing: Array) -> Array:
    return parts[0] if len(parts) == 1 else np.concatenate([nothing, *parts])
