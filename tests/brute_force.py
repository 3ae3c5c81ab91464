"""Decoding by enumeration of every label sequence: slow, short, and independent of what it checks."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from corate.arrays import Float, offsets_of
from corate.lattice.lattice import Lattice

Scored = list[tuple[float, tuple[int, ...]]]  # score and candidate (within its position) of each sequence


def sequences(x: Lattice, s: int) -> Scored:
    """All possible sequences of sentence s, best first; of equals, lower labels first, from the last back."""
    span = x.span(s)
    own = [x.scores[x.candidates(i)].tolist() for i in span]
    edges = [x.edge(i).tolist() for i in span[1:]]
    triples = [triple(x, i).tolist() for i in span[2:]] if x.triples is not None else []
    scored = []
    for path in itertools.product(*map(range, map(len, own))):
        score: float = sum(own[k][q] for k, q in enumerate(path))
        score += sum(edge[p][q] for edge, p, q in zip(edges, path, path[1:], strict=False))
        score += sum(block[path[k]][path[k + 1]][path[k + 2]] for k, block in enumerate(triples))
        if score > -math.inf:
            scored.append((score, path))
    return sorted(scored, key=lambda item: (-item[0], item[1][::-1]))


def triple(x: Lattice, i: int) -> Float:
    """Scores of the triples that end at position i, in a lattice of the second order."""
    assert x.triples is not None
    assert x.triple_scores is not None
    widths = np.diff(x.positions[i - 2 : i + 2])
    return x.triple_scores[x.triples[i] : x.triples[i + 1]].reshape(widths)


def log_z(scored: Scored) -> float:
    top = max(score for score, _ in scored)
    return top + math.log(sum(math.exp(score - top) for score, _ in scored))


@st.composite
def lattices(draw: st.DrawFn, impossible: bool = True) -> Lattice:
    """Small lattices with integer scores (so that ties are exact), own edge blocks and forbidden places.

    Shapes are hypothesis's; the numbers come from a seed, evenly: most sentences have many sequences.
    """
    n_labels = draw(st.sampled_from([1, 2, 3, 4, 4]))
    lengths = draw(st.lists(st.sampled_from([0, 1, 2, 3, 4, 4]), min_size=1, max_size=3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    forbidden = draw(st.sampled_from([0.0, 0.03, 0.1])) if impossible else 0.0
    spread = draw(st.sampled_from([1, 4]))  # with three different scores, many sequences are equal

    def scores(*shape: int) -> Float:
        return np.where(rng.random(shape) < forbidden, -np.inf, rng.integers(-spread, spread + 1, shape))

    labels, blocks = [], []
    for length in lengths:
        before = 0
        for _ in range(length):
            width = int(rng.integers(min(2, n_labels), n_labels + 1)) if rng.random() < 0.9 else 1
            labels.append(np.sort(rng.permutation(n_labels)[:width]))
            blocks.append(scores(before * width if rng.random() < 0.5 else 0))
            before = width
    flat = np.concatenate([*labels, np.empty(0)])
    return Lattice(
        offsets_of(np.array(lengths, np.int64)),
        offsets_of(np.array([len(here) for here in labels], np.int64)),
        flat.astype(np.int32),
        scores(len(flat)),
        scores(n_labels, n_labels),
        offsets_of(np.array([len(block) for block in blocks], np.int64)),
        np.concatenate([*blocks, np.empty(0)]),
    )


@st.composite
def second_order_lattices(draw: st.DrawFn, impossible: bool = True) -> Lattice:
    """The same with scores of triples; every edge has a block of its own."""
    x = draw(lattices(impossible))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    spread = draw(st.sampled_from([1, 4]))
    blocks, n_triples = [np.empty(0)], []
    edge_sizes = np.zeros(x.n_positions, np.int64)
    widths = np.diff(x.positions).tolist()
    for s in range(x.n_sentences):
        for k, i in enumerate(x.span(s)):
            n_triples.append(math.prod(widths[i - 2 : i + 1]) if k > 1 else 0)
            if k:
                blocks.append(x.edge(i).ravel())
                edge_sizes[i] = blocks[-1].size
    return replace(
        x,
        edges=offsets_of(edge_sizes),
        edge_scores=np.concatenate(blocks),
        triples=offsets_of(np.array(n_triples, np.int64)),
        triple_scores=rng.integers(-spread, spread + 1, sum(n_triples)).astype(np.float64),
    )
