"""Corpus: tokens as columns of integers, labels, and where each sentence begins.

    sentence 0            sentence 1
    ┌────────────────┐    ┌──────────┐
    The   dog   barks     It   rains        columns[0].values[columns[0].codes[t]], one column per feature
    DET   NOUN  VERB      PRON VERB         labels (None for text that is still to be labelled)
    0                     3              5  offsets

Whatever is done to a word is done once per distinct word: a column keeps the distinct strings once
(`values`) and an integer per token (`codes`). A token whose label is `_` (or None) is not labelled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from corate._native import kernels, native
from corate.errors import InputError

Codes = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int64]

UNLABELLED = "_"
ABSENT = "\0"  # the value of a feature that a token does not have


class SentenceLike(Protocol):
    """What a corpus is made of: observed columns (the first holds the words) and perhaps labels."""

    columns: list[list[str]]
    labels: list[str] | None


@dataclass(frozen=True)
class Column:
    """One string per token: `values[codes[t]]` is the string of token t."""

    codes: Codes
    values: list[str]

    @classmethod
    def from_strings(cls, strings: Sequence[str]) -> Column:
        values = list(dict.fromkeys(strings))
        index = dict(zip(values, range(len(values)), strict=True))
        return cls(np.fromiter(map(index.__getitem__, strings), np.int32, len(strings)), values)

    @classmethod
    def from_lists(cls, parts: Sequence[Sequence[Any]]) -> Column | None:
        """Strings of all the lists end to end; None where one of them is something else."""
        if native():
            found = kernels.number_strings(list(parts), sum(map(len, parts)))
            return None if found is None else cls(found[1], found[0])
        strings = list(chain.from_iterable(parts))
        return cls.from_strings(strings) if {*map(type, strings)} <= {str} else None

    @classmethod
    def join(cls, parts: Sequence[Column]) -> Column:
        values = list(dict.fromkeys(chain.from_iterable(part.values for part in parts)))
        index = {value: i for i, value in enumerate(values)}
        codes = [np.array([index[v] for v in part.values], np.int32)[part.codes] for part in parts]
        return cls(np.concatenate([np.empty(0, np.int32), *codes]), values)

    def encode(self, vocabulary: Sequence[str]) -> Codes:
        """Each token's place in the vocabulary, −1 where it has none."""
        index = {value: i for i, value in enumerate(vocabulary)}
        return np.array([index.get(value, -1) for value in self.values], np.int32)[self.codes]

    def select(self, first: int, last: int) -> Column:
        """Tokens first … last − 1, and no other values than theirs."""
        used, codes = np.unique(self.codes[first:last], return_inverse=True)
        return Column(codes.astype(np.int32), [self.values[code] for code in used.tolist()])

    def strings(self) -> list[str]:
        return [self.values[code] for code in self.codes.tolist()]

    def __len__(self) -> int:
        return len(self.codes)


@dataclass(frozen=True)
class Corpus:
    """Sentences, stored end to end. `offsets[s]:offsets[s + 1]` are the tokens of sentence s.

    `columns` has the words and what else is known of each token, `labels` the labels (None: not labelled),
    `keys` the names of features, one a column (none where the first column holds words).
    """

    columns: tuple[Column, ...]
    labels: Column | None
    offsets: Offsets
    keys: tuple[str, ...] = ()  # of features, one a column; () where the first column holds words

    @property
    def words(self) -> Column:
        """The first column."""
        return self.columns[0]

    @property
    def n_sentences(self) -> int:
        """How many sentences there are."""
        return len(self.offsets) - 1

    @property
    def n_tokens(self) -> int:
        """How many tokens there are."""
        return int(self.offsets[-1])

    def __len__(self) -> int:
        return self.n_sentences

    @classmethod
    def from_sentences(cls, sentences: Iterable[SentenceLike], keep_empty: bool = False) -> Corpus:
        """Of `sentences` as `corate.read` yields them, without those that have no token unless
        `keep_empty`."""
        every = list(sentences)
        kept = [s for s in every if s.columns and s.columns[0]]
        if kept and getattr(kept[0], "features", None) is not None:
            return _of_features(every if keep_empty else kept)
        n_columns = len(kept[0].columns) if kept else 1
        for sentence in kept:
            if len(sentence.columns) != n_columns:
                raise InputError(
                    f"a sentence with {len(sentence.columns)} observed columns among sentences with "
                    f"{n_columns}: give files of one layout"
                )
        labels = None
        if all(sentence.labels is not None for sentence in kept):
            labels = list(chain.from_iterable(sentence.labels or () for sentence in kept))
        return cls(
            tuple(
                Column.from_strings(list(chain.from_iterable(s.columns[k] for s in kept)))
                for k in range(n_columns)
            ),
            None if labels is None else Column.from_strings(labels),
            _offsets(len(s.columns[0]) if s.columns else 0 for s in (every if keep_empty else kept)),
        )

    @classmethod
    def join(cls, parts: Sequence[Corpus]) -> Corpus:
        """Corpora (`parts`) end to end."""
        if len(parts) == 1:
            return parts[0]
        widths = sorted({len(part.columns) for part in parts})
        if len(widths) > 1:
            raise InputError(
                f"corpora with {widths} columns do not join: give all the same number of columns"
            )
        columns = [Column.join(each) for each in zip(*(part.columns for part in parts), strict=True)]
        labels = [part.labels for part in parts if part.labels is not None]
        ends = np.cumsum([0, *(part.n_tokens for part in parts)])
        offsets = [part.offsets[1:] + end for part, end in zip(parts, ends, strict=False)]
        return cls(
            tuple(columns) or (Column.from_strings([]),),
            Column.join(labels) if len(labels) == len(parts) else None,
            np.concatenate([[0], *offsets]).astype(np.int64),
            parts[0].keys if parts else (),
        )

    def with_keys(self, keys: Sequence[str]) -> Corpus:
        """With a column of features for each of these keys, of which the corpus has at least one: in other
        sentences tokens may have those that none has here."""
        missing = [key for key in keys if key not in self.keys]
        if not missing or len(missing) == len(keys):
            return self
        absent = Column(np.zeros(self.n_tokens, np.int32), [ABSENT] if self.n_tokens else [])
        by_key = {**dict(zip(self.keys, self.columns, strict=True)), **dict.fromkeys(missing, absent)}
        every = tuple(sorted(by_key))
        return replace(self, columns=tuple(by_key[key] for key in every), keys=every)

    def split(self, codes: npt.NDArray[np.int32], values: Sequence[str]) -> list[list[str]]:
        """One string per token, cut into sentences: `values[codes[t]]`."""
        if native():
            return kernels.strings_of(tuple(values), codes, self.offsets)
        strings = list(map(values.__getitem__, codes.tolist()))
        return [strings[a:b] for a, b in self.spans()]

    def begins(self) -> npt.NDArray[np.bool_]:
        """Whether a sentence begins at each token."""
        begins = np.zeros(self.n_tokens + 1, bool)
        begins[self.offsets] = True
        return begins[:-1]

    def neighbours(self, offset: int) -> tuple[Offsets, npt.NDArray[np.bool_]]:
        """For each token the place of its neighbour at `offset` (−1: the one before), and whether that is in
        the same sentence."""
        sentence = np.repeat(np.arange(self.n_sentences), np.diff(self.offsets))
        moved = np.arange(self.n_tokens) + offset
        place = np.clip(moved, 0, self.n_tokens - 1)
        return place, (place == moved) & (sentence[place] == sentence)

    def spans(self) -> Iterator[tuple[int, int]]:
        """Where each sentence begins, and where it ends."""
        bounds = self.offsets.tolist()
        return pairwise(bounds)

    def sentences(self, first: int, last: int) -> Iterator[Corpus]:
        """Sentences first … last − 1, in one piece: a corpus in memory is one of `Passages`."""
        yield self if (first, last) == (0, self.n_sentences) else self.select(first, last)

    def covering(self, begin: int, end: int) -> tuple[Corpus, int]:
        """The sentences that have one of the tokens begin … end − 1, and the number of their first token."""
        first = min(int(np.searchsorted(self.offsets, begin, "right")) - 1, self.n_sentences)
        last = min(max(first, int(np.searchsorted(self.offsets, end))), self.n_sentences)
        return self.select(first, last), int(self.offsets[first])

    def n_values(self, key: str | None) -> int:
        """How many values the feature `key` has; None: how many labels there are."""
        column = self.labels if key is None else self.columns[self.keys.index(key)]
        return 0 if column is None else len(column.values)

    def select(self, first: int, last: int) -> Corpus:
        """Sentences first … last − 1, with the strings that occur in them."""
        a, b = int(self.offsets[first]), int(self.offsets[last])
        return Corpus(
            tuple(column.select(a, b) for column in self.columns),
            None if self.labels is None else self.labels.select(a, b),
            self.offsets[first : last + 1] - a,
            self.keys,
        )

    def labelled(self) -> npt.NDArray[np.bool_]:
        """Which sentences have a label somewhere."""
        assert self.labels is not None
        is_label = np.array([value != UNLABELLED for value in self.labels.values], bool)
        before = np.append(0, np.cumsum(is_label[self.labels.codes]))
        return np.diff(before[self.offsets]) > 0

    def take(self, chosen: npt.NDArray[np.bool_]) -> Corpus:
        """The sentences for which `chosen` is true, in their order."""
        length = np.diff(self.offsets)
        tokens = np.flatnonzero(np.repeat(chosen, length))
        columns = [Column(column.codes[tokens], column.values) for column in self.columns]
        labels = None if self.labels is None else Column(self.labels.codes[tokens], self.labels.values)
        whole = Corpus(tuple(columns), labels, _offsets(length[chosen].tolist()), self.keys)
        return whole.select(0, whole.n_sentences)


def _of_features(sentences: Sequence[Any]) -> Corpus:
    """Sentences whose tokens are given by features."""
    from corate.text.tokens import as_corpus

    labels = [sentence.labels or [] for sentence in sentences if len(sentence)]
    tokens = [sentence.features or [] for sentence in sentences if len(sentence)]
    return as_corpus(tokens, labels if any(labels) else None, "refuse")


def letters_of(text: str) -> npt.NDArray[np.uint32]:
    """A text as code points, for the kernels."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint32, copy=False)


def _offsets(lengths: Iterable[int]) -> Offsets:
    return np.fromiter(accumulate(lengths, initial=0), np.int64)
