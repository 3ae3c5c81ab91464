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
    widths = [range(x.candidates(i).stop - x.candidates(i).start) for i in span]
    scored = []
    for path in itertools.product(*widths):
        score = sum(float(x.scores[x.candidates(i)][q]) for i, q in zip(span, path, strict=True))
        score += sum(float(x.edge(i)[p, q]) for i, p, q in zip(span[1:], path, path[1:], strict=False))
        score += sum(
            float(triple(x, i)[path[k : k + 3]]) for k, i in enumerate(span[2:]) if x.triples is not None
        )
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
    """Small lattices with integer scores (so that ties are exact), own edge blocks and forbidden places."""
    n_labels = draw(st.integers(1, 4))
    lengths = draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))
    score = st.integers(-4, 4).map(float)
    if impossible:
        score = st.one_of(score, score, score, st.just(-math.inf))
    labels, blocks, sizes = [], [], []
    for length in lengths:
        before = 0
        for _ in range(length):
            here = sorted(draw(st.sets(st.integers(0, n_labels - 1), min_size=1)))
            own_block = before > 0 and draw(st.booleans())
            sizes.append(before * len(here) if own_block else 0)
            blocks += draw(st.lists(score, min_size=sizes[-1], max_size=sizes[-1]))
            labels.append(here)
            before = len(here)
    flat = [label for here in labels for label in here]
    pair = draw(st.lists(score, min_size=n_labels**2, max_size=n_labels**2))
    return Lattice(
        offsets_of(np.array(lengths, np.int64)),
        offsets_of(np.array([len(here) for here in labels], np.int64)),
        np.array(flat, np.int32),
        np.array(draw(st.lists(score, min_size=len(flat), max_size=len(flat))), np.float64),
        np.array(pair, np.float64).reshape(n_labels, n_labels),
        offsets_of(np.array(sizes, np.int64)),
        np.array(blocks, np.float64),
    )


@st.composite
def second_order_lattices(draw: st.DrawFn, impossible: bool = True) -> Lattice:
    """The same with scores of triples; every edge has a block of its own."""
    x = draw(lattices(impossible))
    blocks, n_triples = [np.empty(0)], []
    edge_sizes = np.zeros(x.n_positions, np.int64)
    widths = np.diff(x.positions).tolist()
    for s in range(x.n_sentences):
        for k, i in enumerate(x.span(s)):
            n_triples.append(math.prod(widths[i - 2 : i + 1]) if k > 1 else 0)
            if k:
                blocks.append(x.edge(i).ravel())
                edge_sizes[i] = blocks[-1].size
    n = sum(n_triples)
    scores = draw(st.lists(st.integers(-4, 4).map(float), min_size=n, max_size=n))
    return replace(
        x,
        edges=offsets_of(edge_sizes),
        edge_scores=np.concatenate(blocks),
        triples=offsets_of(np.array(n_triples, np.int64)),
        triple_scores=np.array(scores, np.float64),
    )
