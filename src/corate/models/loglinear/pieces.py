"""Pieces: the short chains over which locally normalised factors sum, equal ones once.

A partition function depends on the attributes of its piece alone: it is computed once for all that have the
same ones, and counts as often as they occur.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from corate.arrays import Ids, Int
from corate.models.loglinear.attributes import Sparse
from corate.models.loglinear.chains import Chains


def single_positions(chains: Chains) -> Chains:
    """Every position a chain of its own; equal ones once."""
    number, first = row_numbers(chains.states)
    times = np.bincount(number, np.repeat(chains.times, np.diff(chains.offsets)), len(first))
    alone = Chains.of(np.arange(len(first) + 1, dtype=np.int64), chains.states.select(first))
    return alone.counting(times.astype(np.float64))


def row_numbers(rows: Sparse) -> tuple[Int, Int]:
    """The number of each row among the distinct ones, and where each of those occurs first."""
    lengths = np.diff(rows.offsets)
    dense = np.full((len(lengths), max(1, int(lengths.max(initial=0)))), -1, np.int32)
    dense[rows.owners, np.arange(len(rows.ids)) - np.repeat(rows.offsets[:-1], lengths)] = rows.ids
    keys = dense.view(f"V{dense.itemsize * dense.shape[1]}").reshape(-1)
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    return number.reshape(-1).astype(np.int64), first.astype(np.int64)


def edge_chains(chains: Chains, labels: Ids, n_attributes: int) -> tuple[Chains, Ids]:
    """Every edge as a chain of two; attributes at the right are others than those at the left."""
    right = chains.edges()
    times = np.repeat(chains.times, np.diff(chains.offsets))[right]
    return _edges(chains, right, n_attributes).counting(times), _both_ends(labels, right)


def distinct_edges(chains: Chains, n_attributes: int) -> Chains:
    """The same, equal ones once."""
    right = chains.edges()
    number, first = row_numbers(chains.states)
    pair_number, pair_first = row_numbers(chains.pairs)
    keys = (number[right - 1] * len(first) + number[right]) * len(pair_first) + pair_number[right]
    _, place, kind = np.unique(keys, return_index=True, return_inverse=True)
    times = np.bincount(kind.reshape(-1), np.repeat(chains.times, np.diff(chains.offsets))[right], len(place))
    return _edges(chains, right[place], n_attributes).counting(times.astype(np.float64))


def _edges(chains: Chains, right: Int, n_attributes: int) -> Chains:
    ends = chains.states.select(_both_ends(np.arange(chains.n_positions), right))
    states = Sparse(ends.offsets, ends.ids + (ends.owners % 2 * n_attributes).astype(np.int32))
    pairs = chains.pairs.select(right).spread(2 * np.arange(len(right)) + 1, 2 * len(right))
    return Chains.of(2 * np.arange(len(right) + 1, dtype=np.int64), states, pairs)


def _both_ends(values: Any, right: Int) -> Any:
    return np.stack([values[right - 1], values[right]], axis=1).reshape(-1)
