"""Narrowing a lattice to the candidates that have a chance: those near the best sequence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from corate._native import kernels, native
from corate.arrays import Float, offsets_of, owners
from corate.lattice import forest, reference
from corate.lattice.lattice import Lattice
from corate.lattice.triple_blocks import edge_ends


def max_marginals(x: Lattice, n_threads: int = 1) -> Float:
    """Best score of a label sequence through each candidate, minus that of the best one at all."""
    if x.left is not None:
        return forest.passed(x, maximum=True).candidates
    return kernels.max_marginals(x.native, n_threads) if native() else reference.max_marginals(x)


def keep(x: Lattice, kept: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Lattice:
    """The lattice with these candidates alone, and a block of scores for every edge."""
    positions, labels = offsets_of(kept.astype(np.int64))[x.positions], x.labels[kept]
    no_edges = np.zeros(len(positions), np.int64)
    small = Lattice(x.sentences, positions, labels, x.scores[kept], x.pair_scores, no_edges, np.empty(0))
    small = replace(small, left=x.left)
    if native() and not len(x.edge_scores) and x.left is None:
        edges, scores = kernels.edge_blocks(small.native)
        return replace(small, edges=edges, edge_scores=scores)
    left, right, edges = edge_ends(x.sentences, positions, x.left)
    scores = x.pair_scores[labels[left], labels[right]]
    if len(x.edge_scores):
        old = np.flatnonzero(kept)
        place = owners(positions)[right]
        has = np.diff(x.edges)[place] > 0
        column = old[right] - x.positions[place]
        before = np.maximum(place - 1, 0) if x.left is None else x.left[place]
        row = old[left] - x.positions[before]
        block = x.edges[place] + row * np.diff(x.positions)[place] + column
        scores = np.where(has, x.edge_scores[np.minimum(block, len(x.edge_scores) - 1)], scores)
    return replace(small, edges=edges, edge_scores=scores)
