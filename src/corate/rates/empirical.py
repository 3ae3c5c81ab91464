"""Counts → probabilities and log co-occurrence rates: the papers' estimators, unsmoothed.

    P̃(y | f)             = #(f, y) / #(f)                                       000 eqn 12
    CR(y; y′)            = P̃(y, y′) / (P̃(y) P̃(y′))                             000 eqn 1
    CR(y; y′ | f, f′)    = P̃(y, y′ | f, f′) / (P̃(y | f) P̃(y′ | f′))            000 eqn 13

f is the word where training knows it, and a context of the word where it does not (000 §3.7.1, 002 §III-D);
in a rate all three probabilities are conditioned on the same f, f′.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from corate.arrays import Float, Ids, Int
from corate.counts.table import Table

# log 0 of a factor that was never observed: the limit ε → 0 of log ε. A sequence with fewer unobserved
# factors wins (unless the observed ones differ by e^100000, which takes thousands of tokens), and among
# sequences with equally many the observed ones decide; exp(LOG_ZERO) is exactly 0. −∞ is for constraints.
LOG_ZERO = -1e5

LABEL_BITS = 31  # labels are int32: a context and a label fit into one int64


@dataclass(frozen=True)
class LabelRows:
    """Labels of every context value f with a score each: rows offsets[f]:offsets[f + 1], labels ascending."""

    offsets: Int
    labels: Ids
    scores: Float

    @property
    def lengths(self) -> Int:
        return np.diff(self.offsets)

    def rows(self, context: int) -> slice:
        return slice(int(self.offsets[context]), int(self.offsets[context + 1]))

    @cached_property
    def _keys(self) -> Int:
        contexts: Int = np.repeat(np.arange(len(self.lengths), dtype=np.int64), self.lengths)
        return (contexts << LABEL_BITS) + self.labels

    def find(self, context: npt.NDArray[np.integer], label: Ids) -> Int:
        """Row of each (context, label), which must be there."""
        return np.searchsorted(self._keys, (context.astype(np.int64) << LABEL_BITS) + label)


@dataclass(frozen=True)
class Conditional(LabelRows):
    """scores = log P̃(y | f) and support = #(f, y)."""

    support: Int

    @classmethod
    def from_table(cls, table: Table, n_contexts: int) -> Conditional:
        """From a table (context, label)."""
        context = table.field(0)
        total = np.bincount(context, weights=table.n, minlength=n_contexts)
        offsets = np.zeros(n_contexts + 1, np.int64)
        np.cumsum(np.bincount(context, minlength=n_contexts), out=offsets[1:])
        log_prob = np.log(table.n / total[context])
        return cls(offsets, np.ascontiguousarray(table.field(1)), log_prob, table.n)

    def followed_by(self, other: Conditional) -> Conditional:
        """One for the context values of both; those of `other` are numbered after ours."""
        return Conditional(
            np.concatenate([self.offsets[:-1], other.offsets + self.offsets[-1]]),
            np.concatenate([self.labels, other.labels]),
            np.concatenate([self.scores, other.scores]),
            np.concatenate([self.support, other.support]),
        )


def label_log_prob(table: Table, n_labels: int) -> Float:
    """log P̃(y), from the table (word, label)."""
    n = np.bincount(table.field(1), weights=table.n, minlength=n_labels)
    return np.asarray(np.log(n / n.sum()), np.float64)


def label_log_rate(pairs: Table, log_prob: Float) -> Float:
    """log CR(y; y′) as a matrix, from the table (label, label); LOG_ZERO where the pair never occurred."""
    rate = np.full((len(log_prob), len(log_prob)), LOG_ZERO)
    y, y_next = pairs.field(0), pairs.field(1)
    rate[y, y_next] = np.log(pairs.n / pairs.n.sum()) - log_prob[y] - log_prob[y_next]
    return rate


@dataclass(frozen=True)
class PairRates:
    """log CR(y; y′ | f, f′) for every pair of context values that occurred: rows offsets[k]:offsets[k + 1]
    belong to the pair keys[k] = f · width + f′."""

    keys: Int
    width: int
    offsets: Int
    left: Ids
    right: Ids
    log_rate: Float

    @classmethod
    def from_table(cls, table: Table, unary: Conditional) -> PairRates:
        """From a table (f, f′, y, y′) and the probabilities P̃(y | f) of all values on either side."""
        f, f_next, y, y_next = table.ids.T
        width = len(unary.lengths)
        keys, first = np.unique(f.astype(np.int64) * width + f_next, return_index=True)
        offsets = np.append(first, len(table.n))
        total = np.add.reduceat(table.n, first) if len(first) else np.empty(0, np.int64)
        log_joint = np.log(table.n / np.repeat(total, np.diff(offsets)))
        log_rate = log_joint - unary.scores[unary.find(f, y)] - unary.scores[unary.find(f_next, y_next)]
        return cls(keys, width, offsets, np.ascontiguousarray(y), np.ascontiguousarray(y_next), log_rate)

    def find(self, f: Int, f_next: Int) -> Int:
        """Index into `keys` of each pair, −1 where it never occurred (or either side is −1)."""
        if not len(self.keys):
            return np.full(len(f), -1, np.int64)
        key = f * self.width + f_next
        place = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
        return np.where((self.keys[place] == key) & (f >= 0) & (f_next >= 0), place, -1)
