"""Lattice: for a batch of sentences, which labels each position may have and how good each is.

sentences   0 ─────────────────────── 3 ──…      first position of each sentence
positions   0        2     3            5        first candidate of each position
labels      NN  VB   DT    JJ  NN …              a candidate's label, ascending within a position
scores      −.1 −2.  0.    −.7 −.7 …             a candidate's own score, log ψ(y, x)
pair_scores labels × labels                      log φ(y, y′) of every edge …
edges, edge_scores                               … except where an edge has a block of its own,
                                                 left candidates × right candidates
triples, triple_scores                           in lattices of the second order, see triple_blocks.py
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from corate._native import Mirrored, kernels
from corate.arrays import Float, Ids, Int, ragged_arange

IMPOSSIBLE = -np.inf  # the score of what cannot be


@dataclass(frozen=True)
class Lattice(Mirrored):
    sentences: Int
    positions: Int
    labels: Ids
    scores: Float
    pair_scores: Float
    edges: (
        Int  # edges[i]:edges[i + 1] is the block of the edge from position i − 1 into i; empty: pair_scores
    )
    edge_scores: Float
    triples: Int | None = None
    triple_scores: Float | None = None
    left: Int | None = None  # on trees, the parent of each position, −1 for a root (forest.py)

    @cached_property
    def native(self) -> kernels.Lattice:
        """The first-order part, as the kernels read it."""
        return kernels.Lattice(
            self.sentences,
            self.positions,
            self.labels,
            self.scores,
            self.pair_scores,
            self.edges,
            self.edge_scores,
        )

    @cached_property
    def native_triples(self) -> kernels.Triples:
        """All of a lattice of the second order."""
        assert self.triples is not None
        assert self.triple_scores is not None
        return kernels.Triples(self.native, self.triples, self.triple_scores)

    @property
    def n_sentences(self) -> int:
        return len(self.sentences) - 1

    @property
    def n_positions(self) -> int:
        return len(self.positions) - 1

    @property
    def n_labels(self) -> int:
        return len(self.pair_scores)

    def edge(self, position: int) -> Float:
        """Scores of the edge into this position: candidates before it × its own candidates."""
        before, here = self.candidates(position - 1), self.candidates(position)
        block = slice(int(self.edges[position]), int(self.edges[position + 1]))
        if block.stop > block.start:
            return self.edge_scores[block].reshape(before.stop - before.start, here.stop - here.start)
        return self.pair_scores[np.ix_(self.labels[before], self.labels[here])]

    def candidates(self, position: int) -> slice:
        return slice(int(self.positions[position]), int(self.positions[position + 1]))

    def span(self, sentence: int) -> range:
        return range(int(self.sentences[sentence]), int(self.sentences[sentence + 1]))


def end_candidates(sentences: Int, positions: Int, left: Int | None = None) -> tuple[Int, Int]:
    """Candidates of the first, and of the last position of every sentence; on trees, of roots and leaves."""
    if left is not None:
        width, is_leaf = np.diff(positions), np.ones(len(left), bool)
        is_leaf[left[left >= 0]] = False
        roots, leaves = np.flatnonzero(left < 0), np.flatnonzero(is_leaf)
        return ragged_arange(positions[roots], width[roots]), ragged_arange(positions[leaves], width[leaves])
    nonempty = np.diff(sentences) > 0
    lengths = np.diff(positions)
    first, last = sentences[:-1][nonempty], sentences[1:][nonempty] - 1
    return ragged_arange(positions[first], lengths[first]), ragged_arange(positions[last], lengths[last])
