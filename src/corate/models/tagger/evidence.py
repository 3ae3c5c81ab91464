"""Evidence: what sentences show of their candidates, and the Tagger's score of it.

    score(y at i)     = λ₀ log P(y) + β_y + Σⱼ (λ_{j,b} + δ_{j,y}) log CR(y; fⱼ(x, i) | parent(fⱼ))
    first and last    + τ_start log CR(y; START), + τ_end log CR(y; END)
    score(y, y′)      = τ log CR(y; y′) + Σₛ τₛ [log CR(y; y′ | fₛ(x, i)) − log CR(y; y′)]
    score(y, y′, y″)  = τ₂ log CR(y; y″ | y′)
    with few data     + Σⱼ w(fⱼ, y) and + w(y, y′)                                       row_weights.py

b is the bucket of the context's own count. Fitting, tagging and explaining weigh the same evidence: they
differ in the weights, and in which candidates they look at. What depends on a token alone is found out once
for each distinct one, a *kind* of token: in most corpora, a word.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from corate._native import Mirrored, kernels, native
from corate.arrays import Float, Ids, Int, Mask, offsets_of, owners
from corate.lattice.lattice import Lattice, end_candidates
from corate.lattice.triple_blocks import edge_ends, triple_ends, triple_offsets
from corate.models.tagger.weights import Weights
from corate.rates.rates import Buckets, Rates, Values
from corate.rates.smoothed import LabelRates
from corate.text.corpus import Corpus


@dataclass(frozen=True)
class Rows(Mirrored):
    """Candidates of some positions, with the rates of some contexts."""

    positions: Int
    labels: Ids
    rates: Values  # candidates × contexts
    buckets: Buckets  # positions × contexts

    def weigh(self, by_bucket: Float, by_label: Float, scores: Float) -> None:
        """scores += Σⱼ (λ_{j,b} + δ_{j,y}) log CR(y; fⱼ | …)."""
        if native():
            weights = np.ascontiguousarray(by_bucket), np.ascontiguousarray(by_label)
            self.native.weigh(*weights, scores)
            return
        here = by_bucket[self.buckets, np.arange(self.rates.shape[1])]
        here = np.repeat(here, np.diff(self.positions), axis=0)
        scores += ((here + by_label[self.labels]) * self.rates).sum(axis=1)

    def scores(self, weights: Weights, of_labels: LabelRates) -> Float:
        """λ₀ log P(y) + β_y + Σⱼ …, of the first contexts that the weights are for."""
        n = self.rates.shape[1]
        scores: Float = weights.prior * of_labels.log_prior[self.labels] + weights.bias[self.labels]
        self.weigh(weights.contexts[:, :n], weights.contexts_by_label[:, :n], scores)
        return scores

    def add_gradient(self, surplus: Float, by_bucket: Float, by_label: Float) -> None:
        """Adds the gradient of surplus · scores in λ and in δ; an only candidate has no surplus."""
        if native():
            self.native.add_gradient(surplus, by_bucket, by_label)
            return
        width = np.diff(self.positions)
        weighted = np.where(np.repeat(width == 1, width), 0.0, surplus)[:, None] * self.rates
        np.add.at(by_label, self.labels, weighted)
        buckets = np.repeat(self.buckets, width, axis=0)
        np.add.at(by_bucket, (buckets, np.arange(self.rates.shape[1])), weighted)

    def keep(self, kept: Mask) -> Rows:
        """These candidates alone."""
        width = np.bincount(owners(self.positions)[kept], minlength=len(self.positions) - 1)
        return Rows(offsets_of(width), self.labels[kept], self.rates[kept], self.buckets)

    @cached_property
    def native(self) -> kernels.Rows:
        return kernels.Rows(self.positions, self.labels, self.rates, self.buckets)


class Kinds(Protocol):
    """Candidates of kinds of tokens, and what the token alone says of them."""

    @property
    def labels(self) -> Ids: ...
    def scores(self, weights: Weights, of_labels: LabelRates) -> Float: ...


class Terms(NamedTuple):
    """The summands of one candidate's score."""

    label: float  # λ₀ log P(y) + β_y, with what the ends of the sentence add
    contexts: Float  # (λ_{j,b} + δ_{j,y}) log CR of each context
    log_rates: Float  # log CR alone


@dataclass(frozen=True)
class Evidence:
    """What a batch of sentences shows of its candidates, before it is weighted."""

    sentences: Int
    kinds: Kinds
    kind_of: Ids  # the kind of each token
    sources: Int  # the row of `kinds` of each candidate
    tokens: Rows  # candidates of each token, and the contexts that look around
    of_labels: LabelRates
    left: Int | None = None  # parents of tokens on trees
    rows: Float | None = None  # Σⱼ w(fⱼ, y) of each candidate

    @cached_property
    def _ends(self) -> tuple[Int, Int]:
        """Candidates at the start and at the end of sentences; on trees, at roots and leaves."""
        return end_candidates(self.sentences, self.tokens.positions, self.left)

    def scores(self, weights: Weights) -> Float:
        """score(y at i) of every candidate."""
        n = weights.contexts.shape[1] - self.tokens.rates.shape[1]  # contexts of the token alone
        scores: Float = self.kinds.scores(weights, self.of_labels)[self.sources]
        self.tokens.weigh(weights.contexts[:, n:], weights.contexts_by_label[:, n:], scores)
        (first, last), labels = self._ends, self.tokens.labels
        scores[first] += weights.start * self.of_labels.start[labels[first]]
        scores[last] += weights.end * self.of_labels.end[labels[last]]
        return scores if self.rows is None else scores + self.rows

    def lattice(self, weights: Weights, pair: Float | None = None) -> Lattice:
        """The candidates with their scores, up to pairs of labels: `pair`, or else τ log CR(y; y′)."""
        positions = self.tokens.positions
        no_edges = np.zeros(len(positions), np.int64), np.empty(0)
        pair = pair_scores(weights, self.of_labels) if pair is None else pair
        scores, labels = self.scores(weights), self.tokens.labels
        return Lattice(self.sentences, positions, labels, scores, pair, *no_edges, left=self.left)

    def keep(self, kept: Mask) -> Evidence:
        """What it shows of these candidates."""
        rows = None if self.rows is None else self.rows[kept]
        return replace(self, sources=self.sources[kept], tokens=self.tokens.keep(kept), rows=rows)

    def gradient(self, surplus: Float, weights: Weights) -> Weights:
        """The derivative of surplus · scores by λ₀, τ_start, τ_end, λ, β and δ; 0 by the others."""
        assert isinstance(self.kinds, Rows)
        n, labels, of_labels = self.kinds.rates.shape[1], self.tokens.labels, self.of_labels
        parts = np.zeros_like(weights.contexts), np.zeros_like(weights.contexts_by_label)
        alone, around = (tuple(np.ascontiguousarray(p[:, half]) for p in parts) for half in _halves(n))
        by_source = np.bincount(self.sources, surplus, len(self.kinds.labels)).astype(np.float64)
        self.kinds.add_gradient(by_source, *alone)
        self.tokens.add_gradient(surplus, *around)
        by_bucket, by_label = (np.hstack(both) for both in zip(alone, around, strict=True))
        first, last = self._ends
        return replace(
            weights,
            prior=float(surplus @ of_labels.log_prior[labels]),
            pair=0.0,
            start=float(surplus[first] @ of_labels.start[labels[first]]),
            end=float(surplus[last] @ of_labels.end[labels[last]]),
            triple=0.0,
            pairs=np.zeros_like(weights.pairs),
            contexts=by_bucket,
            bias=np.bincount(labels, surplus, len(weights.bias)).astype(np.float64),
            contexts_by_label=by_label,
        )

    def terms(self, weights: Weights, position: int, label: int) -> Terms:
        """The summands of a candidate's score."""
        assert isinstance(self.kinds, Rows)
        positions = self.tokens.positions
        here = slice(int(positions[position]), int(positions[position + 1]))
        c = here.start + int(np.flatnonzero(self.tokens.labels[here] == label)[0])
        log_rates = np.append(self.kinds.rates[self.sources[c]], self.tokens.rates[c]).astype(np.float64)
        buckets = np.append(self.kinds.buckets[self.kind_of[position]], self.tokens.buckets[position])
        exponents = weights.contexts[buckets, np.arange(len(buckets))] + weights.contexts_by_label[label]
        own = weights.prior * self.of_labels.log_prior[label] + weights.bias[label]
        first, last = self._ends
        own += weights.start * self.of_labels.start[label] * (c in first)
        own += weights.end * self.of_labels.end[label] * (c in last)
        return Terms(float(own), exponents * log_rates, log_rates)


def pair_scores(weights: Weights, of_labels: LabelRates) -> Float:
    """τ log CR(y; y′), labels × labels."""
    return weights.pair * of_labels.pair


def _halves(n: int) -> tuple[slice, slice]:
    return slice(None, n), slice(n, None)


@dataclass(frozen=True)
class PairEvidence:
    """What pairs and triples of candidates show, in a lattice in which every edge has a block."""

    of_labels: LabelRates
    lattice: Lattice
    pairs: Float  # edges × pair contexts: log CR(y; y′ | fₛ) − log CR(y; y′)
    triple: Float  # log CR(y; y″ | y′) of each triple

    @classmethod
    def of(
        cls, rates: Rates, corpus: Corpus, lattice: Lattice, n_threads: int = 1, everything: bool = False
    ) -> PairEvidence:
        """Unless `everything` is asked for, contexts are looked at where a pair has rivals."""
        x = replace(lattice, triples=triple_offsets(lattice))
        pairs = rates.pair_rates(corpus, x.positions, x.labels, x.edges, not everything, n_threads)
        return cls(rates.labels, x, pairs, _triple_rates(rates.labels, x, n_threads))

    @cached_property
    def pair(self) -> Float:
        """log CR(y; y′) of each edge."""
        x = self.lattice
        left, right, _ = edge_ends(x.sentences, x.positions, x.left)
        return self.of_labels.pair[self.lattice.labels[left], self.lattice.labels[right]]

    def edge_scores(self, weights: Weights, constrained: Float | None = None) -> Float:
        """score(y, y′) of every edge; `constrained` is τ log CR(y; y′) where constraints have changed it."""
        own = weights.pair * self.pair if constrained is None else constrained
        return own + self.pairs @ weights.pairs if len(weights.pairs) else own

    def triple_scores(self, weights: Weights) -> Float:
        """score(y, y′, y″) of every triple."""
        return weights.triple * self.triple

    def edge_terms(self, weights: Weights, edge: int) -> list[tuple[float, float]]:
        """The summands of score(y, y′) of an edge, that of labels alone first, each with its log CR."""
        rates = [float(self.pair[edge]), *self.pairs[edge].tolist()]
        return [
            (w * rate, rate) for w, rate in zip([weights.pair, *weights.pairs.tolist()], rates, strict=True)
        ]

    def weighed(self, weights: Weights, scores: Float, constrained: Float | None = None) -> Lattice:
        """The lattice with these scores of candidates, and with those of pairs and triples."""
        edge_scores, triple_scores = self.edge_scores(weights, constrained), self.triple_scores(weights)
        return replace(self.lattice, scores=scores, edge_scores=edge_scores, triple_scores=triple_scores)

    def gradient(self, edges: Float, triples: Float, gradient: Weights) -> Weights:
        """With the derivatives of edges · edge scores + triples · triple scores by τ, τₛ and τ₂."""
        pair, triple = float(edges @ self.pair), float(triples @ self.triple)
        return replace(gradient, pair=pair, pairs=edges @ self.pairs, triple=triple)


def _triple_rates(of_labels: LabelRates, x: Lattice, n_threads: int) -> Float:
    """log CR(y; y″ | y′) of every triple of candidates."""
    assert x.triples is not None
    if native() and x.left is None:
        return of_labels.triple.native(x.native, n_threads)
    return of_labels.triple.rates(*(x.labels[end] for end in triple_ends(x, x.triples)))
