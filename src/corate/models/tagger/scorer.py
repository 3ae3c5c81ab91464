"""Lattices of a trained Tagger, the quick way: what a word alone says is found out once for a model.

The words that training knows are ranked when they are first met, and their candidates kept with their scores;
what stands around a token is looked up and weighed by one kernel, sentence by sentence. The same, without
haste, is `evidence(…).lattice(weights)` of tagger_lattice.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from corate._native import kernels, native
from corate.arrays import Float, Ids, Int, offsets_of, owners, ragged_arange
from corate.contexts.view_ids import WORD
from corate.lattice.lattice import Lattice
from corate.models.tagger.evidence import (
    KIND_MARGIN,
    Weights,
    candidates,
    close,
    evidence,
    kinds_of,
    required_labels,
)
from corate.rates.lookup import ALPHA, Rates
from corate.text.corpus import Column, Corpus


@dataclass(frozen=True)
class Ranked:
    """Candidates of kinds of tokens, best ones only, and what the token alone says of them."""

    width: Int  # candidates of each kind
    labels: Ids
    scores: Float
    prob: Float  # P(y | f) of the contexts that are parents of others

    @property
    def first(self) -> Int:
        return offsets_of(self.width)[:-1]

    def take(self, first: Int, width: Int) -> Ranked:
        rows = ragged_arange(first, width)
        return Ranked(width, self.labels[rows], self.scores[rows], self.prob[rows])


class Scorer:
    """Sentences → lattices, under given weights."""

    def __init__(self, rates: Rates, weights: Weights) -> None:
        self.rates, self.weights, self._counts = rates, weights, rates.counts
        n = len(rates.alone.contexts)
        parents = rates.around.parents
        self._parents = np.unique(parents[(parents >= 0) & (parents < n)])
        n_given = len(self._parents)
        renamed = np.where(parents >= n, parents - n + n_given, np.searchsorted(self._parents, parents))
        renamed[parents < 0] = -1
        self._layout = *rates.around.layout()[:4], renamed.astype(np.int32), n_given
        self._by_bucket = np.ascontiguousarray(weights.contexts[:, n:])
        self._by_label = np.ascontiguousarray(weights.contexts_by_label[:, n:])
        self._start, self._end = weights.start * rates.start, weights.end * rates.end
        self._pair = weights.pair * rates.pair
        self._known: KnownWords | None = None
        if {atom.column for atom in rates.alone.views} == {""} and "word" in rates.counts.vocabularies:
            self._known = KnownWords(len(rates.vocabulary("word")), n_given)

    def is_of(self, rates: Rates, weights: Weights) -> bool:
        """Whether it is still theirs: rates may have followed an update."""
        return rates is self.rates and rates.counts is self._counts and weights is self.weights

    def lattice(self, corpus: Corpus, n_threads: int = 1) -> Lattice:
        """The candidates with their scores, up to pairs of labels."""
        if not native():
            shown = evidence(self.rates, corpus, weights=self.weights, everything=False)
            return shown.lattice(self.weights)
        around = self.rates.around
        kinds, kind_of = self._kinds(corpus, n_threads)
        positions = offsets_of(kinds.width[kind_of])
        labels, scores = np.empty(positions[-1], np.int32), np.empty(positions[-1])
        kernels.score_tokens(
            self.rates.native(around)[0], *self._layout, *self.rates.tokens(around, corpus), corpus.offsets,
            kinds.first, kinds.labels, kinds.scores, kinds.prob.reshape(-1), kind_of, positions,
            self.rates.prior, self.rates.log_prior, ALPHA, self._by_bucket, self._by_label, self._start,
            self._end, labels, scores, n_threads,
        )  # fmt: skip
        no_edges = np.zeros(len(positions), np.int64)
        return Lattice(corpus.offsets, positions, labels, scores, self._pair, no_edges, np.empty(0))

    def _kinds(self, corpus: Corpus, n_threads: int) -> tuple[Ranked, Ids]:
        """The kinds of a corpus' tokens, and the kind of each token."""
        if self._known is None:
            typical, kind_of = kinds_of(self.rates, corpus)
            return self._rank(typical, n_threads), kind_of
        words = corpus.words
        ids = self.rates.ids(WORD, words.values)
        known, unknown = np.flatnonzero(ids >= 0), np.flatnonzero(ids < 0)
        if len(missing := known[self._known.is_missing(ids[known])]):
            new = self._rank(_alone([words.values[k] for k in missing.tolist()], corpus), n_threads)
            self._known.add(ids[missing], new)
        parts = [self._known.kinds(ids[known])]
        if len(unknown):
            parts.append(self._rank(_alone([words.values[k] for k in unknown.tolist()], corpus), n_threads))
        # Known words first: kinds are numbered in that order.
        number = np.empty(len(ids), np.int32)
        number[np.concatenate([known, unknown])] = np.arange(len(ids), dtype=np.int32)
        return _join(parts), number[words.codes]

    def _rank(self, typical: Corpus, n_threads: int) -> Ranked:
        kinds, prob = candidates(self.rates, typical, n_threads=n_threads)
        scores = kinds.scores(self.weights, self.rates.log_prior)
        kept = close(kinds, scores, required_labels(None, np.empty(0, np.int32)), KIND_MARGIN)
        width = np.bincount(owners(kinds.positions)[kept], minlength=typical.n_tokens)
        return Ranked(width, kinds.labels[kept], scores[kept], prob[kept][:, self._parents])

    def __getstate__(self) -> dict[str, Any]:
        """For copies: what was kept is found out anew."""
        return {"rates": self.rates, "weights": self.weights}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]


class KnownWords:
    """What words of the training vocabulary were found to be: rows that only ever grow.

    Threads may share it: rows are written before they can be found, and never change."""

    def __init__(self, n_words: int, n_prob: int) -> None:
        self._first, self._width = np.zeros(n_words, np.int64), np.zeros(n_words, np.int64)
        self._n_rows = 0
        self._rows = Ranked(np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0), np.empty((0, n_prob)))
        self._lock = Lock()

    def is_missing(self, ids: Ids) -> npt.NDArray[np.bool_]:
        return np.equal(self._width[ids], 0)

    def kinds(self, ids: Ids) -> Ranked:
        first, width = self._first[ids], self._width[ids]
        return self._rows.take(first, width)

    def add(self, ids: Ids, new: Ranked) -> None:
        with self._lock:
            begin, end = self._n_rows, self._n_rows + len(new.labels)
            if end > len(self._rows.labels):
                self._rows = _enlarged(self._rows, 2 * end)
            self._rows.labels[begin:end] = new.labels
            self._rows.scores[begin:end] = new.scores
            self._rows.prob[begin:end] = new.prob
            self._n_rows = end
            self._first[ids] = begin + new.first
            self._width[ids] = new.width


def _enlarged(rows: Ranked, n: int) -> Ranked:
    def longer(old: Any) -> Any:
        made = np.empty((n, *old.shape[1:]), old.dtype)
        made[: len(old)] = old
        return made

    return Ranked(rows.width, longer(rows.labels), longer(rows.scores), longer(rows.prob))


def _alone(words: list[str], corpus: Corpus) -> Corpus:
    """Each word as a token; further columns, which no context of the token alone looks at, are empty."""
    n = len(words)
    others = [Column(np.zeros(n, np.int32), [""]) for _ in corpus.columns[1:]]
    return Corpus((Column(np.arange(n, dtype=np.int32), words), *others), None, np.array([0, n]))


def _join(parts: list[Ranked]) -> Ranked:
    if len(parts) == 1:
        return parts[0]
    return Ranked(
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("width", "labels", "scores", "prob")
        )
    )
