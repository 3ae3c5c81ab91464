"""A text that is asked for its sentences by place, wherever it is kept: in memory (Corpus), in a temporary
file (Spool), on a cluster. Learning that looks back at the text draws from it by these rules alone, so that
it draws the same sentences wherever they are, and in however many chunks they came.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from corate.text.corpus import Corpus


class Passages(Protocol):
    """Labelled sentences in their order; sentences and tokens are numbered from 0."""

    @property
    def n_sentences(self) -> int: ...

    @property
    def n_tokens(self) -> int: ...

    def sentences(self, first: int, last: int) -> Iterator[Corpus]:
        """Sentences first … last − 1, in pieces that fit into memory."""

    def covering(self, begin: int, end: int) -> tuple[Corpus, int]:
        """The sentences that have one of the tokens begin … end − 1, and the number of their first token."""

    def n_values(self, key: str | None) -> int:
        """How many values a feature has; None: how many labels there are. Asked of features alone."""


def beginning_between(text: Passages, begin: int, end: int) -> Corpus:
    """The sentences whose first token is one of begin … end − 1."""
    corpus, place = text.covering(begin, end)
    return corpus.select(1, corpus.n_sentences) if place < begin and corpus.n_sentences else corpus


def tokens_between(text: Passages, begin: int, end: int) -> Corpus:
    """The tokens begin … end − 1, as one sentence."""
    corpus, place = text.covering(begin, end)
    first = begin - place
    last = max(first, min(end - place, corpus.n_tokens))
    labels = None if corpus.labels is None else corpus.labels.select(first, last)
    columns = tuple(column.select(first, last) for column in corpus.columns)
    return Corpus(columns, labels, np.array([0, last - first], np.int64), corpus.keys)
