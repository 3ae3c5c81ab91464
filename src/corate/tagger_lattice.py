"""The Tagger's lattice: candidate labels of each position, and their weighted co-occurrence rates.

    score(y at i)     = λ₀ log P(y) + β_y + Σⱼ (λ_{j,b} + δ_{j,y}) log CR(y; fⱼ(x, i))
    score(y, y′)      = τ log CR(y; y′)
    first and last    + τ_start log CR(y; START), + τ_end log CR(y; END)

b is the bucket of the context's own count. Candidates are found once per distinct word: the labels that the
word, or else its tails, were seen with, ranked by the contexts that look at the word itself only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from corate._native import HAS_KERNELS
from corate.corpus import Corpus
from corate.counts import starts_of_runs
from corate.lattice import Lattice, end_candidates, offsets_of, owners, ragged_arange
from corate.rates import BUCKETS, WORD, Buckets, Float, Ids, Int, Rates

if HAS_KERNELS:
    from corate._native import kernels

N_BUCKETS = len(BUCKETS) + 1
N_CANDIDATES = 8
POOL = 16  # labels that are looked at before the best are taken
MARGIN = 14.0  # candidates whose word score is this far (in nats) below the best are dropped

# Fixed weights: nothing is optimised.
PRIOR, CONTEXTS, PAIR = 0.85, 3.2, 0.6


@dataclass(frozen=True)
class Weights:
    """Exponents of the rates, the letters of the formula above."""

    prior: float  # λ₀
    contexts: Float  # λ, buckets × contexts
    pair: float  # τ
    start: float
    end: float
    labels: Float  # β
    contexts_by_label: Float  # δ, labels × contexts

    @classmethod
    def fixed(cls, n_contexts: int, n_labels: int) -> Weights:
        contexts = np.full((N_BUCKETS, n_contexts), CONTEXTS / max(1, n_contexts))
        return cls(PRIOR, contexts, PAIR, PAIR, PAIR, np.zeros(n_labels), np.zeros((n_labels, n_contexts)))

    def vector(self) -> Float:
        numbers = [self.prior, self.pair, self.start, self.end]
        return np.concatenate([numbers, self.contexts.ravel(), self.labels, self.contexts_by_label.ravel()])

    @classmethod
    def from_vector(cls, vector: Float, n_contexts: int, n_labels: int) -> Weights:
        n = n_contexts * N_BUCKETS
        prior, pair, start, end = vector[:4].tolist()
        contexts, rest = vector[4 : 4 + n], vector[4 + n :]
        labels, by_label = rest[:n_labels], rest[n_labels:]
        return cls(
            prior,
            contexts.reshape(N_BUCKETS, n_contexts),
            pair,
            start,
            end,
            labels,
            by_label.reshape(n_labels, n_contexts),
        )


@dataclass(frozen=True)
class Evidence:
    """What a batch of sentences shows, before it is weighted."""

    sentences: Int
    positions: Int
    labels: Ids  # of each candidate
    rates: Float  # candidates × contexts
    buckets: Buckets  # positions × contexts
    log_prior: Float  # of each candidate
    start: Float  # log CR(y; START) at the candidates of first positions, else 0
    end: Float
    pair: Float  # log CR(y; y′), labels × labels

    def lattice(self, weights: Weights) -> Lattice:
        """The candidates with their scores."""
        scores = weights.prior * self.log_prior + weights.labels[self.labels]
        scores += weights.start * self.start + weights.end * self.end
        self.weigh(weights, scores)
        return Lattice(
            self.sentences,
            self.positions,
            self.labels,
            scores,
            weights.pair * self.pair,
            np.zeros(len(self.positions), np.int64),
            np.empty(0),
        )

    def weigh(self, weights: Weights, scores: Float, kernel: str | None = None) -> None:
        """scores += Σⱼ (λ_{b,j} + δ_{y,j}) log CR(y; fⱼ)."""
        if HAS_KERNELS and kernel != "numpy":
            by_bucket, by_label = map(np.ascontiguousarray, (weights.contexts, weights.contexts_by_label))
            kernels.weigh(*self._arrays(), by_bucket, by_label, scores)
            return
        by_bucket = weights.contexts[self.buckets, np.arange(self.rates.shape[1])]
        by_bucket = np.repeat(by_bucket, np.diff(self.positions), axis=0)
        scores += ((by_bucket + weights.contexts_by_label[self.labels]) * self.rates).sum(axis=1)

    def unweigh(self, surplus: Float, n_labels: int, kernel: str | None = None) -> tuple[Float, Float]:
        """The gradient of surplus · scores in λ and in δ."""
        n_contexts = self.rates.shape[1]
        by_bucket, by_label = np.zeros((N_BUCKETS, n_contexts)), np.zeros((n_labels, n_contexts))
        if HAS_KERNELS and kernel != "numpy":
            kernels.unweigh(*self._arrays(), surplus, by_bucket, by_label)
            return by_bucket, by_label
        weighted = surplus[:, None] * self.rates
        np.add.at(by_label, self.labels, weighted)
        buckets = np.repeat(self.buckets, np.diff(self.positions), axis=0)
        np.add.at(by_bucket, (buckets, np.arange(n_contexts)), weighted)
        return by_bucket, by_label

    def _arrays(self) -> tuple[Float, Buckets, Int, Ids]:
        return self.rates.reshape(-1), self.buckets.reshape(-1), self.positions, self.labels


def evidence(rates: Rates, corpus: Corpus, n_threads: int = 1, gold: Ids | None = None) -> Evidence:
    """Candidates of every token and the rates of all contexts; `gold` labels are candidates in any case."""
    positions, labels = candidates(rates, corpus, n_threads)
    if gold is not None:
        positions, labels = _with_gold(positions, labels, gold)
    queries = rates.queries(corpus, rates.tables.contexts)
    values, buckets = rates.log_rates(rates.tables, queries, positions, labels, n_threads)
    start, end = np.zeros(len(labels)), np.zeros(len(labels))
    first, last = end_candidates(corpus.offsets, positions)
    start[first], end[last] = rates.start[labels[first]], rates.end[labels[last]]
    return Evidence(
        corpus.offsets, positions, labels, values, buckets, rates.log_prior[labels], start, end, rates.pair
    )


def candidates(rates: Rates, corpus: Corpus, n_threads: int = 1) -> tuple[Int, Ids]:
    """Candidate labels of every token, those of its word."""
    kinds = Corpus.from_sequences([corpus.words.values])
    tables = rates.word_tables
    queries = rates.queries(kinds, tables.contexts)
    positions, labels = _pools(rates, queries)
    values, _ = rates.log_rates(tables, queries, positions, labels, n_threads)
    score = values.sum(axis=1) * (CONTEXTS / max(1, len(rates.contexts))) + PRIOR * rates.log_prior[labels]
    positions, labels = _best(positions, labels, score)
    lengths = np.diff(positions)[corpus.words.codes]
    return offsets_of(lengths), labels[ragged_arange(positions[corpus.words.codes], lengths)]


def _pools(rates: Rates, queries: Int) -> tuple[Int, Ids]:
    """Labels seen with each word, with its tails from the longest on, and so on, until there are enough."""
    tables = rates.word_tables
    n_kinds = queries.shape[1]
    ranked = [*(c for c in (WORD, *WORD.parents()) if c in tables.contexts), *tables.contexts]
    pairs = np.empty(0, np.int64)
    short = np.ones(n_kinds, bool)
    for context in dict.fromkeys(ranked):
        j = tables.contexts.index(context)
        kinds = np.flatnonzero(short)
        place = tables.find(j, queries[j, kinds])
        kinds, place = kinds[place >= 0], place[place >= 0]
        n_rows = np.diff(tables.first_row)[place]
        rows = ragged_arange(tables.first_row[place], n_rows)
        found = np.repeat(kinds, n_rows) * rates.n_labels + tables.row_labels[rows]
        pairs = _union(pairs, found)
        short = np.bincount(pairs // rates.n_labels, minlength=n_kinds) < min(POOL, rates.n_labels)
        if not short.any():
            break
    empty = np.flatnonzero(np.bincount(pairs // rates.n_labels, minlength=n_kinds) == 0)
    likely = np.argsort(-rates.prior, kind="stable")[:POOL]
    every = np.concatenate([pairs, (empty[:, None] * rates.n_labels + likely).ravel()])
    every.sort()
    lengths = np.bincount(every // rates.n_labels, minlength=n_kinds)
    return offsets_of(lengths), (every % rates.n_labels).astype(np.int32)


def _union(sorted_keys: Int, more: Int) -> Int:
    keys = np.concatenate([sorted_keys, more])
    keys.sort()
    return keys[starts_of_runs(keys)]


def _best(positions: Int, labels: Ids, score: Float) -> tuple[Int, Ids]:
    """The best N_CANDIDATES of each position that are within MARGIN of the best."""
    owner = owners(positions)
    order = np.lexsort((-score, owner))
    rank = np.arange(len(order)) - positions[owner]
    top = score[order[positions[:-1]]]
    kept = np.sort(order[(rank < N_CANDIDATES) & (score[order] >= top[owner] - MARGIN)])
    return offsets_of(np.bincount(owner[kept], minlength=len(positions) - 1)), labels[kept]


def _with_gold(positions: Int, labels: Ids, gold: Ids) -> tuple[Int, Ids]:
    owner = owners(positions)
    key = _union((owner << 31) + labels, (np.arange(len(gold)) << 31) + gold)
    return offsets_of(np.bincount(key >> 31, minlength=len(gold))), (key & ((1 << 31) - 1)).astype(np.int32)
