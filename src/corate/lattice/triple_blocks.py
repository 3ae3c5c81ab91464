"""Second order: scores of label triples behind a lattice's edges, on the few candidates that have a chance.

A first-order pass finds how far each candidate is from the best sequence (its max-marginal); the others are
dropped, every edge gets a block of its own, and every position from the third on a block of triples:

    triples         triples[i]:triples[i + 1] is the block of position i
    triple_scores   candidates two before × one before × here

Without kernels, and for n-best, such a lattice is expanded: its states are pairs of neighbouring candidates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from corate.arrays import Int, check_room, offsets_of, owners, ragged_arange
from corate.lattice.lattice import Lattice


def edge_ends(sentences: Int, positions: Int) -> tuple[Int, Int, Int]:
    """Left and right candidate of every edge in the order of edge blocks, and the blocks' offsets."""
    width = np.diff(positions)
    before = _back(width, sentences, 1)
    edges = offsets_of(before * width)
    # Each left candidate is followed by all right ones.
    left = np.repeat(ragged_arange(positions[:-1] - before, before), np.repeat(width, before))
    right = ragged_arange(np.repeat(positions[:-1], before), np.repeat(width, before))
    return left, right, edges


def _back(width: Int, sentences: Int, steps: int) -> Int:
    """The width of the position some steps before each; 0 where the sentence does not reach so far."""
    before = np.zeros(len(width), np.int64)
    before[steps:] = width[: max(0, len(width) - steps)]
    for k in range(steps):
        first = sentences[:-1] + k
        before[first[first < sentences[1:]]] = 0
    return before


def check_triples(x: Lattice) -> None:
    """Refuse a lattice of too many triples of candidates, before it has scores for them."""
    width = np.diff(x.positions).astype(np.float64)
    check_room(int((width[:-2] * width[1:-1] * width[2:]).sum()), "scores of label triples")


def check_expandable(x: Lattice) -> None:
    """Refuse to expand a lattice of the second order into one that is too large."""
    if x.triples is not None:
        width = np.diff(x.positions).astype(np.float64)
        check_room(int((width[:-2] * width[1:-1] ** 2 * width[2:]).sum()), "pairs of label pairs")


def triple_offsets(x: Lattice) -> Int:
    width = np.diff(x.positions)
    return offsets_of(_back(width, x.sentences, 2) * _back(width, x.sentences, 1) * width)


def triple_ends(x: Lattice, triples: Int) -> tuple[Int, Int, Int]:
    """The three candidates of every triple, in the order of triple blocks."""
    width = np.diff(x.positions)
    middle = _back(width, x.sentences, 1)
    place = owners(triples)
    within = np.arange(len(place)) - triples[place]
    q, rest = within % width[place], within // width[place]
    p, o = rest % np.maximum(middle[place], 1), rest // np.maximum(middle[place], 1)
    here = x.positions[place]
    return x.positions[place - 2] + o, here - middle[place] + p, here + q


@dataclass(frozen=True)
class Expanded:
    """A first-order lattice whose states are pairs of candidates, and the right candidate of each state."""

    lattice: Lattice
    right: Int


def expand(x: Lattice) -> Expanded:
    """States are ordered by their right candidate first, so that ties go as they do in the lattice itself."""
    assert x.triples is not None
    assert x.triple_scores is not None
    states: list[tuple[Int, Int]] = []
    scores, blocks = [], []
    edge_sizes = np.zeros(x.n_positions, np.int64)
    starts = set(x.sentences.tolist())
    for i in range(x.n_positions):
        here = np.arange(x.positions[i], x.positions[i + 1])
        if i in starts:
            states.append((np.full(len(here), -1), here))
            scores.append(x.scores[here])
            continue
        before = np.arange(x.positions[i - 1], x.positions[i])
        left, right = np.tile(before, len(here)), np.repeat(here, len(before))
        edge = x.edge(i)
        own = edge.T.ravel() + x.scores[right]
        was_left, was_right = states[-1]
        block = np.where(was_right[:, None] == left[None, :], 0.0, -np.inf)
        if i - 1 not in starts:
            shape = (int(x.positions[i - 1] - x.positions[i - 2]), len(before), len(here))
            triple = x.triple_scores[x.triples[i] : x.triples[i + 1]].reshape(shape)
            o, p, q = was_left - x.positions[i - 2], left - x.positions[i - 1], right - x.positions[i]
            block = block + triple[o[:, None], p[None, :], q[None, :]]
        states.append((left, right))
        scores.append(own)
        blocks.append(block.ravel())
        edge_sizes[i] = block.size
    right = np.concatenate([np.empty(0, np.int64), *(state[1] for state in states)])
    lattice = Lattice(
        x.sentences,
        offsets_of(np.array([len(state[1]) for state in states], np.int64)),
        x.labels[right],
        np.concatenate([np.empty(0), *scores]),
        x.pair_scores,
        offsets_of(edge_sizes),
        np.concatenate([np.empty(0), *blocks]),
    )
    return Expanded(lattice, right)
