"""Rates of label triples: what the label two before adds to what the label before says."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from corate._native import kernels
from corate.arrays import Float, Ids, Int, owners, starts_of_runs
from corate.counts.table import Table


class TripleRates:
    """log CR(y; y″ | y′): what the label before the last one adds to what the last one says.

    P(y″ | y, y′) = (#(y, y′, y″) + a · P(y″ | y′)) / (#(y, y′, ·) + a),  a = α · labels seen after y, y′
    """

    def __init__(self, table: Table, pair: Float, log_prior: Float, alpha: float) -> None:
        """`pair` is log CR(y; y′), so that log P(y″ | y′) is pair[y′, y″] + log P(y″), normalised."""
        n_labels = len(log_prior)
        first, middle, last = (table.field(k).astype(np.int64) for k in range(3))
        key = first * n_labels + middle
        starts = starts_of_runs(key)
        self.n_labels = n_labels
        self.pair_keys: Int = key[starts]
        self.first_row: Int = np.append(starts, len(key))
        self.row_labels: Ids = np.ascontiguousarray(table.field(2))
        n_rows = np.diff(self.first_row)
        total = np.add.reduceat(table.n, starts) if len(starts) else np.empty(0, np.int64)
        a = alpha * n_rows
        norm = np.array([np.log(np.exp(row + log_prior).sum()) for row in pair])
        log_after = pair[middle, last] + log_prior[last] - norm[middle]  # log P(y″ | y′)
        spread = np.repeat(np.arange(len(starts)), n_rows)
        prob = (table.n + a[spread] * np.exp(log_after)) / (total + a)[spread]
        self.row_rates: Float = np.log(prob) - log_after
        self.unseen: Float = np.log(a / (total + a))

    def arrays(self) -> tuple[int, Int, Float, Int, Ids, Float]:
        """As the kernel reads them: pairs of labels with what holds for third ones never seen, and rows."""
        return self.n_labels, self.pair_keys, self.unseen, self.first_row, self.row_labels, self.row_rates

    @cached_property
    def native(self) -> kernels.TripleRates:
        return kernels.TripleRates(*self.arrays())

    def __getstate__(self) -> dict[str, Any]:
        """For copies: what can be made anew is left out."""
        return {name: value for name, value in self.__dict__.items() if name != "native"}

    def rates(self, first: Ids, middle: Ids, last: Ids) -> Float:
        """log CR of given triples; 0 after a pair that training never saw."""
        if not len(self.pair_keys):
            return np.zeros(len(first))
        key = first.astype(np.int64) * self.n_labels + middle
        pair = np.minimum(np.searchsorted(self.pair_keys, key), len(self.pair_keys) - 1)
        row_keys = owners(self.first_row) * self.n_labels + self.row_labels
        row = np.minimum(np.searchsorted(row_keys, pair * self.n_labels + last), len(row_keys) - 1)
        seen = row_keys[row] == pair * self.n_labels + last
        rates = np.where(seen, self.row_rates[row], self.unseen[pair])
        return np.where(self.pair_keys[pair] == key, rates, 0.0)
