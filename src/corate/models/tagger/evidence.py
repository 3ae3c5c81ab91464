"""The Tagger's lattice: candidate labels of each position, and their weighted co-occurrence rates.

    score(y at i)     = λ₀ log P(y) + β_y + Σⱼ (λ_{j,b} + δ_{j,y}) log CR(y; fⱼ(x, i) | parent(fⱼ))
    score(y, y′)      = τ log CR(y; y′) + Σₛ τₛ [log CR(y; y′ | fₛ(x, i)) − log CR(y; y′)]
    score(y, y′, y″)  = τ₂ log CR(y; y″ | y′)
    first and last    + τ_start log CR(y; START), + τ_end log CR(y; END)

b is the bucket of the context's own count. What depends on a token alone is done once for each distinct one
(a *kind* of token: in most corpora, a word): its candidates are the labels that its contexts were seen with,
most specific context first, ranked by all of them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from corate._native import kernels, native
from corate.arrays import Float, Ids, Int, offsets_of, owners, pack, ragged_arange, starts_of_runs
from corate.contexts.values import column_of
from corate.counts.table import Table
from corate.lattice.lattice import Lattice, end_candidates
from corate.lattice.narrow import keep, max_marginals
from corate.lattice.triple_blocks import triple_ends, triple_offsets
from corate.rates.lookup import ALPHA, BUCKETS, Buckets, Rates, Values
from corate.rates.triples import Triples
from corate.text.corpus import Column, Corpus

N_BUCKETS = len(BUCKETS) + 1
N_CANDIDATES = 8
POOL = 16  # labels that are looked at before the best are taken
MARGIN = 14.0  # candidates whose score is this far (in nats) below the best of their kind are dropped
ENOUGH = 1e-3  # further labels are not looked at once P(y | f) leaves them no more than this
KIND_MARGIN = 6.0  # the same under the model's own weights
MOST_VALUES = (
    2_500_000  # tokens × contexts that are looked at together: with hundreds of features, fewer tokens
)
PATH_MARGIN = 7.0  # and so are those whose best sequence is this far below the best one

# Fixed weights for contexts that have none of their own (model.md §2).
PRIOR, CONTEXTS, PAIR, TRIPLE = 0.85, 3.2, 0.6, 0.3
SINGLES = ("prior", "pair", "start", "end", "triple")


@cache
def common_weights() -> dict[str, Any]:
    """Made by experiments/common_weights.py: one set for several corpora, of the contexts in `WORDS`."""
    text = (Path(__file__).parent / "common_weights.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


@dataclass(frozen=True)
class Weights:
    """Exponents of the rates, the letters of the formula above."""

    prior: float  # λ₀
    pair: float  # τ
    start: float
    end: float
    triple: float  # τ₂
    pairs: Float  # τₛ
    contexts: Float  # λ, buckets × contexts
    labels: Float  # β
    contexts_by_label: Float  # δ, labels × contexts

    @classmethod
    def fixed(cls, rates: Rates) -> Weights:
        """Those that come with the package, where all the contexts are in use that they were made for; for
        others, an equal `share`. They are also where the fit begins, and what it is drawn to."""
        names, pairs = [str(c) for c in rates.contexts], [str(c) for c in rates.of_pairs.contexts]
        zeros = np.zeros(rates.n_labels), np.zeros((rates.n_labels, len(names)))
        common = common_weights()
        by_bucket = np.full((N_BUCKETS, len(names)), share(rates))
        singles = [PRIOR, PAIR, PAIR, PAIR, TRIPLE]
        if set(common["contexts"]) <= set(names):  # they belong together
            singles = [common[name] for name in SINGLES]
            # Others, such as those of further columns, count for each context that falls back to them.
            beside = rates.n_below * (CONTEXTS / len(names))
            for j, name in enumerate(names):
                by_bucket[:, j] = common["contexts"].get(name, beside[j])
        of_pairs = np.array([common["pairs"].get(name, 0.0) for name in pairs], np.float64)
        prior, pair, start, end, triple = singles
        return cls(prior, pair, start, end, triple, of_pairs, by_bucket, *zeros)

    def vector(self) -> Float:
        numbers = [self.prior, self.pair, self.start, self.end, self.triple]
        parts = self.pairs, self.contexts.ravel(), self.labels, self.contexts_by_label.ravel()
        return np.concatenate([numbers, *parts])

    def bounds(self) -> list[tuple[float | None, float | None]]:
        """What a fit may make of each number: evidence for a label is never turned against it (λ ≥ 0)."""
        first = len(SINGLES) + len(self.pairs)
        free: list[tuple[float | None, float | None]] = [(None, None)] * len(self.vector())
        free[first : first + self.contexts.size] = [(0.0, None)] * self.contexts.size
        return free

    @classmethod
    def from_vector(cls, vector: Float, rates: Rates) -> Weights:
        return cls._of(vector, len(rates.contexts), len(rates.of_pairs.contexts), rates.n_labels)

    def like(self, vector: Float) -> Weights:
        """Other numbers in the same shape."""
        return self._of(vector, self.contexts.shape[1], len(self.pairs), len(self.labels))

    @classmethod
    def _of(cls, vector: Float, n_contexts: int, n_pairs: int, n_labels: int) -> Weights:
        sizes = (
            len(SINGLES),
            n_pairs,
            n_contexts * N_BUCKETS,
            n_labels,
            n_labels * n_contexts,
        )
        if vector.shape != (sum(sizes),):
            raise ValueError(f"{vector.shape} weights for {n_contexts} contexts and {n_labels} labels")
        singles, pairs, contexts, labels, by_label = np.split(vector, np.cumsum(sizes)[:-1])
        prior, pair, start, end, triple = singles.tolist()
        by_bucket = contexts.reshape(N_BUCKETS, n_contexts)
        by_label = by_label.reshape(n_labels, n_contexts)
        return cls(prior, pair, start, end, triple, pairs, by_bucket, labels, by_label)

    def relabelled(self, labels: Sequence[str], others: Sequence[str]) -> Weights:
        """The same for other labels: those that were not there before have no β and δ of their own."""
        place = {label: y for y, label in enumerate(labels)}
        kept = [(y, place[label]) for y, label in enumerate(others) if label in place]
        to, of = np.array(kept, np.int64).reshape(-1, 2).T
        bias, by_label = np.zeros(len(others)), np.zeros((len(others), self.contexts.shape[1]))
        bias[to], by_label[to] = self.labels[of], self.contexts_by_label[of]
        return replace(self, labels=bias, contexts_by_label=by_label)


def mean_weights(
    weights: Sequence[tuple[Weights, Sequence[str]]], shares: Sequence[float], labels: Sequence[str]
) -> Weights:
    """The mean of weights over their own labels each; one set that all have stays what it is.

    Sums are rounded once (fsum), so that the order of the models does not matter.
    """
    each = [w.relabelled(own, labels) for w, own in weights]
    vectors = np.stack([w.vector() for w in each])
    if (vectors == vectors[0]).all():
        return each[0]
    means = [math.fsum(column) for column in (vectors * np.array(shares)[:, None]).T.tolist()]
    return each[0].like(np.array(means))


def share(rates: Rates) -> float:
    """Equal exponents for all contexts. Rates of a chain of parents multiply to the rate of its last context:
    each chain, which is to say each context without a parent, has its share of CONTEXTS."""
    return CONTEXTS / max(1, rates.parents.count(-1))


@dataclass(frozen=True)
class Rows:
    """Candidates of some positions, with the rates of some contexts."""

    positions: Int
    labels: Ids
    rates: Values  # candidates × contexts
    buckets: Buckets  # positions × contexts

    def weigh(
        self,
        by_bucket: Float,
        by_label: Float,
        scores: Float,
        skip_single: bool = False,
    ) -> None:
        """scores += Σⱼ (λ_{b,j} + δ_{y,j}) log CR(y; fⱼ | …), perhaps not for one without rivals."""
        if native():
            weights = np.ascontiguousarray(by_bucket), np.ascontiguousarray(by_label)
            kernels.weigh(*self._arrays(), *weights, skip_single, scores)
            return
        here = by_bucket[self.buckets, np.arange(self.rates.shape[1])]
        here = np.repeat(here, np.diff(self.positions), axis=0)
        added = ((here + by_label[self.labels]) * self.rates).sum(axis=1)
        scores += np.where(skip_single & self._is_only(), 0.0, added)

    def scores(self, weights: Weights, log_prior: Float) -> Float:
        """λ₀ log P(y) + β_y + Σⱼ …, of the first contexts that the weights are for."""
        n = self.rates.shape[1]
        scores: Float = weights.prior * log_prior[self.labels] + weights.labels[self.labels]
        self.weigh(weights.contexts[:, :n], weights.contexts_by_label[:, :n], scores)
        return scores

    def unweigh(self, surplus: Float, n_labels: int) -> tuple[Float, Float]:
        """The gradient of surplus · scores in λ and in δ."""
        n_contexts = self.rates.shape[1]
        by_bucket, by_label = np.zeros((N_BUCKETS, n_contexts)), np.zeros((n_labels, n_contexts))
        if native():
            kernels.unweigh(*self._arrays(), surplus, by_bucket, by_label)
            return by_bucket, by_label
        weighted = np.where(self._is_only(), 0.0, surplus)[:, None] * self.rates
        np.add.at(by_label, self.labels, weighted)
        buckets = np.repeat(self.buckets, np.diff(self.positions), axis=0)
        np.add.at(by_bucket, (buckets, np.arange(n_contexts)), weighted)
        return by_bucket, by_label

    def _is_only(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        width = np.diff(self.positions)
        return np.repeat(width == 1, width)

    def _arrays(self) -> tuple[Values, Buckets, Int, Ids]:
        return self.rates.reshape(-1), self.buckets.reshape(-1), self.positions, self.labels


@dataclass(frozen=True)
class Evidence:
    """What a batch of sentences shows, before it is weighted."""

    sentences: Int
    kinds: Rows  # candidates of each kind of token, and the contexts of the token alone
    kind_of: Ids  # the kind of each token
    sources: Int  # the row of `kinds` of each candidate
    tokens: Rows  # candidates of each token, and the contexts that look around
    log_prior: Float  # of each label
    start: Float  # log CR(y; START) of each label
    end: Float
    pair: Float  # log CR(y; y′), labels × labels

    def lattice(self, weights: Weights) -> Lattice:
        """The candidates with their scores, up to pairs of labels."""
        n = self.kinds.rates.shape[1]
        scores = self.kinds.scores(weights, self.log_prior)[self.sources]
        self.tokens.weigh(weights.contexts[:, n:], weights.contexts_by_label[:, n:], scores)
        first, last = end_candidates(self.sentences, self.tokens.positions)
        scores[first] += weights.start * self.start[self.tokens.labels[first]]
        scores[last] += weights.end * self.end[self.tokens.labels[last]]
        no_edges = np.zeros(len(self.tokens.positions), np.int64)
        return Lattice(
            self.sentences,
            self.tokens.positions,
            self.tokens.labels,
            scores,
            weights.pair * self.pair,
            no_edges,
            np.empty(0),
        )

    def rows(self, kept: np.ndarray[tuple[int], np.dtype[np.bool_]] | None = None) -> Rows:
        """All contexts side by side, of all candidates or of those that are kept."""
        chosen = np.arange(len(self.sources)) if kept is None else np.flatnonzero(kept)
        width = np.bincount(owners(self.tokens.positions)[chosen], minlength=len(self.kind_of))
        return Rows(
            offsets_of(width),
            self.tokens.labels[chosen],
            np.hstack([self.kinds.rates[self.sources[chosen]], self.tokens.rates[chosen]]),
            np.hstack([self.kinds.buckets[self.kind_of], self.tokens.buckets]),
        )


def refine(
    lattice: Lattice,
    rates: Rates,
    weights: Weights,
    corpus: Corpus,
    n_threads: int = 1,
    everything: bool = False,
) -> Lattice:
    """Of the candidates whose best sequence is within a margin of the best one, the lattice of the second
    order, with what contexts say of pairs of labels.

    Unless `everything` is asked for, contexts are looked at where a pair has rivals.
    """
    kept = keep(lattice, max_marginals(lattice, n_threads) >= -PATH_MARGIN)
    if len(weights.pairs):
        found = rates.pair_rates(corpus, kept.positions, kept.labels, kept.edges, not everything, n_threads)
        kept.edge_scores[:] += found @ weights.pairs
    triples = triple_offsets(kept)
    scores = weights.triple * triple_rates(kept, triples, rates.triple, n_threads)
    return replace(kept, triples=triples, triple_scores=scores)


def triple_rates(x: Lattice, triples: Int, triple: Triples, n_threads: int = 1) -> Float:
    """log CR(y; y″ | y′) of every triple of candidates."""
    if native():
        return triple.native(x.native, n_threads)
    return triple.rates(*(x.labels[end] for end in triple_ends(x, triples)))


def evidence(
    rates: Rates,
    corpus: Corpus,
    n_threads: int = 1,
    gold: Ids | None = None,
    weights: Weights | None = None,
    margin: float = KIND_MARGIN,
    everything: bool = True,
) -> Evidence:
    """Candidates of every token and the rates of their contexts.

    `gold` labels are candidates in any case, wherever their kind of token stands; with `weights` fewer of the
    others are. Unless `everything` is asked for, tokens with one candidate are settled, and looked at no
    further."""
    typical, kind_of = kinds_of(rates, corpus)
    required = required_labels(gold, kind_of)
    kinds, prob = candidates(rates, typical, required, n_threads)
    if weights is not None:
        kept = close(kinds, kinds.scores(weights, rates.log_prior), required, margin)
        width = np.bincount(owners(kinds.positions)[kept], minlength=typical.n_tokens)
        kinds = Rows(offsets_of(width), kinds.labels[kept], kinds.rates[kept], kinds.buckets)
        prob = prob[kept]
    width = np.diff(kinds.positions)[kind_of]
    positions, sources = offsets_of(width), ragged_arange(kinds.positions[kind_of], width)
    labels = kinds.labels[sources]
    around = rates.log_rates(
        rates.around, corpus, positions, labels, prob, sources, not everything, n_threads
    )
    return Evidence(
        corpus.offsets,
        kinds,
        kind_of,
        sources,
        Rows(positions, labels, *around),
        rates.log_prior,
        rates.start,
        rates.end,
        rates.pair,
    )


def kinds_of(rates: Rates, corpus: Corpus) -> tuple[Corpus, Ids]:
    """Tokens that differ in what contexts of the token alone look at, and the kind of every token."""
    columns = list(dict.fromkeys(atom.column for atom in rates.alone.views))
    found = [column for atom in rates.alone.views if (column := column_of(corpus, atom)) is not None]
    if len(columns) == 1 and found and not corpus.keys:
        k = [column is found[0] for column in corpus.columns].index(True)
        n = len(found[0].values)
        others = [Column(np.zeros(n, np.int32), [""]) for _ in corpus.columns]
        others[k] = Column(np.arange(n, dtype=np.int32), found[0].values)
        return Corpus(tuple(others), None, np.array([0, n]), corpus.keys), found[0].codes
    distinct = {id(column): column for column in found}.values()
    bits = [max(1, len(column.values)).bit_length() for column in distinct]
    if sum(bits) > 63:  # too many parts to compare at once: each token is a kind of its own
        return corpus, np.arange(corpus.n_tokens, dtype=np.int32)
    key = pack((column.codes for column in distinct), bits) + np.zeros(corpus.n_tokens, np.int64)
    _, first, kind_of = np.unique(key, return_index=True, return_inverse=True)
    typical = tuple(Column(column.codes[first], column.values) for column in corpus.columns)
    return Corpus(typical, None, np.array([0, len(first)]), corpus.keys), kind_of.astype(np.int32)


def close(
    kinds: Rows, scores: Float, required: tuple[Int, Ids], margin: float
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Candidates that are within a margin of the best one of their kind, or required."""
    if not len(scores):
        return np.zeros(0, bool)
    owner = owners(kinds.positions)
    close: np.ndarray[tuple[int], np.dtype[np.bool_]]
    close = scores >= np.maximum.reduceat(scores, kinds.positions[:-1])[owner] - margin
    first, must = required
    if len(first):
        close |= np.isin((owner << 31) + kinds.labels, (owners(first) << 31) + must)
    return close


def required_labels(gold: Ids | None, kind_of: Ids) -> tuple[Int, Ids]:
    """The gold labels of each kind of token."""
    if gold is None:
        return np.empty(0, np.int64), np.empty(0, np.int32)
    table = Table.of([kind_of[gold >= 0], gold[gold >= 0]])
    n = np.bincount(table.field(0), minlength=int(kind_of.max(initial=-1)) + 1)
    return offsets_of(n), np.ascontiguousarray(table.field(1))


def candidates(
    rates: Rates,
    typical: Corpus,
    required: tuple[Int, Ids] | None = None,
    n_threads: int = 1,
) -> tuple[Rows, Float]:
    """Candidate labels of each kind of token with the rates of its own contexts, and P(y | f) beside them."""
    group = rates.alone
    n_kinds, n = typical.n_tokens, len(group.contexts)
    first_required, must = required or required_labels(None, np.empty(0, np.int32))
    most = max(N_CANDIDATES, int(np.diff(first_required).max(initial=0)))
    ranked = np.argsort(-rates.n_values, kind="stable").astype(np.int32)
    likely = np.argsort(-rates.prior, kind="stable")[:POOL].astype(np.int32)
    weight = share(rates)
    if not native():
        return _candidates(rates, typical, first_required, must, most, ranked, likely, weight)
    n_kept = np.zeros(n_kinds, np.int32)
    labels = np.zeros((n_kinds, most), np.int32)
    prob, values = np.zeros((n_kinds, most, n)), np.zeros((n_kinds, most, n), np.float32)
    buckets = np.zeros((n_kinds, n), np.int8)
    kernels.candidates(
        *rates.native(group), *group.layout(), *rates.tokens(group, typical), rates.prior, rates.log_prior,
        ALPHA, ranked, likely, first_required, must, POOL, most, weight, PRIOR, MARGIN, ENOUGH, n_kept,
        *(out.reshape(-1) for out in (labels, prob, values, buckets)), n_threads,
    )  # fmt: skip
    kept = np.arange(most) < n_kept[:, None]
    return Rows(offsets_of(n_kept.astype(np.int64)), labels[kept], values[kept], buckets), prob[kept]


def _candidates(
    rates: Rates,
    typical: Corpus,
    first_required: Int,
    must: Ids,
    most: int,
    ranked: Ids,
    likely: Ids,
    weight: float,
) -> tuple[Rows, Float]:
    """The same in NumPy."""
    group, n_kinds, n_labels = rates.alone, typical.n_tokens, rates.n_labels
    pairs = _pools(rates, typical, ranked, likely)
    must_pairs = np.empty(0, np.int64)
    if len(first_required):
        must_pairs = owners(first_required) * n_labels + must
        pairs = _union(pairs, must_pairs)
    positions = offsets_of(np.bincount(pairs // n_labels, minlength=n_kinds))
    labels = (pairs % n_labels).astype(np.int32)
    values, buckets = rates.log_rates(group, typical, positions, labels)
    score = values.sum(axis=1) * weight + PRIOR * rates.log_prior[labels]
    owner = owners(positions)
    forced = np.isin(pairs, must_pairs)
    order = np.lexsort((-score, owner))
    top = score[order[positions[:-1]]]
    free = most - np.bincount(owner[forced], minlength=n_kinds)
    unforced = ~forced[order]
    before: Int = np.cumsum(unforced) - unforced  # the free ones before each
    rank: Int = before - before[positions[:-1]][owner]
    chosen = forced[order] | ((rank < free[owner]) & (score[order] >= top[owner] - MARGIN))
    kept = np.sort(order[chosen])
    positions = offsets_of(np.bincount(owner[kept], minlength=n_kinds))
    rows = Rows(positions, labels[kept], values[kept], buckets)
    prob = np.exp(rows.rates.astype(np.float64))
    for j, parent in enumerate(group.parents.tolist()):
        prob[:, j] *= rates.prior[rows.labels] if parent < 0 else prob[:, parent]
    return rows, prob


def _pools(rates: Rates, typical: Corpus, ranked: Ids, likely: Ids) -> Int:
    """kind · labels + label of the labels seen with each kind's contexts, one after another, until there are
    enough; the likely ones where none was seen."""
    group, n_labels, n_kinds = rates.alone, rates.n_labels, typical.n_tokens
    tables, queries = rates.tables(group), rates.queries(group, typical)
    pairs = np.empty(0, np.int64)
    left = np.ones(n_kinds)  # what P(y | f) leaves to further labels
    for j in ranked.tolist():
        short = np.bincount(pairs // n_labels, minlength=n_kinds) < min(POOL, n_labels)
        kinds = np.flatnonzero(short & (left > ENOUGH))
        left[kinds] = 1.0
        place = np.where(queries[j, kinds] >= 0, tables.find(j, queries[j, kinds]), -1)
        kinds, place = kinds[place >= 0], place[place >= 0]
        n_rows = np.diff(tables.first_row)[place]
        left[kinds] = ALPHA * n_rows / (tables.totals[place] + ALPHA * n_rows)
        rows = ragged_arange(tables.first_row[place], n_rows)
        pairs = _union(pairs, np.repeat(kinds, n_rows) * n_labels + tables.row_labels[rows])
    empty = np.flatnonzero(np.bincount(pairs // n_labels, minlength=n_kinds) == 0)
    return _union(pairs, (empty[:, None] * n_labels + likely).ravel())


def _union(sorted_keys: Int, more: Int) -> Int:
    keys = np.concatenate([sorted_keys, more])
    keys.sort()
    return keys[starts_of_runs(keys)]
