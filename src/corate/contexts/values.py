"""Values: what contexts look at, as numbers. The one encoder of all models.

    column     The      dog   barks    distinct values, and for each token the code of its own
    shape      Xx       x     x        a view of each distinct value
    ids        0        1     1        its place in the view's vocabulary, which is sorted; −1 if unseen
    shape-1    OUTSIDE  0     1        that of the neighbour; beyond the sentence, a value of its own
    shape-1,shape                      several parts: their ids in one integer

Training *learns* vocabularies from a corpus (`Encoder.learn`); a trained model looks up in them
(`Encoder.encode`). Vocabularies go by what an atom looks at (`Atom.source`), whatever its offset. A feature
that a token lacks has no id. Which other values have none, and which contexts say nothing where they stand,
depends on the model and is told: `unlisted`, `mute`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import compress
from typing import Any

import numpy as np
import numpy.typing as npt

from corate.arrays import KEY_BITS, Ids, Int, Mask, pack
from corate.contexts.template import CHILDREN, PARENT, SIDE, Atom, Context
from corate.contexts.view_ids import WORD, ColumnIds, VocabularyIds, WordViews, place_of
from corate.errors import InputError
from corate.text.corpus import ABSENT, Column, Corpus

Vocabulary = list[str]
Keys = Int | npt.NDArray[np.bytes_]

OUTSIDE = "\0"  # the value of every view beyond the sentence; no text has this character
SILENT = ""  # the value of a view that has nothing to say of a word
MOST_COLUMNS = 8  # that are kept in mind, with the ids of their values


def column_of(corpus: Corpus, atom: Atom) -> Column | None:
    """The column that an atom looks at; None where the corpus has no such column."""
    if atom.key is not None or corpus.keys:
        return corpus.columns[corpus.keys.index(atom.key)] if atom.key in corpus.keys else None
    if atom.tree_mark:
        return _on_tree(corpus, atom)
    return corpus.columns[atom.n_columns - 1] if atom.n_columns <= len(corpus.columns) else None


def _on_tree(corpus: Corpus, atom: Atom) -> Column | None:
    """Behind the n columns and the heads: those of parents, those of children, and where the parent is."""
    n = (len(corpus.columns) - 2) // 3
    if 3 * n + 2 != len(corpus.columns) or atom.n_columns > n:
        return None
    first = {PARENT: n, CHILDREN: 2 * n, SIDE: 3 * n}[atom.tree_mark]
    return corpus.columns[first + atom.n_columns]


def seen_columns(corpus: Corpus, contexts: Sequence[Context]) -> list[Column]:
    """The columns that contexts look at, and the words, in the order of their names."""
    names = {atom.column for context in contexts for atom in context.atoms}
    if not corpus.keys:
        names.add(WORD.column)
    found = {name: column_of(corpus, Atom("word", 0, name)) for name in sorted(names)}
    missing = next((name for name, column in found.items() if column is None), None)
    if missing is not None:
        raise missing_column(Atom("word", 0, missing), corpus)
    return [column for column in found.values() if column is not None]


def words_alone(words: Sequence[str]) -> Corpus:
    """Words that stand in no sentence, each once, to learn from."""
    column = Column(np.arange(len(words), dtype=np.int32), list(words))
    return Corpus((column,), None, np.array([0, len(words)], np.int64))


def occurring(column: Column) -> Mask:
    """Which values of a column occur."""
    return np.bincount(column.codes, minlength=len(column.values)) > 0


class Encoder:
    """Vocabularies of views, and the ids of values in them."""

    def __init__(self, vocabularies: Mapping[str, Vocabulary]) -> None:
        self.vocabularies = vocabularies  # by what an atom looks at: "word", "ending", …; sorted
        self._lookups: dict[str, VocabularyIds] = {}
        self._columns: dict[tuple[str, int], ColumnIds] = {}  # looked at last: contexts ask for the same
        self._known: dict[str, Ids] = {}  # of views of known words
        self._single: dict[tuple[str, str], int] = {}

    def __getstate__(self) -> dict[str, Any]:
        """For copies: what can be made anew is left out."""
        return {**self.__dict__, "_lookups": {}, "_columns": {}, "_known": {}, "_single": {}}

    @classmethod
    def learn(
        cls,
        corpus: Corpus,
        atoms: Iterable[Atom],
        outside: Collection[str] = (),
        unlisted: Collection[str] = (),
    ) -> Encoded:
        """Number the values that occur. `outside`: sources whose vocabularies have OUTSIDE besides;
        `unlisted`: values that get no id."""
        views: dict[str, tuple[WordViews, Mask]] = {}
        vocabularies: dict[str, Vocabulary] = {}
        ids: dict[str, Ids] = {}
        for atom in sorted({atom.at(0) for atom in atoms}, key=str):
            if atom.column not in views:
                column = _needed_column(corpus, atom)
                if not corpus.keys and OUTSIDE in column.values:
                    raise InputError("a word is the NUL character: no text has it, and it has a meaning here")
                used = occurring(column)
                values = column.values if used.all() else list(compress(column.values, used.tolist()))
                views[atom.column] = WordViews(values), used
            seen, used = views[atom.column]
            vocabulary, places = seen.distinct(atom.view)
            moved = _change(vocabulary, unlisted, atom.source in outside)
            vocabularies[atom.source] = vocabulary
            ids[atom.source] = np.full(len(used), -1, np.int32)  # of values that do not occur
            ids[atom.source][used] = _without_absent(atom, vocabulary, moved)[places]
        return Encoded(corpus, cls(vocabularies), ids)

    def encode(self, corpus: Corpus, atoms: Iterable[Atom]) -> Encoded:
        """The ids of a corpus' values; its columns have to be there."""
        each = {atom.source: atom.at(0) for atom in atoms}
        columns = {source: _needed_column(corpus, atom) for source, atom in each.items()}
        return Encoded(
            corpus, self, {source: self.ids(atom, columns[source].values) for source, atom in each.items()}
        )

    def lookup(self, source: str) -> VocabularyIds:
        if source not in self._lookups:
            self._lookups[source] = VocabularyIds(self.vocabularies[source])
        return self._lookups[source]

    def plus(self, values: Mapping[str, Sequence[str]]) -> tuple[Encoder, dict[str, Ids]]:
        """An encoder that knows these values besides, under ids behind all others; and the ids of them."""
        added = {source: self.lookup(source).plus(each) for source, each in values.items()}
        made = Encoder(self.vocabularies)
        made._lookups = {**self._lookups, **{source: lookup for source, (lookup, _) in added.items()}}
        return made, {source: ids for source, (_, ids) in added.items()}

    def ids(self, atom: Atom, values: Sequence[str]) -> Ids:
        """The id of each value's view, −1 where it has none."""
        key = atom.column, id(values)  # which lives as long as the entry
        found = self._columns.get(key)
        if found is None:
            if len(self._columns) >= MOST_COLUMNS:
                self._columns.clear()
            are_words = atom.column == WORD.column and WORD.source in self.vocabularies
            words = self.lookup(WORD.source) if are_words else None
            found = self._columns[key] = ColumnIds(values, words, self._known)
        return _without_absent(atom, self.vocabularies[atom.source], found(atom, self.lookup(atom.source)))

    def id_of(self, atom: Atom, value: str) -> int:
        """The id of one value, such as OUTSIDE; −1 where it has none."""
        key = atom.source, value
        if key not in self._single:
            known = self._lookups.get(atom.source)
            found = place_of(value, self.vocabularies[atom.source]) if known is None else known.get(value)
            self._single[key] = found
        return self._single[key]

    def width(self, atom: Atom) -> int:
        """The bits of an atom's ids."""
        return max(1, len(self.vocabularies[atom.source])).bit_length()

    def keys(self, context: Context, ids: Sequence[Ids]) -> Keys:
        """A context's value in one integer, from the ids of its atoms, none of which is −1; it orders as they
        do. Where the bits do not suffice, in bytes."""
        widths = [self.width(atom) for atom in context.atoms]
        if sum(widths) <= KEY_BITS:
            return pack([np.ascontiguousarray(column) for column in ids], widths)
        rows = np.ascontiguousarray(np.stack(ids, axis=1).astype(">u4"))
        return rows.view(f"S{4 * len(ids)}").reshape(-1)


class Encoded:
    """A corpus with the ids of its columns' distinct values under each view."""

    def __init__(self, corpus: Corpus, encoder: Encoder, ids: dict[str, Ids]) -> None:
        self.corpus, self.encoder, self.ids = corpus, encoder, ids

    def tokens(self, first: int = 0, last: int | None = None) -> Tokens:
        """Those of sentences first … last − 1."""
        return Tokens(self, self.corpus.offsets[first : None if last is None else last + 1])


class Tokens:
    """Some sentences of a corpus, and what stands at each of their tokens."""

    def __init__(self, encoded: Encoded, offsets: Int) -> None:
        self._encoded = encoded
        self.begin, self.end = int(offsets[0]), int(offsets[-1])
        self.offsets = offsets - self.begin
        self._atoms: dict[Atom, Ids] = {}

    def ids(self, atom: Atom) -> Ids:
        """An atom's id at each token, −1 where it has none."""
        if atom not in self._atoms:
            self._atoms[atom] = self.ids_of_codes(atom)[self.codes(atom) + np.int32(1)]
        return self._atoms[atom]

    def codes(self, atom: Atom) -> Ids:
        """The code that the atom's column has where the atom looks, −1 beyond the sentence."""
        column = _needed_column(self._encoded.corpus, atom)
        return self.moved(column.codes[self.begin : self.end], atom.offset)

    def ids_of_codes(self, atom: Atom) -> Ids:
        """The atom's id for each code + 1; first that of OUTSIDE."""
        beyond = np.array([self._encoded.encoder.id_of(atom, OUTSIDE)], np.int32)
        return np.concatenate([beyond, self._encoded.ids[atom.source]])

    def moved(self, values: Ids, offset: int) -> Ids:
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

    def speaking(self, context: Context, mute: str) -> tuple[Int, list[Ids]]:
        """Where a context says something, and the ids of its atoms there: where all of them have one, and not
        all are those of the value `mute`."""
        ids = [self.ids(atom) for atom in context.atoms]
        there, speaks = np.ones(self.end - self.begin, bool), np.zeros(self.end - self.begin, bool)
        for atom, column in zip(context.atoms, ids, strict=True):
            there &= column >= 0
            speaks |= column != self._encoded.encoder.id_of(atom, mute)
        places = np.flatnonzero(there & speaks)
        return places, [column[places] for column in ids]


def _needed_column(corpus: Corpus, atom: Atom) -> Column:
    column = column_of(corpus, atom)
    if column is None:
        raise missing_column(atom, corpus)
    return column


def missing_column(atom: Atom, corpus: Corpus) -> InputError:
    """What is said where a context looks at what tokens do not have, in training and in use."""
    looked, has = Atom("word", 0, atom.column), "words alone"
    if corpus.keys:
        has = f"the features {', '.join(map(repr, corpus.keys[:8]))}{', …' if len(corpus.keys) > 8 else ''}"
    elif len(corpus.columns) > 1:
        has = f"{len(corpus.columns)} columns"
    what = "features" if looked.key is not None else "columns"
    return InputError(
        f"the model looks at {looked}, and the tokens have {has}: give tokens with all {what}, or train a "
        f"model without {looked}" + (" (such as --words-only)" if what == "columns" else "")
    )


def _change(vocabulary: Vocabulary, unlisted: Collection[str], outside: bool) -> Ids:
    """Take values out of a vocabulary, and put OUTSIDE into it; the new id of each old one."""
    moved = np.arange(len(vocabulary), dtype=np.int32)
    for value in unlisted:
        place = place_of(value, vocabulary)
        if place >= 0:
            del vocabulary[place]
            moved = np.where(moved == place, np.int32(-1), moved - (moved > place).astype(np.int32))
    if outside and place_of(OUTSIDE, vocabulary) < 0:
        place = bisect_left(vocabulary, OUTSIDE)
        vocabulary.insert(place, OUTSIDE)
        moved += (moved >= place).astype(np.int32)
    return moved


def _without_absent(atom: Atom, vocabulary: Vocabulary, ids: Ids) -> Ids:
    """A feature that a token lacks has no id, even if a vocabulary lists it."""
    if atom.key is None or (absent := place_of(ABSENT, vocabulary)) < 0:
        return ids
    return np.where(ids == absent, np.int32(-1), ids)
