"""Counts: how often each event occurred in training. Integers only; they add, subtract and compare.

An event is a row of ids: context values first, then labels. A table's name lists its fields,

    y                   (label)                             #(y)
    word.y              (word, label)                       #(x, y)
    word-1.shape.y      (word before, shape, label)         #(f, y) of the context word-1,shape
    y.y, y.y.y          (label, next label, the one after)  #(y, y′), #(y, y′, y″)
    ^y, y$              labels of first and of last tokens
    word-1.word.y.y     (word, next word, label, label)     #(x, x′, y, y′)

and ids point into sorted vocabularies (`word` for both word fields, `y` for labels). Rows are sorted and
distinct, counts positive, vocabularies hold just what occurs: equal counts are equal bytes. A token without
a label counts in no table, nor do the pairs and triples that it is part of.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from itertools import compress
from typing import cast

import numpy as np
import numpy.typing as npt

from corate._native import HAS_KERNELS
from corate.contexts import Atom, split_outside_quotes
from corate.corpus import UNLABELLED, Column, Corpus
from corate.errors import CorateError, InputError
from corate.views import WordViews

if HAS_KERNELS:
    from corate._native import kernels

Ids = npt.NDArray[np.int32]
Tally = npt.NDArray[np.int64]
Vocabulary = list[str]

LABEL = "y"
FIRST_LABEL, LAST_LABEL = "^y", "y$"
LABEL_PAIR, LABEL_TRIPLE = "y.y", "y.y.y"
WORD_LABEL = "word.y"
WORD_PAIR = "word-1.word.y.y"

LABELS = (LABEL, FIRST_LABEL, LAST_LABEL)
OUTSIDE = "\0"  # the value of every view beyond the sentence; no text has this character
KEY_BITS = 63
NEVER_COUNTED = "cannot subtract events that were never counted"
FEW = 16  # a vocabulary this many times smaller than another is small


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
        key.sort()
        first = starts_of_runs(key)
        total = np.diff(np.append(first, len(key)))
        ids = np.empty((len(first), len(columns)), np.int32)
        unpack(key[first], widths, ids)
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
        return _labelled(columns, self.n)

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

    def check(self, kernel: str | None = None) -> tuple[bool, list[int]]:
        """Whether every row is greater than the one before it, and the highest id of each field.

        That is 0 where there are no rows, and −1 where there is a negative id."""
        if HAS_KERNELS and kernel != "numpy" and self.ids.flags.c_contiguous:
            highest = np.empty(self.ids.shape[1], np.int32)
            return kernels.check_rows(self.ids, highest), highest.tolist()
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

    def _insert(self, places: Tally, rows: Ids, n: Tally, kernel: str | None = None) -> Table:
        """With rows put in before these places."""
        if not len(rows):
            return self
        if HAS_KERNELS and kernel != "numpy":
            n_rows = len(self.n) + len(n)
            made = Table(np.empty((n_rows, self.ids.shape[1]), np.int32), np.empty(n_rows, np.int64))
            kernels.insert_rows(self.ids, self.n, rows, n, places, made.ids, made.n)
            return made
        return Table(np.insert(self.ids, places, rows, axis=0), np.insert(self.n, places, n))

    def find(self, rows: Ids, kernel: str | None = None) -> tuple[Tally, npt.NDArray[np.bool_]]:
        """Where each of some sorted rows is, or would have to be put; and whether it is here."""
        if HAS_KERNELS and kernel != "numpy":
            places, found = np.empty(len(rows), np.int64), np.empty(len(rows), np.uint8)
            kernels.find_rows(self.ids, np.ascontiguousarray(rows), places, found)
            return places, found.astype(bool)
        both = np.concatenate([self.ids, rows])
        rank = np.unique(both, axis=0, return_inverse=True)[1].reshape(-1)
        mine, theirs = np.split(rank, [len(self.ids)])
        return np.searchsorted(mine, theirs), np.isin(theirs, mine)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return np.array_equal(self.ids, other.ids) and np.array_equal(self.n, other.n)


def pack(
    columns: Iterable[npt.NDArray[np.integer]], widths: Sequence[int], kernel: str | None = None
) -> Tally:
    """Several ids in one integer each; it orders as the rows do."""
    each = list(columns)
    plain = bool(each) and all(column.dtype == np.int32 and column.flags.c_contiguous for column in each)
    if HAS_KERNELS and kernel != "numpy" and plain and max(widths) < 32:
        keys = np.empty(len(each[0]), np.int64)
        kernels.pack(cast(list[Ids], each), list(widths), keys)
        return keys
    fields = zip((column.astype(np.int64) for column in each), widths, strict=True)
    return reduce(lambda key, field: (key << field[1]) | field[0], fields, np.int64(0))


def unpack(keys: Tally, widths: Sequence[int], ids: Ids, kernel: str | None = None) -> None:
    """The ids that `pack` has put into each key, into a row of `ids`."""
    if HAS_KERNELS and kernel != "numpy" and max(widths) < 32:
        kernels.unpack(keys, list(widths), ids)
        return
    for k in range(len(widths) - 1, -1, -1):
        ids[:, k] = keys & ((1 << widths[k]) - 1)
        keys = keys >> widths[k]


def starts_of_runs(keys: Tally) -> Tally:
    """Where each run of equal keys begins."""
    begins = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=begins[1:])
    return np.flatnonzero(begins)


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
        """Those of the corpus; none where tokens were given by features."""
        return [word for word in self.vocabularies.get("word", []) if word != OUTSIDE]

    @property
    def n_tokens(self) -> int:
        """Tokens with a label."""
        return int(self.tables[LABEL if LABEL in self.tables else WORD_LABEL].n.sum())

    @property
    def n_events(self) -> int:
        return sum(len(table.n) for table in self.tables.values())

    @classmethod
    def empty(cls, names: Iterable[str]) -> Counts:
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
        return self.without(other).pruned()

    def pruned(self) -> Counts:
        """The same counts without vocabulary entries that no event uses."""
        used = self.used()
        if all(mask.all() for mask in used.values()):
            return self
        maps = {key: (np.cumsum(mask) - 1).astype(np.int32) for key, mask in used.items()}
        kept = {key: [*compress(values, used[key].tolist())] for key, values in self.vocabularies.items()}
        return Counts(kept, _rename(self, maps), self.n_sentences)

    def above(self, least: int) -> Counts:
        """Without the events of contexts that were counted less often; those of labels alone stay, unless
        nothing else tells how often their labels are."""
        tables = {
            name: table.only(table.n >= least) if atoms_of(name) else table
            for name, table in self.tables.items()
        }
        if LABEL not in tables:
            left = np.isin(np.arange(len(self.labels)), tables[WORD_LABEL].field(-1))
            pairs = tables[LABEL_PAIR]
            tables[LABEL_PAIR] = pairs.only(left[pairs.field(0)] & left[pairs.field(1)])
        return Counts(self.vocabularies, tables, self.n_sentences).pruned()

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


@cache
def fields(name: str) -> tuple[str, ...]:
    """`word-1.word.y.y` → its four fields."""
    return tuple(split_outside_quotes(name, "."))


@cache
def vocabulary_of(field: str) -> str:
    """Fields that differ only in their offset share a vocabulary: `word-1` → `word`."""
    return LABEL if field in LABELS else Atom.parse(field).source


@cache
def atoms_of(name: str) -> tuple[Atom, ...]:
    """The fields of a table that are no labels."""
    return tuple(Atom.parse(field) for field in fields(name) if field not in LABELS)


def n_labels_of(name: str) -> int:
    return sum(field in LABELS for field in fields(name))


def looks_outside(atom: Atom, n_labels: int) -> bool:
    """Whether an atom of a table of so many labels may look beyond the sentence."""
    return not -n_labels < atom.offset <= 0


def place_of(value: str, vocabulary: Vocabulary) -> int:
    """The id of a value, −1 where it has none."""
    place = bisect_left(vocabulary, value)
    return place if vocabulary[place : place + 1] == [value] else -1


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


def count(corpus: Corpus, names: Iterable[str]) -> Counts:
    """Count the events of these tables in a labelled corpus (one that fits into memory; see engines)."""
    return Events(corpus, names).count().pruned()


class Events:
    """The events of a labelled corpus as columns of ids, ready to be counted: all of them, or a part."""

    def __init__(self, corpus: Corpus, names: Iterable[str]) -> None:
        if corpus.labels is None:
            raise InputError("the corpus has no labels: there is nothing to count")
        self.corpus, self.names = corpus, list(names)
        labels, self.label = _sorted_labels(corpus.labels)
        self.vocabularies = {LABEL: labels}
        self.ids: dict[str, Ids] = {}  # of each distinct value of a column, under each view of it
        atoms = {atom for name in self.names for atom in atoms_of(name)}
        if not corpus.keys:
            atoms.add(Atom("word"))
        views: dict[str, tuple[WordViews, npt.NDArray[np.bool_]]] = {}
        with_outside = {
            atom.source
            for name in self.names
            for atom in atoms_of(name)
            if looks_outside(atom, n_labels_of(name))
        }
        for atom in sorted({Atom(a.view, 0, a.column) for a in atoms}, key=str):
            if atom.column not in views:
                views[atom.column] = self._views(atom)
            seen, used = views[atom.column]
            vocabulary, ids = seen.distinct(atom.view)
            shift = np.zeros(len(vocabulary), np.int32)
            if (
                corpus.keys and (outside := place_of(OUTSIDE, vocabulary)) >= 0
            ):  # no value: the feature is not there
                del vocabulary[outside]
                shift[outside:], shift[outside] = -1, -1 - outside
            elif atom.source in with_outside and not corpus.keys:
                outside = bisect_left(vocabulary, OUTSIDE)
                vocabulary.insert(outside, OUTSIDE)
                shift[outside:] = 1
            self.vocabularies[atom.source] = vocabulary
            self.ids[atom.source] = np.full(len(used), -1, np.int32)  # of values that do not occur
            self.ids[atom.source][used] = ids + shift[ids]

    def _views(self, atom: Atom) -> tuple[WordViews, npt.NDArray[np.bool_]]:
        """Views of the values that occur in the atom's column, and which ones do."""
        column = column_of(self.corpus, atom)
        if column is None:
            raise InputError(f"the corpus has no {atom}: it has {_describe_columns(self.corpus)}")
        if OUTSIDE in column.values and not self.corpus.keys:
            raise InputError("a word is the NUL character: no text has it, and it has a meaning here")
        used = _used(column)
        return WordViews(column.values if used.all() else list(compress(column.values, used.tolist()))), used

    def rename(self, vocabularies: Mapping[str, Vocabulary]) -> None:
        """Go over to the ids of other vocabularies, which have all the values of these."""
        for source, ids in {**self.ids, LABEL: self.label}.items():
            index = {value: i for i, value in enumerate(vocabularies[source])}
            # A value that no event has, since no label is near it, has no id.
            places = np.array([index.get(value, -1) for value in self.vocabularies[source]] + [-1], np.int32)
            if source == LABEL:
                self.label = places[ids]
            else:
                self.ids[source] = places[ids]
        self.vocabularies = {source: vocabularies[source] for source in self.vocabularies}

    def count(self, first: int = 0, last: int | None = None) -> Counts:
        """Counts of sentences first … last − 1, with the vocabularies of the whole corpus."""
        offsets = self.corpus.offsets[first : None if last is None else last + 1]
        part = _Part(self, offsets)
        tables = {name: part.table(name) for name in self.names}
        return Counts(self.vocabularies, tables, part.n_sentences)


class _Part:
    """Some sentences of a corpus, and the columns of theirs that several tables share."""

    def __init__(self, events: Events, offsets: npt.NDArray[np.int64]) -> None:
        self.events = events
        self.begin, self.end = int(offsets[0]), int(offsets[-1])
        self.label = events.label[self.begin : self.end]
        self.offsets = offsets - self.begin
        self._columns: dict[Atom, Ids] = {}
        self._seen_with: dict[tuple[str, int], Table] = {}

    @property
    def n_sentences(self) -> int:
        """Those with a labelled token."""
        labelled = np.append(0, np.cumsum(self.label >= 0))
        return int(np.count_nonzero(np.diff(labelled[self.offsets])))

    def table(self, name: str) -> Table:
        atoms, n_labels = atoms_of(name), n_labels_of(name)
        if name in (FIRST_LABEL, LAST_LABEL):
            ends = self.offsets[1:][np.diff(self.offsets) > 0] - 1
            starts = self.offsets[:-1][np.diff(self.offsets) > 0]
            return _labelled([self.label[starts if name == FIRST_LABEL else ends]])
        if n_labels == 1 and atoms and len({(atom.column, atom.offset) for atom in atoms}) == 1:
            return self._of_one_token(atoms)
        labels = [self._moved(self.label, -back) for back in range(n_labels - 1, -1, -1)]
        return _labelled([*map(self._column, atoms), *labels])

    def _of_one_token(self, atoms: Sequence[Atom]) -> Table:
        """Views of one token, from the counts of (its code, label): far fewer rows than tokens."""
        column, offset = atoms[0].column, atoms[0].offset
        if (column, offset) not in self._seen_with:
            codes = self._codes(column, offset) + np.int32(1)  # 0 is beyond the sentence
            self._seen_with[column, offset] = _labelled([codes, self.label])
        table = self._seen_with[column, offset]
        columns = [self._ids(atom)[table.field(0)] for atom in atoms]
        return _labelled([*columns, table.field(1)], table.n)

    def _moved(self, values: Ids, offset: int) -> Ids:
        """What stands at each token's neighbour, −1 beyond the sentence."""
        if not offset:
            return values
        moved = np.full(len(values), -1, np.int32)
        if abs(offset) < len(values):
            moved[max(0, -offset) : len(values) - max(0, offset)] = values[max(0, offset) :][
                : len(values) - abs(offset)
            ]
        for step in range(abs(offset)):
            near = self.offsets[:-1] + step if offset < 0 else self.offsets[1:] - 1 - step
            within = near < self.offsets[1:] if offset < 0 else near >= self.offsets[:-1]
            moved[near[within]] = -1
        return moved

    def _codes(self, column: str, offset: int) -> Ids:
        """The column's code at each token's neighbour."""
        found = column_of(self.events.corpus, Atom("word", 0, column))
        assert found is not None
        return self._moved(found.codes[self.begin : self.end], offset)

    def _ids(self, atom: Atom) -> Ids:
        """The id of each code + 1; first that of OUTSIDE, −1 where it is none."""
        vocabulary = self.events.vocabularies[atom.source]
        beyond = np.array([place_of(OUTSIDE, vocabulary)], np.int32)
        return np.concatenate([beyond, self.events.ids[atom.source]])

    def _column(self, atom: Atom) -> Ids:
        if atom not in self._columns:
            self._columns[atom] = self._ids(atom)[self._codes(atom.column, atom.offset) + np.int32(1)]
        return self._columns[atom]


def _labelled(columns: Sequence[npt.NDArray[np.integer]], n: Tally | None = None) -> Table:
    """The tally of rows all of whose fields are there, which is to say not −1."""
    lowest = reduce(np.minimum, columns)
    if len(lowest) and lowest.min() < 0:
        kept = np.flatnonzero(lowest >= 0)
        columns, n = [column[kept] for column in columns], None if n is None else n[kept]
    return Table.of(columns, n)


def column_of(corpus: Corpus, atom: Atom) -> Column | None:
    """The column that an atom looks at; None where the corpus has no such column."""
    if atom.key is not None or corpus.keys:
        return corpus.columns[corpus.keys.index(atom.key)] if atom.key in corpus.keys else None
    return corpus.columns[atom.n_columns - 1] if atom.n_columns <= len(corpus.columns) else None


def _describe_columns(corpus: Corpus) -> str:
    if corpus.keys:
        return f"the features {', '.join(map(repr, corpus.keys[:8]))}{', …' if len(corpus.keys) > 8 else ''}"
    return "one column" if len(corpus.columns) == 1 else f"{len(corpus.columns)} columns"


def _sorted_labels(column: Column) -> tuple[Vocabulary, Ids]:
    """The distinct labels that occur, sorted, and each token's place among them; −1 where it has none."""
    labels = sorted({*compress(column.values, _used(column).tolist())} - {UNLABELLED})
    return labels, column.encode(labels)


def _used(column: Column) -> npt.NDArray[np.bool_]:
    """Which values of a column occur."""
    return np.bincount(column.codes, minlength=len(column.values)) > 0


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
