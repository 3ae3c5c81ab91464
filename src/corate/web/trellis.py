"""The trellis of a sentence: the candidates of each word, what each step multiplies, and the best path."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from corate.lattice import decode
from corate.lattice.constraints import Constraints
from corate.models.base import Estimator
from corate.web.corrections import Token

MOST_CANDIDATES = 6  # that are shown of a word
MOST_EXPONENT = 60.0


def trellis(model: Estimator, tokens: Sequence[Token], forced: Mapping[int, str]) -> list[dict[str, Any]]:
    """For each word: candidates with their probability, best first; and the steps into them.

    A step from candidate a of the word before to candidate b multiplies a sequence's score by `rate`: the
    co-occurrence rate of the two labels there, as the model weighs it.
    """
    now = model._now()
    constraints = Constraints(forced=[forced]) if forced else None
    ((_, lattice),) = now._batches([[t[0] if len(t) == 1 else t for t in tokens]], constraints)
    chosen = set(decode.viterbi(lattice).candidates.tolist())
    probabilities = decode.marginals(lattice).probabilities
    columns: list[dict[str, Any]] = []
    before: list[int] = []
    for i, token in enumerate(tokens):
        here = lattice.candidates(i)
        every = np.arange(here.start, here.stop)
        order = every[np.argsort(-probabilities[every], kind="stable")][:MOST_CANDIDATES].tolist()
        if not chosen & {*order}:
            order = [*order[:-1], *(chosen & {*every.tolist()})]
        candidates = [
            {
                "label": now.classes_[int(lattice.labels[c])],
                "probability": float(probabilities[c]),
                "best": c in chosen,
            }
            for c in order
        ]
        edges: list[list[float]] = []
        if i:
            block = lattice.edge(i)
            left, right = lattice.candidates(i - 1).start, here.start
            edges = [[_rate(block[a - left, b - right]) for b in order] for a in before]
        columns.append(
            {"word": token[0], "candidates": candidates, "rates": edges, "more": len(every) - len(order)}
        )
        before = order
    return columns


def _rate(score: float) -> float:
    """What is forbidden has rate 0."""
    return 0.0 if score == -math.inf else math.exp(min(float(score), MOST_EXPONENT))
