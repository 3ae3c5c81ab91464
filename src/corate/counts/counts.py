"""Counts: how often each event occurred in training. Integers only; they add, subtract and compare.

An event is a row of ids: context values first, then labels. A table's name lists its fields (names.py),
and ids point into sorted vocabularies (`word` for both word fields, `y` for labels). Rows are sorted and
distinct, counts positive, vocabularies hold just what occurs: equal counts are equal bytes. A token without
a label counts in no table, nor do the pairs and triples that it is part of.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import compress

import numpy as np
import numpy.typing as npt

from corate.arrays import Ids
from corate.contexts.values import OUTSIDE, Vocabulary
from corate.contexts.view_ids import place_of
from corate.counts.names import (
    LABEL,
    LABEL_PAIR,
    WORD_LABEL,
    atoms_of,
    fields,
    vocabulary_of,
)
from corate.counts.table import NEVER_COUNTED, Table
from corate.errors import CorateError

FEW = 16  # a vocabulary this many times smaller than another is small


@dataclass(frozen=True)
class Counts:
    """How often each event occurred: `tables` of events over common `vocabularies`, of `n_sentences`
    sentences.

    Counts add and subtract (`+`, `without`), and are equal or not (`==`).
    """

    vocabularies: Mapping[str, Vocabulary]  # "word", "y": sorted, each entry occurs
    tables: Mapping[str, Table]
    n_sentences: int

    @property
    def labels(self) -> Vocabulary:
        """The labels, sorted."""
        return self.vocabularies["y"]

    @property
    def words(self) -> Vocabulary:
        """Those of the corpus; none where tokens were given by features."""
        return [word for word in self.vocabularies.get("word", []) if word != OUTSIDE]

    @property
    def n_tokens(self) -> int:
        """Tokens with a label."""
        return int(self.tables[LABEL if LABEL in self.tables else WORD_LABEL].n.sum())

    @property
    def n_events(self) -> int:
        """How many different events there are, in all tables."""
        return sum(len(table.n) for table in self.tables.values())

    @classmethod
    def empty(cls, names: Iterable[str]) -> Counts:
        """Tables of these `names` in which nothing was counted yet."""
        tables = {name: Table.of([np.empty(0, np.int32)] * len(fields(name))) for name in names}
        keys = {vocabulary_of(field) for name in tables for field in fields(name)} | {"word", "y"}
        return cls({key: [] for key in sorted(keys)}, tables, 0)

    def used(self) -> dict[str, npt.NDArray[np.bool_]]:
        """Which entries of each vocabulary occur in some event."""
        used = {key: np.zeros(len(values), bool) for key, values in self.vocabularies.items()}
        for name, table in self.tables.items():
            for k, field in enumerate(fields(name)):
                used[vocabulary_of(field)][table.field(k)] = True
        return used

    def __add__(self, other: Counts) -> Counts:
        left, right = share_vocabularies(self, other)
        tables = {name: table + right.tables[name] for name, table in left.tables.items()}
        return Counts(left.vocabularies, tables, self.n_sentences + other.n_sentences)

    def __sub__(self, other: Counts) -> Counts:
        return self.without(other).compact()

    def compact(self) -> Counts:
        """The same counts without vocabulary entries that no event uses."""
        used = self.used()
        if all(mask.all() for mask in used.values()):
            return self
        maps = {key: (np.cumsum(mask) - 1).astype(np.int32) for key, mask in used.items()}
        kept = {key: [*compress(values, used[key].tolist())] for key, values in self.vocabularies.items()}
        return Counts(kept, _rename(self, maps), self.n_sentences)

    def at_least(self, least: int) -> Counts:
        """Without the events of contexts that were counted less often than `least`; those of labels alone
        stay, unless nothing else tells how often their labels are."""
        tables = {
            name: table.only(table.n >= least) if atoms_of(name) else table
            for name, table in self.tables.items()
        }
        return labels_that_are_left(Counts(self.vocabularies, tables, self.n_sentences)).compact()

    def without(self, other: Counts) -> Counts:
        """`self - other` with the vocabularies of `self`, so that ids stay what they are."""
        left, right = share_vocabularies(self, other)
        if self.n_sentences < other.n_sentences:
            raise CorateError(NEVER_COUNTED)
        tables = {name: table - right.tables[name] for name, table in left.tables.items()}
        return Counts(left.vocabularies, tables, self.n_sentences - other.n_sentences)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        return (self.n_sentences, self.vocabularies, self.tables) == (
            other.n_sentences,
            other.vocabularies,
            other.tables,
        )


def labels_that_are_left(counts: Counts) -> Counts:
    """Without pairs of labels that no word has any more, where words alone tell how often labels are."""
    if LABEL in counts.tables:
        return counts
    left = np.isin(np.arange(len(counts.labels)), counts.tables[WORD_LABEL].field(-1))
    pairs = counts.tables[LABEL_PAIR]
    kept = pairs.only(left[pairs.field(0)] & left[pairs.field(1)])
    return Counts(counts.vocabularies, {**counts.tables, LABEL_PAIR: kept}, counts.n_sentences)


def add_up(parts: Iterable[Counts]) -> Counts:
    """The sum of at least one.

    Partial sums wait on a stack until one of their own size arrives, as digits do in a binary counter, so
    that every event is merged a logarithmic number of times.
    """
    partial: list[Counts] = []
    for part in parts:
        partial.append(part)
        while len(partial) > 1 and partial[-2].n_events <= 2 * partial[-1].n_events:
            partial.append(partial.pop(-2) + partial.pop())
    return reduce(Counts.__add__, reversed(partial))


def _rename(counts: Counts, maps: Mapping[str, Ids | None]) -> dict[str, Table]:
    return {
        name: table.rename(*(maps[vocabulary_of(field)] for field in fields(name)))
        for name, table in counts.tables.items()
    }


def share_vocabularies(a: Counts, b: Counts) -> tuple[Counts, Counts]:
    """Both counts with ids into the union of their vocabularies."""
    if set(a.tables) != set(b.tables):
        raise CorateError(f"counts of different events do not add: {sorted(a.tables)} and {sorted(b.tables)}")
    merged = {key: _merged(values, b.vocabularies[key]) for key, values in a.vocabularies.items()}
    union = {key: values for key, (values, _, _) in merged.items()}
    of_a = {key: maps for key, (_, maps, _) in merged.items()}
    of_b = {key: maps for key, (_, _, maps) in merged.items()}
    return (
        Counts(union, _rename(a, of_a), a.n_sentences),
        Counts(union, _rename(b, of_b), b.n_sentences),
    )


def _merged(a: Vocabulary, b: Vocabulary) -> tuple[Vocabulary, Ids | None, Ids | None]:
    """The union of two sorted vocabularies, and the ids in it of the entries of each; None: as they are."""
    if len(a) < len(b):
        union, of_b, of_a = _merged(b, a)
        return union, of_a, of_b
    if a == b:
        return a, None, None
    few = FEW * len(b) < len(a)  # to look each of them up is then quicker than to hash all
    known = set() if few else {*a}
    new = [value for value in b if (place_of(value, a) < 0 if few else value not in known)]
    union, of_a = a, None
    if new:
        union = sorted([*a, *new])  # two sorted runs, which are merged
        before = np.array([bisect_left(a, value) for value in new])
        own = np.arange(len(a))
        of_a = (own + np.searchsorted(before, own, "right")).astype(np.int32)
    if few:
        places: Iterable[int] = (place_of(value, union) for value in b)
    else:
        index = dict(zip(union, range(len(union)), strict=True))
        places = map(index.__getitem__, b)
    return union, of_a, np.fromiter(places, np.int32, len(b))
