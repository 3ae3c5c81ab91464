"""Attributes: the values of context templates, numbered; what log-linear models look at.

    contexts    word     ending         pair:word-1,word
    "singing"   word=singing  ending=ing     …            the attributes of one position

A view that is silent about a word (`ending` of "cat"), and a feature that a token lacks, is no attribute of
it. A joint context is one where one of its parts speaks. Training numbers the values that occur; others are
unseen and leave no trace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np
import numpy.typing as npt

from corate.arrays import KEY_BITS, Ids, Int, offsets_of, pack
from corate.contexts.template import Atom, Context
from corate.contexts.values import OUTSIDE, column_of
from corate.contexts.views import Views
from corate.errors import InputError
from corate.text.corpus import Corpus
from corate.text.features import ABSENT

SILENT = ""


@dataclass(frozen=True)
class Sparse:
    """For each position (or edge) the attributes that it has: ids[offsets[i]:offsets[i + 1]]."""

    offsets: Int
    ids: Ids

    @classmethod
    def none(cls, n_positions: int) -> Sparse:
        return cls(np.zeros(n_positions + 1, np.int64), np.empty(0, np.int32))

    @classmethod
    def of(cls, rows: npt.NDArray[np.integer]) -> Sparse:
        """From positions × contexts; −1 is no attribute."""
        there = rows >= 0
        return cls(offsets_of(there.sum(axis=1)), rows[there].astype(np.int32))

    @property
    def owners(self) -> Int:
        """The position of each id."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def select(self, positions: npt.NDArray[np.integer]) -> Sparse:
        """The rows of these positions."""
        lengths = np.diff(self.offsets)[positions]
        offsets = offsets_of(lengths)
        places = np.repeat(self.offsets[:-1][positions] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return Sparse(offsets, self.ids[places])

    def spread(self, places: Int, n: int) -> Sparse:
        """The same rows at these places among n, the others empty."""
        lengths = np.zeros(n, np.int64)
        lengths[places] = np.diff(self.offsets)
        return Sparse(offsets_of(lengths), self.ids)


class Attributes:
    """The values of some contexts that training saw, each with a number."""

    def __init__(
        self,
        contexts: Sequence[Context],
        vocabularies: Mapping[str, list[str]],
        tables: Sequence[Ids],
    ) -> None:
        self.contexts = list(contexts)
        self.vocabularies = dict(vocabularies)  # by what an atom looks at: "word", "ending", …; sorted
        self.tables = list(tables)  # of each context: distinct rows of ids, one for each of its atoms
        self.offsets = offsets_of(np.array([len(table) for table in tables], np.int64))
        self._index: dict[str, dict[str, int]] = {}
        self._keys = [self._pack(list(table.T)) for table in self.tables]

    def __len__(self) -> int:
        return int(self.offsets[-1])

    @classmethod
    def of(cls, corpus: Corpus, contexts: Sequence[Context]) -> tuple[Attributes, Sparse]:
        """Number the values of a corpus; and those of each of its positions."""
        atoms = [atom for context in contexts for atom in context.atoms]
        found: dict[str, set[str]] = {}
        for atom in sorted({Atom(a.view, 0, a.column) for a in atoms}, key=str):
            found[atom.source] = set(_values(corpus, atom))
        for atom in atoms:
            if atom.offset:
                found[atom.source].add(OUTSIDE)
        vocabularies = {source: sorted(values) for source, values in found.items()}
        empty = cls(contexts, vocabularies, [np.empty((0, len(c.atoms)), np.int32) for c in contexts])
        tables, columns = [], []
        for context, ids in zip(contexts, empty._columns(corpus), strict=True):
            keys = empty._pack(ids)
            kept = np.flatnonzero(empty._speaks(context, ids))
            _, first, number = np.unique(keys[kept], return_index=True, return_inverse=True)
            tables.append(np.stack([column[kept[first]] for column in ids], axis=1).astype(np.int32))
            column = np.full(len(keys), -1, np.int64)
            column[kept] = number.reshape(-1)
            columns.append(column)
        made = cls(contexts, vocabularies, tables)
        return made, made._sparse(columns, corpus.n_tokens)

    def encode(self, corpus: Corpus) -> Sparse:
        """The attributes of each position; unseen ones are left out."""
        columns = []
        for context, ids, keys in zip(self.contexts, self._columns(corpus), self._keys, strict=True):
            column = np.full(corpus.n_tokens, -1, np.int64)
            kept = np.flatnonzero(self._speaks(context, ids))
            if len(kept) and len(keys):
                wanted = self._pack([each[kept] for each in ids])
                place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
                column[kept] = np.where(keys[place] == wanted, place, -1)
            columns.append(column)
        return self._sparse(columns, corpus.n_tokens)

    def name(self, attribute: int) -> str:
        """For people: `word=dog`, `word-1,word=the/dog`."""
        k = int(np.searchsorted(self.offsets, attribute, side="right")) - 1
        row = self.tables[k][attribute - int(self.offsets[k])].tolist()
        parts = [self.vocabularies[a.source][i] for a, i in zip(self.contexts[k].atoms, row, strict=True)]
        return f"{self.contexts[k]}={'/'.join('' if part == OUTSIDE else part for part in parts)}"

    def names(self) -> list[str]:
        return [self.name(attribute) for attribute in range(len(self))]

    def _sparse(self, columns: Sequence[Int], n_tokens: int) -> Sparse:
        if not columns:
            return Sparse.none(n_tokens)
        rows = np.stack(columns, axis=1)
        return Sparse.of(np.where(rows >= 0, rows + self.offsets[:-1], -1))

    def _columns(self, corpus: Corpus) -> list[list[Ids]]:
        """For each context the ids of its atoms at each position; −1 where unseen, or not there."""
        views: dict[str, Ids] = {}
        atoms: dict[Atom, Ids] = {}
        for atom in dict.fromkeys(a for context in self.contexts for a in context.atoms):
            if atom.source not in views:
                views[atom.source] = self._of_values(corpus, Atom(atom.view, 0, atom.column))
            column = column_of(corpus, atom)
            assert column is not None
            ids = views[atom.source][column.codes]
            if atom.offset:
                place, inside = corpus.neighbours(atom.offset)
                beyond = self._lookup(atom.source).get(OUTSIDE, -1)
                ids = np.where(inside, ids[place], np.int32(beyond)) if corpus.n_tokens else ids
            atoms[atom] = ids.astype(np.int32)
        return [[atoms[atom] for atom in context.atoms] for context in self.contexts]

    def _of_values(self, corpus: Corpus, atom: Atom) -> Ids:
        """The id of each distinct value of the atom's column."""
        values = _values(corpus, atom)
        return np.fromiter(map(self._lookup(atom.source).get, values, repeat(-1)), np.int32, len(values))

    def _lookup(self, source: str) -> dict[str, int]:
        if source not in self._index:
            self._index[source] = {value: i for i, value in enumerate(self.vocabularies[source])}
        return self._index[source]

    def _speaks(self, context: Context, ids: Sequence[Ids]) -> npt.NDArray[np.bool_]:
        """Whether all atoms are there, and not all of them silent."""
        there, speaks = np.ones(len(ids[0]), bool), np.zeros(len(ids[0]), bool)
        for atom, column in zip(context.atoms, ids, strict=True):
            silent = {self._lookup(atom.source).get(value, -1) for value in (SILENT, *_absent(atom))}
            there &= column >= 0
            if atom.key is not None:
                there &= column != self._lookup(atom.source).get(ABSENT, -1)
            speaks |= ~np.isin(column, list(silent))
        return there & speaks

    def _pack(self, columns: Sequence[Ids]) -> Int | npt.NDArray[np.bytes_]:
        """One key for each row of ids. Where the bits do not suffice, its bytes, which sort as it does."""
        bits = max((len(each).bit_length() for each in self.vocabularies.values()), default=1)
        if len(columns) * bits <= KEY_BITS:
            return pack([np.ascontiguousarray(column) for column in columns], [bits] * len(columns))
        rows = np.ascontiguousarray(np.stack(columns, axis=1).astype(">u4"))
        return rows.view(f"S{4 * len(columns)}").reshape(-1)


def _absent(atom: Atom) -> tuple[str, ...]:
    return (ABSENT,) if atom.key is not None else ()


def _values(corpus: Corpus, atom: Atom) -> Sequence[str]:
    column = column_of(corpus, atom)
    if column is None:
        has = f"the features {', '.join(map(repr, corpus.keys[:8]))}" if corpus.keys else "no such column"
        raise InputError(f"the context {atom} is not in the data, which has {has}: give tokens that have it")
    return Views(column.values)(atom.view)
