"""Narrowing a lattice to the candidates that have a chance: those near the best sequence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from corate._native import kernels, native
from corate.arrays import Float, offsets_of, owners
from corate.lattice.lattice import Lattice
from corate.lattice.triple_blocks import _back, edge_ends


def max_marginals(x: Lattice, n_threads: int = 1) -> Float:
    """Best score of a label sequence through each candidate, minus that of the best one at all."""
    margins = np.zeros(len(x.labels))
    if native():
        kernels.max_marginals(*x.arrays(), margins, n_threads)
        return margins
    for s in range(x.n_sentences):
        span = x.span(s)
        into: list[Float] = []
        for i in span:
            own = x.scores[x.candidates(i)]
            into.append(own + (into[-1][:, None] + x.edge(i)).max(axis=0) if into else own)
        best = into[-1].max() if into else 0.0
        out: Float | None = None
        for i in reversed(span):
            if out is None:
                out = np.zeros(len(into[-1]))
            else:
                out = (x.edge(i + 1) + x.scores[x.candidates(i + 1)] + out).max(axis=1)
            margins[x.candidates(i)] = into.pop() + out - best if np.isfinite(best) else 0.0
    return margins


def keep(x: Lattice, kept: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Lattice:
    """The lattice with these candidates alone, and a block of scores for every edge."""
    positions, labels = offsets_of(kept.astype(np.int64))[x.positions], x.labels[kept]
    if native() and not len(x.edge_scores):
        width = np.diff(positions)
        edges = offsets_of(_back(width, x.sentences, 1) * width)
        scores = np.empty(edges[-1])
        kernels.edge_blocks(x.sentences, positions, labels, x.pair_scores, edges, scores)
    else:
        left, right, edges = edge_ends(x.sentences, positions)
        scores = x.pair_scores[labels[left], labels[right]]
        if len(x.edge_scores):
            old = np.flatnonzero(kept)
            place = owners(positions)[right]
            has = np.diff(x.edges)[place] > 0
            column = old[right] - x.positions[place]
            row = old[left] - x.positions[np.maximum(place - 1, 0)]
            block = x.edges[place] + row * np.diff(x.positions)[place] + column
            scores = np.where(has, x.edge_scores[np.minimum(block, len(x.edge_scores) - 1)], scores)
    return replace(
        x, positions=positions, labels=labels, scores=x.scores[kept], edges=edges, edge_scores=scores
    )
