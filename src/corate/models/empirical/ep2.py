"""EP2: unknown words by exponential functions that are fitted to the known ones (000 §3.7.2).

    u(y, x)         = exp(Σ λ f(y, x)) / Σ_y …            fitted to P̃(y | x) of the known words
    v(y, y′, x, x′) = exp(Σ θ g(y, y′, x, x′)) / Σ_yy′ …  fitted to P̃(y, y′ | x, x′), over all label pairs
    ψ = u where a word is unknown,   φ = v / (ψ ψ′) where one of the two is

f are the label alone and the contexts of a word; g the label pair, and at either end the word and its
contexts. With pair="label" g is the label pair alone, and v its relative frequency, as in EP1.
Both are functions of the counts: they are fitted anew when counts change, and need nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from corate.arrays import Float, Ids, Int, check_room, offsets_of, ragged_arange
from corate.contexts.template import Context
from corate.counts.counts import Counts
from corate.counts.names import WORD_LABEL, WORD_PAIR
from corate.models.base import MOST_SCORES
from corate.models.empirical.factors import EmpiricalFactors, Words
from corate.models.loglinear.attributes import Sparse
from corate.models.loglinear.chains import Chains
from corate.models.loglinear.expectations import penalised, state_scores, transition_scores
from corate.models.loglinear.features import Features, observed, seen_features
from corate.models.loglinear.optimise import Report, Search, minimise
from corate.models.loglinear.pieces import distinct_edges, edge_chains, single_positions
from corate.models.loglinear.restore import checked_weights
from corate.rates.empirical import LabelRows, PairRates
from corate.text.corpus import Corpus

MAX_ITERATIONS = 10_000
# The penalty is small and the bottom flat: where other models stop (1e-5), 45 of 40,834 labels of Brown are
# not yet those of the optimum and depend on the path to it; at 1e-9 all are.
TOLERANCE = 1e-9
UNARY, PAIR = "unary", "pair"


@dataclass(frozen=True)
class Fit:
    """Features of u or of v, and the chains that their weights are fitted to."""

    features: Features
    pieces: Chains
    seen: Float

    def __call__(self, c2: float, search: Search, n_threads: int) -> Float:
        likelihood = penalised(self.features, self.pieces, self.seen, c2, n_threads)
        return minimise(likelihood, np.zeros(len(self.features)), search, "EmpiricalCRF, unknown='maxent'")


class ExponentialFactors(EmpiricalFactors):
    """ψ and φ of EP2. Known words and pairs of known words are as in EP1."""

    def __init__(self, counts: Counts, contexts: Sequence[Context]) -> None:
        super().__init__(counts, contexts)
        self.weights: dict[str, Float] = {}
        self._first = offsets_of(np.array([spelling.n_values for spelling in self.spelling], np.int64))
        self._values = np.empty((len(counts.words), len(self.spelling)), np.int64)  # of the known words
        for j, spelling in enumerate(self.spelling):
            self._values[:, j] = spelling.of_word
        self.fits = {UNARY: self._unary_fit()}
        if WORD_PAIR in counts.tables:
            self.fits[PAIR] = self._pair_fit()

    # Attributes of u are the label alone, then the values of contexts; those of v the words, then the same.

    def _rows(self, values: Int, first: Int, n_first: int) -> Sparse:
        moved = np.where(values >= 0, values + self._first[:-1] + n_first, -1)
        return Sparse.of(np.concatenate([first[:, None], moved], axis=1))

    def _unary_rows(self, values: Int) -> Sparse:
        return self._rows(values, np.zeros(len(values), np.int64), 1)

    def _pair_rows(self, values: Int, words: Int) -> Sparse:
        return self._rows(values, words, len(self.index))

    @property
    def _n_pair_attributes(self) -> int:
        return len(self.index) + int(self._first[-1])

    def _unary_fit(self) -> Fit:
        table = self.counts.tables[WORD_LABEL]
        rows = self._unary_rows(self._values[table.field(0)])
        chains = Chains.of(np.arange(len(table.n) + 1, dtype=np.int64), rows)
        chains, labels = chains.counting(table.n.astype(np.float64)), np.ascontiguousarray(table.field(1))
        features = seen_features(chains, labels, self.n_labels, 1 + int(self._first[-1]), transitions=False)
        return Fit(features, single_positions(chains), observed(features, chains, labels))

    def _pair_fit(self) -> Fit:
        table = self.counts.tables[WORD_PAIR]
        words = table.ids[:, :2].reshape(-1).astype(np.int64)
        rows = self._pair_rows(self._values[words], words)
        chains = Chains.of(2 * np.arange(len(table.n) + 1, dtype=np.int64), rows)
        chains, labels = chains.counting(table.n.astype(np.float64)), table.ids[:, 2:].reshape(-1)
        n = self._n_pair_attributes
        edges, edge_labels = edge_chains(chains, labels, n)
        features = seen_features(edges, edge_labels, self.n_labels, 2 * n)
        return Fit(features, distinct_edges(chains, n), observed(features, edges, edge_labels))

    def fit(self, c2: float, n_threads: int, report: Report | None = None) -> list[dict[str, Any]]:
        """Find the weights; what was done on the way."""
        log = []
        for name, fit in self.fits.items():
            search = Search(MAX_ITERATIONS, TOLERANCE, report)
            self.weights[name] = fit(c2, search, n_threads)
            log += [entry | {"factor": name} for entry in search.log]
        return log

    def take(self, weights: dict[str, Any]) -> None:
        """Weights that were fitted before, or ValueError if they are not those of the counts."""
        for name, fit in self.fits.items():
            if name not in weights:
                raise ValueError(f"the weights of the {name} factor are missing")
            checked_weights(weights[name], len(fit.features), f"the {name} factor")
        self.weights = {name: weights[name] for name in self.fits}

    def unknown_candidates(self, values: tuple[int, ...]) -> tuple[Ids, Float]:
        """Every label, and log u."""
        if values not in self._unknown:
            rows = self._unary_rows(np.array([values], np.int64).reshape(1, -1))
            scores = state_scores(self.fits[UNARY].features, rows, self.weights[UNARY])[0]
            labels = np.arange(self.n_labels, dtype=np.int32)
            self._unknown[values] = labels, scores - np.logaddexp.reduce(scores)
        return self._unknown[values]

    def _pair_sources(self, words: Words, a: Ids, b: Ids) -> list[tuple[PairRates, Int]]:
        return [(self.word_pairs, self.word_pairs.find(words.known[a], words.known[b]))]

    def _edges(self, corpus: Corpus, words: Words, candidates: LabelRows) -> tuple[Int, Float]:
        """Blocks of log φ; where a word is unknown, φ = v / (ψ ψ′)."""
        edges, scores = super()._edges(corpus, words, candidates)
        right = np.flatnonzero(~corpus.begins())
        strange = words.known < 0
        codes = corpus.words.codes
        right = right[strange[codes[right - 1]] | strange[codes[right]]]
        if not len(right):
            return edges, scores
        a, b = codes[right - 1], codes[right]
        sizes = np.diff(edges)
        sizes[right] = candidates.lengths[a] * candidates.lengths[b]
        check_room(int(sizes.sum()), f"pairs of {self.n_labels:,} labels at every token")
        made = offsets_of(sizes)
        blocks = np.empty(made[-1])
        seen = np.flatnonzero(np.diff(edges) > 0)
        blocks[ragged_arange(made[seen], sizes[seen])] = scores
        ends, terms = np.cumsum(sizes[right]), self._strange(words)
        cuts = [0, *np.searchsorted(ends, np.arange(MOST_SCORES, ends[-1], MOST_SCORES)).tolist(), len(right)]
        for first, last in pairwise(cuts):  # some edges at a time: each takes many numbers more
            some = slice(first, last)
            places = ragged_arange(made[right[some]], sizes[right[some]])
            blocks[places] = terms.log_rates(candidates, a[some], b[some])
        return made, blocks

    def _strange(self, words: Words) -> Strange:
        features, weights = self.fits[PAIR].features, self.weights[PAIR]
        values = np.empty((len(words.known), self._values.shape[1]), np.int64)
        is_known = words.known >= 0
        values[is_known], values[~is_known] = self._values[words.known[is_known]], words.values
        rows = self._pair_rows(values, words.known)
        moved = Sparse(rows.offsets, rows.ids + np.int32(self._n_pair_attributes))
        left, right = (state_scores(features, side, weights) for side in (rows, moved))
        psi = self.candidates(words, 1.0).scores  # whatever μ_oov is
        return Strange(left, right, transition_scores(features, weights), psi)


@dataclass(frozen=True)
class Strange:
    """Terms of log v of the distinct words of a batch, and their log ψ."""

    left: Float  # words × labels
    right: Float
    pair: Float  # labels × labels
    psi: Float  # of each candidate

    @cached_property
    def _onward(self) -> Float:
        """Σ_y′ exp(pair) exp(right), the largest of each taken out."""
        top = self.right.max(axis=1)[:, None]
        return np.asarray(np.exp(self.right - top) @ np.exp(self.pair - self.pair.max()).T)

    def log_rates(self, candidates: LabelRows, a: Ids, b: Ids) -> Float:
        """log φ = log v − log ψ − log ψ′ of all pairs of candidates of the words a and b, block by block."""
        # log Z = log Σ_y exp(left) Σ_y′ exp(pair) exp(right), the largest taken out first
        top = self.left.max(axis=1)
        total = (np.exp(self.left[a] - top[a][:, None]) * self._onward[b]).sum(axis=1)
        log_z = np.log(total) + top[a] + self.right.max(axis=1)[b] + self.pair.max()
        sizes = candidates.lengths[a] * candidates.lengths[b]
        edge = np.repeat(np.arange(len(a)), sizes)
        cell = np.arange(len(edge)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        row = candidates.offsets[a][edge] + cell // candidates.lengths[b][edge]
        column = candidates.offsets[b][edge] + cell % candidates.lengths[b][edge]
        y, z = candidates.labels[row], candidates.labels[column]
        v = self.left[a[edge], y] + self.right[b[edge], z] + self.pair[y, z] - log_z[edge]
        return np.asarray(v - self.psi[row] - self.psi[column])
