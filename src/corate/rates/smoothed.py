"""Smoothing: the formulas by which counts become the Tagger's probabilities and rates (docs/mathematics.md).

    P(y)           = (#(y) + prior_count) / …
    P(y | f)       = (#(f, y) + a · P(y | parent(f))) / (#(f) + a),    a = α · number of labels seen with f
    log CR(y; f | parent(f)) = log P(y | f) − log P(y | parent(f));    0 for a context that training never saw
    CR(y; y′)      from #(y, y′) + pair_count · P(y) P(y′) √N, renormalised; the same with start and end
    CR(y; y″ | y′) = P(y″ | y, y′) / P(y″ | y′), the former smoothed with the latter (triples.py)
    CR(y; y′ | f)  the joint P(y, y′ | f) smoothed with P(y, y′), its margins with P(y) and P(y′)

The parent of a context is the nearest of those that it falls back to (`Context.parents`) among those in use;
without one it is nothing, and P(y | nothing) = P(y). A context says only what its parent does not: by the
chain rule of co-occurrence rates, CR(y; f) = CR(y; parent) · CR(y; f | parent), as f tells its parent.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from corate.arrays import Float, Ids, Int
from corate.counts.counts import Counts
from corate.counts.names import FIRST_LABEL, LABEL, LABEL_PAIR, LABEL_TRIPLE, LAST_LABEL
from corate.counts.table import Table
from corate.rates.triples import TripleRates


@dataclass(frozen=True)
class Smoothing:
    """Chosen on held-out data: Brown's 1,000 sentences and CoNLL-2002 Dutch testa (docs/findings.md)."""

    alpha: float = 1.5  # how much of its own evidence a context gives to its parent
    prior_count: float = 0.1
    pair_count: float = 0.5
    bounds: tuple[int, ...] = (1, 2, 4, 11, 101)  # of buckets of a context's own count: 0, 1, 2–3, 4–10, …

    @property
    def n_buckets(self) -> int:
        return len(self.bounds) + 1

    def buckets(self, n: Int) -> Int:
        """The bucket of each count: how many bounds it reaches."""
        return np.digitize(n, self.bounds)


SMOOTHING = Smoothing()


def smooth(n: Any, total: Any, a: Any, above: Any) -> Any:
    """P(y | f) = (#(f, y) + a P(y | parent)) / (#(f) + a); P(y | parent) where f was never seen."""
    return np.where(total > 0, (n + a * above) / np.where(total > 0, total + a, 1), above)


def left_over(total: Any, a: Any) -> Any:
    """What P(y | f) leaves to all labels that were not seen with f: a / (#(f) + a)."""
    return a / (total + a)


def pair_log_rate(n: Float, left: Ids, right: Ids, prior: Float, pair: Float, alpha: float) -> Float:
    """log CR(y; y′ | f) − log CR(y; y′) of left × right labels, where f was seen n[y, y′] times with them.

    P(y, y′ | f) = (#(f, y, y′) + a P(y, y′)) / (#(f) + a), P(y | f) = (#(f, y) + a P(y)) / (#(f) + a);
    a = α · pairs seen with f.
    """
    ends, a = np.ix_(left, right), alpha * np.count_nonzero(n)
    joint = n[ends] + a * np.outer(prior[left], prior[right]) * np.exp(pair[ends])
    before, after = n.sum(axis=1)[left] + a * prior[left], n.sum(axis=0)[right] + a * prior[right]
    return np.asarray(np.log(joint * (n.sum() + a) / np.outer(before, after)) - pair[ends])


class LabelRates:
    """What counts say of labels alone: P(y), CR(y; y′), CR(y; START), CR(y; END), CR(y; y″ | y′)."""

    def __init__(self, counts: Counts, without: Counts | None, smoothing: Smoothing) -> None:
        """`without`: counts of some of the same sentences, under the same ids, that are to be left out."""
        self._counts, self._without, self._smoothing = counts, without, smoothing
        self.n_labels = len(counts.labels)

    def table(self, name: str) -> Table:
        """A table with what is left out left out."""
        table = self._counts.tables[name]
        return table if self._without is None else table - self._without.tables[name]

    def _tally(self, name: str, shape: tuple[int, ...]) -> Float:
        table, tally = self.table(name), np.zeros(shape)
        tally[tuple(table.ids.T)] = table.n
        return tally

    @cached_property
    def prior(self) -> Float:
        """P(y)."""
        n = self._tally(LABEL, (self.n_labels,)) + self._smoothing.prior_count
        prior: Float = n / n.sum()
        return prior

    @cached_property
    def log_prior(self) -> Float:
        return np.log(self.prior)

    @cached_property
    def pair(self) -> Float:
        """log CR(y; y′)."""
        rate = self._tally(LABEL_PAIR, (self.n_labels, self.n_labels))
        share = self._smoothing.pair_count * np.sqrt(max(1, rate.sum()))
        for y in range(self.n_labels):  # row by row: with thousands of labels the matrix is large
            rate[y] += share * self.prior[y] * self.prior
        total = rate.sum()
        for y in range(self.n_labels):
            rate[y] = np.log(rate[y] / total) - self.log_prior[y] - self.log_prior
        return rate

    @cached_property
    def start(self) -> Float:
        """log CR(y; START)."""
        return self._boundary(FIRST_LABEL)

    @cached_property
    def end(self) -> Float:
        """log CR(y; END)."""
        return self._boundary(LAST_LABEL)

    def _boundary(self, name: str) -> Float:
        n = self._tally(name, (self.n_labels,))
        n = n + self._smoothing.pair_count * self.prior * np.sqrt(max(1, n.sum()))
        return np.asarray(np.log(n / n.sum()) - self.log_prior, np.float64)

    @cached_property
    def triple(self) -> TripleRates:
        """log CR(y; y″ | y′)."""
        return TripleRates(self.table(LABEL_TRIPLE), self.pair, self.log_prior, self._smoothing.alpha)
