"""The NumPy half of rates: what the kernels of log_rates.h and pair_rates.h do, one context after another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corate.arrays import Float, Ids, Int, owners, pack
from corate.counts.names import table_of
from corate.rates.groups import Group
from corate.rates.smoothed import pair_log_rate, smooth
from corate.text.corpus import Corpus

if TYPE_CHECKING:
    from corate.rates.rates import Buckets, Rates, Values


def log_rates(
    rates: Rates,
    group: Group,
    corpus: Corpus,
    positions: Int,
    labels: Ids,
    given: tuple[Float, Int],
    skip_single: bool,
) -> tuple[Values, Buckets]:
    prob, buckets = probabilities(rates, group, corpus, positions, labels, given)
    found = np.zeros((len(labels), len(group.contexts)), np.float32)
    for j in range(len(group.contexts)):
        found[:, j] = np.log(prob[:, j] / _above(rates, group, j, labels, prob, given))
    if skip_single:
        single = np.diff(positions) == 1
        buckets[single] = 0
        found[np.repeat(single, np.diff(positions))] = 0.0
    return found, buckets


def probabilities(
    rates: Rates, group: Group, corpus: Corpus, positions: Int, labels: Ids, given: tuple[Float, Int]
) -> tuple[Float, Buckets]:
    """P(y | f), candidates × contexts, parents first; and the buckets of #(f)."""
    tables, queries, owner = rates.tables(group), rates.tokens.queries(group, corpus), owners(positions)
    n_rows, total = np.append(np.diff(tables.first_row), 0), np.append(tables.totals, 0)
    row_key = np.append(owners(tables.first_row) * rates.n_labels + tables.row_labels, -1)
    row_counts = np.append(tables.row_counts, 0)
    prob = np.empty((len(labels), len(group.contexts)))
    buckets = np.zeros((len(positions) - 1, len(group.contexts)), np.int8)
    for j in range(len(group.contexts)):
        place = tables.find(j, queries[j])
        key = place[owner]
        row = np.searchsorted(row_key[:-1], key * rates.n_labels + labels)
        n = np.where(row_key[row] == key * rates.n_labels + labels, row_counts[row], 0)
        above = _above(rates, group, j, labels, prob, given)
        prob[:, j] = smooth(n, np.where(key >= 0, total[key], 0), rates.smoothing.alpha * n_rows[key], above)
        buckets[:, j] = rates.smoothing.buckets(np.where(place >= 0, total[place], 0))
    return prob, buckets


def _above(rates: Rates, group: Group, j: int, labels: Ids, prob: Float, given: tuple[Float, Int]) -> Float:
    """P(y | parent) of context j."""
    parent = int(group.parents[j])
    if parent < 0:
        return rates.labels.prior[labels]
    rows, sources = given
    return rows[sources, parent] if parent < group.n_given else prob[:, parent - group.n_given]


def pair_rates(
    rates: Rates, corpus: Corpus, positions: Int, labels: Ids, edges: Int, skip_single: bool
) -> Float:
    group = rates.groups.of_pairs
    queries = rates.tokens.queries(group, corpus)
    found = np.zeros((int(edges[-1]), len(group.contexts)))
    for j, (context, widths) in enumerate(zip(group.contexts, group.widths, strict=True)):
        table = rates.labels.table(table_of(context))
        key = pack(table.ids.T[:-2], widths)
        for i in np.flatnonzero(np.diff(edges) > skip_single).tolist():
            rows = slice(*np.searchsorted(key, [queries[j, i], queries[j, i] + 1]).tolist())
            n = np.zeros((rates.n_labels, rates.n_labels))
            n[table.ids[rows, -2], table.ids[rows, -1]] = table.n[rows]
            if queries[j, i] < 0 or not n.any():
                continue
            before, here, after = positions[i - 1 : i + 2]
            ends = labels[before:here], labels[here:after]
            rate = pair_log_rate(n, *ends, rates.labels.prior, rates.labels.pair, rates.smoothing.alpha)
            found[edges[i] : edges[i + 1], j] = rate.ravel()
    return found
