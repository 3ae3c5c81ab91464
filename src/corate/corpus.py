"""Corpus: tokens as columns of integers, labels, and where each sentence begins.

    sentence 0            sentence 1
    ┌────────────────┐    ┌──────────┐
    The   dog   barks     It   rains        columns[0].values[columns[0].codes[t]], one column per feature
    DET   NOUN  VERB      PRON VERB         labels (None for text that is still to be labelled)
    0                     3              5  offsets

Whatever is done to a word is done once per distinct word: a column keeps the distinct strings once
(`values`) and an integer per token (`codes`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from corate.errors import InputError

Codes = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int64]


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
        index: dict[str, int] = {}
        codes = np.fromiter((index.setdefault(s, len(index)) for s in strings), np.int32, len(strings))
        return cls(codes, list(index))

    def strings(self) -> list[str]:
        return [self.values[code] for code in self.codes.tolist()]

    def __len__(self) -> int:
        return len(self.codes)


@dataclass(frozen=True)
class Corpus:
    """Sentences, stored end to end. `offsets[s]:offsets[s + 1]` are the tokens of sentence s."""

    columns: tuple[Column, ...]
    labels: Column | None
    offsets: Offsets

    @property
    def words(self) -> Column:
        return self.columns[0]

    @property
    def n_sentences(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_tokens(self) -> int:
        return int(self.offsets[-1])

    def __len__(self) -> int:
        return self.n_sentences

    @classmethod
    def from_sentences(cls, sentences: Iterable[SentenceLike]) -> Corpus:
        """Sentences as a reader of `corate.formats` yields them; those without tokens are left out."""
        kept = [s for s in sentences if s.columns and s.columns[0]]
        n_columns = len(kept[0].columns) if kept else 1
        for sentence in kept:
            if len(sentence.columns) != n_columns:
                raise InputError(
                    f"a sentence with {len(sentence.columns)} observed columns among sentences with "
                    f"{n_columns}: give files of one layout"
                )
        labels = None
        if all(sentence.labels is not None for sentence in kept):
            labels = [label for sentence in kept for label in sentence.labels or ()]
        return cls(
            tuple(
                Column.from_strings([token for s in kept for token in s.columns[k]]) for k in range(n_columns)
            ),
            None if labels is None else Column.from_strings(labels),
            _offsets(len(s.columns[0]) for s in kept),
        )

    @classmethod
    def from_sequences(cls, X: Iterable[Sequence[Any]], y: Iterable[Sequence[str]] | None = None) -> Corpus:
        """Token lists (and label lists), as `fit(X, y)` and `predict(X)` take them.

        A token is a string, or a tuple of strings: the word and further columns.
        """
        if isinstance(X, str):
            raise TypeError("X is a string: give a list of sentences, each a list of tokens")
        sentences = [_tokens(tokens, s) for s, tokens in enumerate(X)]
        n_columns = _n_columns(sentences)
        labels = None if y is None else _flat_labels(sentences, y)
        return cls(
            tuple(
                Column.from_strings(
                    [t if isinstance(t, str) else t[k] for tokens in sentences for t in tokens]
                )
                for k in range(n_columns)
            ),
            None if labels is None else Column.from_strings(labels),
            _offsets(map(len, sentences)),
        )

    def split(self, codes: npt.NDArray[np.int32], values: Sequence[str]) -> list[list[str]]:
        """One string per token, cut into sentences: `values[codes[t]]`."""
        strings = [values[code] for code in codes.tolist()]
        return [strings[a:b] for a, b in self.spans()]

    def spans(self) -> Iterator[tuple[int, int]]:
        bounds = self.offsets.tolist()
        return pairwise(bounds)

    def select(self, first: int, last: int) -> Corpus:
        """Sentences first … last − 1, sharing the distinct strings."""
        a, b = int(self.offsets[first]), int(self.offsets[last])
        return Corpus(
            tuple(Column(c.codes[a:b], c.values) for c in self.columns),
            None if self.labels is None else Column(self.labels.codes[a:b], self.labels.values),
            self.offsets[first : last + 1] - a,
        )


def _offsets(lengths: Iterable[int]) -> Offsets:
    return np.fromiter(accumulate(lengths, initial=0), np.int64)


def _tokens(tokens: Sequence[Any], sentence: int) -> Sequence[Any]:
    if isinstance(tokens, str):
        raise TypeError(f"sentence {sentence} is the string {tokens[:40]!r}: give a list of tokens")
    for position, token in enumerate(tokens):
        if isinstance(token, str):
            continue
        if not isinstance(token, (tuple, list)) or not token or not all(isinstance(v, str) for v in token):
            raise TypeError(
                f"sentence {sentence}, token {position} is {token!r:.60}: give a string or a tuple of them"
            )
    return tokens


def _n_columns(sentences: Sequence[Sequence[Any]]) -> int:
    widths = {1 if isinstance(token, str) else len(token) for tokens in sentences for token in tokens}
    if len(widths) > 1:
        raise ValueError(f"tokens have {sorted(widths)} columns: give every token the same number of columns")
    return widths.pop() if widths else 1


def _flat_labels(sentences: Sequence[Sequence[Any]], y: Iterable[Sequence[str]]) -> list[str]:
    y = list(y)
    if len(y) != len(sentences):
        raise ValueError(f"{len(sentences)} sentences in X, {len(y)} label lists in y: give one for each")
    flat: list[str] = []
    for s, (tokens, labels) in enumerate(zip(sentences, y, strict=True)):
        if isinstance(labels, str) or len(tokens) != len(labels):
            given = f"the string {labels[:40]!r}" if isinstance(labels, str) else f"{len(labels)} labels"
            raise ValueError(f"sentence {s} has {len(tokens)} tokens and {given}: give one label a token")
        for position, label in enumerate(labels):
            if not isinstance(label, str):
                raise TypeError(f"sentence {s}, label {position} is {label!r:.60}: labels are strings")
        flat.extend(labels)
    return flat
