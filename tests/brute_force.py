"""Decoding by enumeration of every label sequence: slow, short, and independent of what it checks."""

from __future__ import annotations

import itertools
import math

import numpy as np
from hypothesis import strategies as st

from corate.lattice import Lattice, offsets_of

Scored = list[tuple[float, tuple[int, ...]]]  # score and candidate (within its position) of each sequence


def sequences(x: Lattice, s: int) -> Scored:
    """All possible sequences of sentence s, best first; of equals, lower labels first, from the last back."""
    span = x.span(s)
    widths = [range(x.candidates(i).stop - x.candidates(i).start) for i in span]
    scored = []
    for path in itertools.product(*widths):
        score = sum(float(x.scores[x.candidates(i)][q]) for i, q in zip(span, path, strict=True))
        score += sum(float(x.edge(i)[p, q]) for i, p, q in zip(span[1:], path, path[1:], strict=False))
        if score > -math.inf:
            scored.append((score, path))
    return sorted(scored, key=lambda item: (-item[0], item[1][::-1]))


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
