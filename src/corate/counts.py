"""Counts: how often each event occurred in training. Integers only; they add, subtract and compare.

An event is a row of ids: context values first, then labels. A table's name lists its fields,

    word.y              (word, label)                       #(x, y)
    word-1.shape.y      (word before, shape, label)         #(f, y) of the context word-1,shape
    y.y                 (label, next label)                 #(y, y′)
    word-1.word.y.y     (word, next word, label, label)     #(x, x′, y, y′)

and ids point into sorted vocabularies (`word` for both word fields, `y` for labels). Rows are sorted and
distinct, counts positive, vocabularies hold just what occurs: equal counts are equal bytes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from corate.contexts import Atom, view
from corate.corpus import Column, Corpus
from corate.errors import CorateError, InputError

Ids = npt.NDArray[np.int32]
Tally = npt.NDArray[np.int64]
Vocabulary = list[str]

WORD_LABEL = "word.y"
LABEL_PAIR = "y.y"
WORD_PAIR = "word-1.word.y.y"

OUTSIDE = "\0"  # the value of every view beyond the sentence; no text has this character
KEY_BITS = 63
NEVER_COUNTED = "cannot subtract events that were never counted"
MOST = 1 << 53  # counts up to here are exact as floating-point numbers, too


@dataclass(frozen=True)
class Table:
    """Distinct rows of ids, sorted, and how often each occurred."""

    ids: Ids  # rows × fields
    n: Tally

    @classmethod
    def of(cls, columns: Sequence[npt.NDArray[np.integer]], n: Tally | None = None) -> Table:
        """Tally rows given column by column, each counting once or n times; rows that sum to 0 vanish."""
        if len(columns[0]) == 0:
            return cls(np.empty((0, len(columns)), np.int32), np.empty(0, np.int64))
        widths = [max(1, int(column.max()).bit_length()) for column in columns]
        if n is None and sum(widths) <= KEY_BITS:
            return cls._of_packed(columns, widths)
        key = reduce(_append_field, columns[1:], columns[0].astype(np.int64))
        if n is None:
            _, first, total = np.unique(key, return_index=True, return_counts=True)
        else:
            _, first, group = np.unique(key, return_index=True, return_inverse=True)
            total = np.zeros(len(first), np.int64)
            np.add.at(total, group, n)
        ids = np.stack([column[first] for column in columns], axis=1).astype(np.int32)
        kept = total != 0
        return cls(np.ascontiguousarray(ids[kept]), total[kept].astype(np.int64))

    @classmethod
    def _of_packed(cls, columns: Sequence[npt.NDArray[np.integer]], widths: Sequence[int]) -> Table:
        """The quick way: all fields in one integer, sorted, and taken apart again."""
        key = pack(columns, widths)
        key.sort()
        first = starts_of_runs(key)
        total = np.diff(np.append(first, len(key)))
        key = key[first]
        ids = np.empty((len(key), len(columns)), np.int32)
        for k in range(len(columns) - 1, -1, -1):
            ids[:, k] = key & ((1 << widths[k]) - 1)
            key >>= widths[k]
        return cls(ids, total)

    def field(self, k: int) -> Ids:
        return self.ids[:, k]

    def map(self, *maps: npt.NDArray[np.integer] | None) -> Table:
        """The same events with field k replaced by `maps[k][id]` (None keeps it), tallied again.

        Events that are mapped to −1 are left out.
        """
        columns = [self.field(k) if m is None else m[self.field(k)] for k, m in enumerate(maps)]
        kept = np.all([column >= 0 for column in columns], axis=0)
        return Table.of([column[kept] for column in columns], self.n[kept])

    def rename(self, *maps: Ids) -> Table:
        """The same events under other ids. The maps keep the order of ids, and so that of rows."""
        ids = np.stack([m[self.field(k)] for k, m in enumerate(maps)], axis=1)
        return Table(ids, self.n)

    def is_sorted(self) -> bool:
        """Whether every row is greater than the one before it."""
        above, below = self.ids[:-1], self.ids[1:]
        differs = above != below
        first = differs.argmax(axis=1)
        row = np.arange(len(above))
        return bool(differs.any(axis=1).all() and (above[row, first] < below[row, first]).all())

    def __add__(self, other: Table) -> Table:
        ids = np.concatenate([self.ids, other.ids])
        return Table.of(list(ids.T), np.concatenate([self.n, other.n]))

    def __sub__(self, other: Table) -> Table:
        """Events of `other` taken away, all of which must be here."""
        if not len(other.n):
            return self
        if not len(self.n):
            raise CorateError(NEVER_COUNTED)
        highest = np.maximum(self.ids.max(axis=0), other.ids.max(axis=0)).tolist()
        widths = [max(1, n.bit_length()) for n in highest]
        if sum(widths) > KEY_BITS:
            left = Table.of(list(np.concatenate([self.ids, other.ids]).T), np.concatenate([self.n, -other.n]))
        else:
            key, taken = pack(self.ids.T, widths), pack(other.ids.T, widths)
            place = np.minimum(np.searchsorted(key, taken), len(key) - 1)
            if (key[place] != taken).any():
                raise CorateError(NEVER_COUNTED)
            n = self.n.copy()
            n[place] -= other.n
            left = Table(self.ids[n != 0], n[n != 0])
        if (left.n < 0).any():
            raise CorateError(NEVER_COUNTED)
        return left

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return np.array_equal(self.ids, other.ids) and np.array_equal(self.n, other.n)


def pack(columns: Iterable[npt.NDArray[np.integer]], widths: Iterable[int]) -> Tally:
    """Several ids in one integer each; it orders as the rows do."""
    fields = zip((column.astype(np.int64) for column in columns), widths, strict=True)
    return reduce(lambda key, field: (key << field[1]) | field[0], fields, np.int64(0))


def starts_of_runs(keys: Tally) -> Tally:
    """Where each run of equal keys begins."""
    return np.flatnonzero(np.diff(keys, prepend=keys[:1] - 1))


def _append_field(key: Tally, column: npt.NDArray[np.integer]) -> Tally:
    """Pack one more field into the key. Where the bits do not suffice, keys are first numbered anew."""
    width = int(column.max()).bit_length()
    if int(key.max()).bit_length() + width > KEY_BITS:
        key = np.unique(key, return_inverse=True)[1].astype(np.int64)
    return (key << width) | column


@dataclass(frozen=True)
class Counts:
    """Event tables over common vocabularies."""

    vocabularies: Mapping[str, Vocabulary]  # "word", "y": sorted, each entry occurs
    tables: Mapping[str, Table]
    n_sentences: int

    @property
    def labels(self) -> Vocabulary:
        return self.vocabularies["y"]

    @property
    def words(self) -> Vocabulary:
        return [word for word in self.vocabularies["word"] if word != OUTSIDE]

    @property
    def n_tokens(self) -> int:
        return int(self.tables[WORD_LABEL].n.sum())

    @property
    def n_events(self) -> int:
        return sum(len(table.n) for table in self.tables.values())

    @classmethod
    def empty(cls, names: Iterable[str]) -> Counts:
        tables = {name: Table.of([np.empty(0, np.int32)] * len(fields(name))) for name in names}
        keys = {vocabulary_of(field) for name in tables for field in fields(name)} | {"word", "y"}
        return cls({key: [] for key in sorted(keys)}, tables, 0)

    def check(self) -> None:
        """Check counts that come from outside for all that the rest relies on, or raise ValueError."""
        if not isinstance(self.n_sentences, int) or not 0 < self.n_sentences <= self.n_tokens:
            raise ValueError(f"{self.n_sentences!r} sentences with {self.n_tokens} tokens")
        for key, values in self.vocabularies.items():
            if any(a >= b for a, b in pairwise(values)):
                raise ValueError(f"vocabulary {key!r} is not sorted or repeats an entry")
        for name, table in self.tables.items():
            _check_table(name, table, self.vocabularies)
        n_pairs = self.n_tokens - self.n_sentences
        for name, table in self.tables.items():
            if int(table.n.sum()) != (self.n_tokens if fields(name).count("y") == 1 else n_pairs):
                raise ValueError(f"table {name!r} does not add up to the number of tokens")
        if not all(mask.all() for mask in self.used().values()):
            raise ValueError("a vocabulary holds entries that never occur")

    def used(self) -> dict[str, npt.NDArray[np.bool_]]:
        """Which entries of each vocabulary occur in some event."""
        used = {key: np.zeros(len(values), bool) for key, values in self.vocabularies.items()}
        for name, table in self.tables.items():
            for k, field in enumerate(fields(name)):
                used[vocabulary_of(field)][table.field(k)] = True
        return used

    def __add__(self, other: Counts) -> Counts:
        left, right = _share_vocabularies(self, other)
        tables = {name: table + right.tables[name] for name, table in left.tables.items()}
        return Counts(left.vocabularies, tables, self.n_sentences + other.n_sentences)

    def __sub__(self, other: Counts) -> Counts:
        return _prune(self.without(other))

    def without(self, other: Counts) -> Counts:
        """`self - other` with the vocabularies of `self`, so that ids stay what they are."""
        left, right = _share_vocabularies(self, other)
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


def fields(name: str) -> list[str]:
    """`word-1.word.y.y` → its four fields."""
    return name.split(".")


def vocabulary_of(field: str) -> str:
    """Fields that differ only in their offset share a vocabulary: `word-1` → `word`."""
    return field.split("-")[0].split("+")[0]


def _check_table(name: str, table: Table, vocabularies: Mapping[str, Vocabulary]) -> None:
    width = len(fields(name))
    if table.ids.dtype != np.int32 or table.n.dtype != np.int64 or table.ids.shape != (len(table.n), width):
        raise ValueError(f"table {name!r} has shape {table.ids.shape} where {width} fields are needed")
    for k, field in enumerate(fields(name)):
        ids = table.field(k)
        if len(ids) and not 0 <= int(ids.min()) <= int(ids.max()) < len(vocabularies[vocabulary_of(field)]):
            raise ValueError(f"table {name!r} points outside the vocabulary of {field!r}")
    if (table.n < 1).any() or (table.n > MOST).any() or not table.is_sorted():
        raise ValueError(f"table {name!r} is not sorted, repeats a row or holds a count below 1")


def count(corpus: Corpus, names: Iterable[str]) -> Counts:
    """Count the events of these tables in a labelled corpus (one that fits into memory; see engines)."""
    return Events(corpus, names).count()


class Events:
    """The events of a labelled corpus as columns of ids, ready to be counted: all of them, or a part."""

    def __init__(self, corpus: Corpus, names: Iterable[str]) -> None:
        if corpus.labels is None:
            raise InputError("the corpus has no labels: counting needs a label for every token")
        if OUTSIDE in corpus.words.values:
            raise InputError("a word is the NUL character: no text has it, and it has a meaning here")
        self.corpus, self.names = corpus, list(names)
        labels, self._label = _sorted_column(corpus.labels)
        self.vocabularies = {"y": labels}
        atoms = {Atom.parse(f) for name in self.names for f in fields(name) if f != "y"}
        views: dict[str, Ids] = {}
        for name in sorted({"word", *(atom.view for atom in atoms)}):
            outside = _looks_outside(self.names, name)
            self.vocabularies[name], views[name] = _view_column(corpus.words, name, outside)
        self._columns = dict(views)
        for offset in {atom.offset for atom in atoms} - {0}:
            place, inside = corpus.neighbours(offset)
            for atom in atoms:
                if atom.offset == offset:
                    beyond = np.int32(bisect_left(self.vocabularies[atom.view], OUTSIDE))
                    self._columns[str(atom)] = np.where(inside, views[atom.view][place], beyond)

    def count(self, first: int = 0, last: int | None = None) -> Counts:
        """Counts of sentences first … last − 1. Those of a part have the vocabularies of the whole."""
        offsets = self.corpus.offsets[first : None if last is None else last + 1]
        begin, end = int(offsets[0]), int(offsets[-1])
        # Tokens t and t + 1 are a pair unless a sentence begins at t + 1.
        left = begin + np.flatnonzero(~self.corpus.begins()[begin + 1 : end])
        tables = {}
        for name in self.names:
            each = fields(name)
            if each.count("y") == 1:
                columns = [self._columns[field][begin:end] for field in each[:-1]]
                tables[name] = Table.of([*columns, self._label[begin:end]])
            else:
                words = [self._columns[vocabulary_of(f)][left + (not f.endswith("-1"))] for f in each[:-2]]
                tables[name] = Table.of([*words, self._label[left], self._label[left + 1]])
        return Counts(self.vocabularies, tables, int(np.count_nonzero(np.diff(offsets))))


def _looks_outside(names: Iterable[str], view_name: str) -> bool:
    """Whether a table of single labels has the view of a neighbour; label pairs never leave the sentence."""
    return any(
        vocabulary_of(field) == view_name and field != view_name
        for name in names
        if fields(name).count("y") == 1
        for field in fields(name)
    )


def _view_column(words: Column, name: str, looks_outside: bool) -> tuple[Vocabulary, Ids]:
    """A view's sorted vocabulary and its value at each token; with OUTSIDE where it is needed."""
    if name != "word":
        words = Column.from_strings(list(map(view(name), words.values))).take(words.codes)
    values, ids = _sorted_column(words)
    if not looks_outside:
        return values, ids
    place = bisect_left(values, OUTSIDE)
    return [*values[:place], OUTSIDE, *values[place:]], ids + (ids >= place).astype(np.int32)


def _sorted_column(column: Column) -> tuple[Vocabulary, Ids]:
    """The distinct strings that occur, sorted, and each token's place among them."""
    used = np.unique(column.codes)
    occurring = [column.values[code] for code in used.tolist()]
    order = sorted(range(len(occurring)), key=occurring.__getitem__)
    rank = np.zeros(len(column.values), np.int32)
    rank[used[order]] = np.arange(len(order), dtype=np.int32)
    return [occurring[i] for i in order], rank[column.codes]


def _rename(counts: Counts, maps: Mapping[str, Ids]) -> dict[str, Table]:
    return {
        name: table.rename(*(maps[vocabulary_of(field)] for field in fields(name)))
        for name, table in counts.tables.items()
    }


def _share_vocabularies(a: Counts, b: Counts) -> tuple[Counts, Counts]:
    """Both counts with ids into the union of their vocabularies."""
    if set(a.tables) != set(b.tables):
        raise CorateError(f"counts of different events do not add: {sorted(a.tables)} and {sorted(b.tables)}")
    union = {key: sorted({*a.vocabularies[key], *b.vocabularies[key]}) for key in a.vocabularies}
    index = {key: {value: i for i, value in enumerate(values)} for key, values in union.items()}

    def shared(counts: Counts) -> Counts:
        if counts.vocabularies == union:
            return counts
        maps = {
            key: np.fromiter((index[key][value] for value in values), np.int32, len(values))
            for key, values in counts.vocabularies.items()
        }
        return Counts(union, _rename(counts, maps), counts.n_sentences)

    return shared(a), shared(b)


def _prune(counts: Counts) -> Counts:
    """Drop vocabulary entries that no event uses any more."""
    used = counts.used()
    maps = {key: (np.cumsum(mask) - 1).astype(np.int32) for key, mask in used.items()}
    kept = {
        key: [value for value, keep in zip(values, used[key].tolist(), strict=True) if keep]
        for key, values in counts.vocabularies.items()
    }
    return Counts(kept, _rename(counts, maps), counts.n_sentences)
