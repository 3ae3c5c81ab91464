"""Views of many words at once, and their ids in vocabularies.

The kernels read words as code points end to end, spelt three times: as they are, in lower case, and with each
letter's kind. Views that they do not know, and words with letters whose lower case depends on what stands
around them, are left to Python: `views.Views`.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from corate._native import kernels, native
from corate.arrays import Ids
from corate.contexts.template import Atom
from corate.contexts.views import AFFIX, HEAD_LENGTH, SHAPE_LENGTH, Views, kind
from corate.text.corpus import letters_of

WORD = Atom("word")
FEW = 64  # times fewer values than a vocabulary has are few
UNMET = -2  # the id of a known word's view that was not looked up yet
MARK = "\0"  # stands between words
# Σ becomes σ or ς, and İ two characters; every other letter has one lower case of its own.
UNUSUAL = (MARK, "Σ", "İ")
NATIVE = ("word", "lower", "shape")  # views that the kernels know, besides prefixes, suffixes and tails


LETTER_KINDS = np.zeros(sys.maxunicode + 1, np.uint32)  # of the letters that were met; MARK counts as one
LETTER_KINDS[ord(MARK)] = 1


def letter_kinds(letters: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """The kind of each letter. Memory is taken for those only that are in use."""
    kinds = LETTER_KINDS[letters]
    if not kinds.all():
        for code in np.unique(letters[kinds == 0]).tolist():
            LETTER_KINDS[code] = ord(kind(chr(code)))
        kinds = LETTER_KINDS[letters]
    return kinds


def place_of(value: str, vocabulary: Sequence[str]) -> int:
    """The id of a value in a vocabulary, which is sorted; −1 where it has none."""
    place = bisect_left(vocabulary, value)
    return place if place < len(vocabulary) and vocabulary[place] == value else -1


class StringIds:
    """Distinct strings, numbered as they come: by the kernels, or in a dict where there are none."""

    def __init__(self, values: Sequence[str]) -> None:
        self.values = values

    @cached_property
    def native(self) -> kernels.Vocabulary:
        return kernels.Vocabulary(*_end_to_end(self.values))

    @cached_property
    def index(self) -> dict[str, int]:
        return dict(zip(self.values, range(len(self.values)), strict=True))

    def ids(self, values: Sequence[str]) -> Ids:
        """The number of each value, −1 where it has none."""
        if native():
            letters, starts = _end_to_end(values)
            return self.view_ids(kernels.Spelling(letters, letters, letters, starts), "word")
        return np.fromiter(map(self.index.get, values, repeat(-1)), np.int32, len(values))

    def view_ids(self, words: kernels.Spelling, name: str) -> Ids:
        """The number of each word's view; for the kernels alone."""
        return kernels.view_ids(self.native, words, _native_view(name))

    def __getstate__(self) -> dict[str, Any]:
        """For copies: what can be made anew is left out."""
        return {"values": self.values}


class VocabularyIds:
    """A vocabulary, to look values up in. It never changes: `plus` makes another, sharing its strings."""

    def __init__(self, values: Sequence[str]) -> None:
        self._first, self._more = StringIds(values), StringIds(())

    def __len__(self) -> int:
        return len(self._first.values) + len(self._more.values)

    def get(self, value: str) -> int:
        """Its id, −1 where it has none."""
        return int(self.ids([value])[0])

    def is_large_for(self, n: int) -> bool:
        """Whether so few values are better looked for one by one than by an index, which is not there yet."""
        return FEW * n < len(self._first.values) and "native" not in self._first.__dict__

    def ids(self, values: Sequence[str]) -> Ids:
        """The id of each value, −1 where it has none."""
        if native() and not len(self._more.values) and self.is_large_for(len(values)):
            places = (place_of(value, self._first.values) for value in values)
            return np.fromiter(places, np.int32, len(values))
        return self._joined(lambda strings: strings.ids(values))

    def view_ids(self, words: kernels.Spelling, name: str) -> Ids:
        """The id of each word's view; for the kernels alone."""
        return self._joined(lambda strings: strings.view_ids(words, name))

    def _joined(self, ids_in: Callable[[StringIds], Ids]) -> Ids:
        ids = ids_in(self._first)
        if len(self._more.values):
            more = ids_in(self._more)
            ids = np.where(more >= 0, more + np.int32(len(self._first.values)), ids)
        return ids

    def plus(self, values: Sequence[str]) -> tuple[VocabularyIds, Ids]:
        """The vocabulary with these, of which new ones get ids behind the others; and the ids of all."""
        ids = self.ids(values)
        new = np.flatnonzero(ids < 0)
        if not len(new):
            return self, ids
        ids[new] = np.arange(len(self), len(self) + len(new), dtype=np.int32)
        made = VocabularyIds.__new__(VocabularyIds)
        made._first = self._first
        made._more = StringIds([*self._more.values, *(values[k] for k in new.tolist())])
        return made, ids


class WordViews:
    """Views of these words."""

    def __init__(self, words: Sequence[str]) -> None:
        self._views = Views(words)
        self.words = words

    def ids(self, name: str, vocabulary: VocabularyIds) -> Ids:
        """The id of each word's view, −1 where the vocabulary does not have it."""
        if name == "word":
            return vocabulary.ids(self.words)
        few = vocabulary.is_large_for(len(self.words))
        if few or not native() or not _is_native(name) or self._spelling is None:
            return vocabulary.ids(self._views(name))
        return vocabulary.view_ids(self._spelling, name)

    def distinct(self, name: str) -> tuple[list[str], Ids]:
        """The different values of a view, sorted, and which one each word has."""
        if native() and _is_native(name) and self._spelling is not None:
            return kernels.distinct_views(self._spelling, _native_view(name))
        values = self._views(name)
        vocabulary = sorted({*values})
        index = StringIds(vocabulary).index
        return vocabulary, np.fromiter(map(index.__getitem__, values), np.int32, len(values))

    @cached_property
    def _spelling(self) -> kernels.Spelling | None:
        text = MARK.join(self.words)
        if text.count(MARK) >= max(1, len(self.words)) or any(letter in text for letter in UNUSUAL[1:]):
            return None
        letters, starts = _end_to_end(self.words)
        return kernels.Spelling(letters, letters_of(text.lower()), letter_kinds(letters), starts)


class ColumnIds:
    """Ids of the views of a column's values, −1 where training never saw the view."""

    def __init__(self, values: Sequence[str], words: VocabularyIds | None, known: dict[str, Ids]) -> None:
        """`words`: the vocabulary of words, if the values are words. For those in it, views are looked up
        once and `known`, by view, from then on."""
        self.values, self._words, self._known = values, words, known
        self._places = None if words is None else words.ids(values)
        self._found: dict[str, Ids] = {}
        self._asked = np.arange(len(values)), WordViews(values)  # values that were looked up last

    def __call__(self, atom: Atom, vocabulary: VocabularyIds) -> Ids:
        if atom.source not in self._found:
            self._found[atom.source] = self._ids(atom, vocabulary)
        return self._found[atom.source]

    def _ids(self, atom: Atom, vocabulary: VocabularyIds) -> Ids:
        words, places = self._words, self._places
        if words is None or places is None:
            return self._asked[1].ids(atom.view, vocabulary)
        if atom == WORD:
            return places
        if atom.source not in self._known:
            self._known[atom.source] = np.full(len(words) + 1, UNMET, np.int32)  # the last: of all others
        known = self._known[atom.source]
        ids = known[places]
        asked, (last, views) = np.flatnonzero(ids == UNMET), self._asked
        if not np.array_equal(asked, last):
            views = WordViews([self.values[k] for k in asked.tolist()])
            self._asked = asked, views
        ids[asked] = views.ids(atom.view, vocabulary)
        met = asked[places[asked] >= 0]
        known[places[met]] = ids[met]
        return ids


def _is_native(name: str) -> bool:
    return name in NATIVE or AFFIX.fullmatch(name) is not None


@cache
def _native_view(name: str) -> kernels.View:
    affix = AFFIX.fullmatch(name)
    kind, length = (name, SHAPE_LENGTH) if affix is None else (affix[1], int(affix[2]))
    return kernels.View(kind, length, HEAD_LENGTH)


def _end_to_end(words: Sequence[str]) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
    """The letters of all words, and where each begins."""
    starts = np.zeros(len(words) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, words), np.int64, len(words)) + 1, out=starts[1:])
    return letters_of(MARK.join(words)), starts
