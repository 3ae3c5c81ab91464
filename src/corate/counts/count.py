"""Count the events of a labelled corpus: all of them, or those of some sentences."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress

import numpy as np
import numpy.typing as npt

from corate.arrays import Ids
from corate.contexts.template import Atom
from corate.contexts.values import OUTSIDE, Vocabulary, column_of, place_of
from corate.contexts.view_ids import WordViews
from corate.counts.counts import Counts
from corate.counts.names import FIRST_LABEL, LABEL, LAST_LABEL, atoms_of, looks_outside, n_labels_of
from corate.counts.table import Table, _labelled
from corate.errors import InputError
from corate.text.corpus import UNLABELLED, Column, Corpus


def count(corpus: Corpus, names: Iterable[str]) -> Counts:
    """Count the events of these tables in a labelled corpus (one that fits into memory; see engines)."""
    return Events(corpus, names).count().compact()


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
