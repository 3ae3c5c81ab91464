"""The trellis of a sentence for the page: likely candidates of each word, and what each step multiplies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

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
    constraints = Constraints(forced=[forced]) if forced else None
    found = model.trellis([t[0] if len(t) == 1 else t for t in tokens], constraints)
    columns: list[dict[str, Any]] = []
    before: list[int] = []
    for token, cells, steps in zip(tokens, found.columns, found.steps, strict=True):
        order = sorted(range(len(cells)), key=lambda k: -cells[k].probability)[:MOST_CANDIDATES]
        if not any(cells[k].best for k in order):
            order = [*order[:-1], *(k for k, cell in enumerate(cells) if cell.best)]
        candidates = [
            {"label": cells[k].label, "probability": cells[k].probability, "best": cells[k].best}
            for k in order
        ]
        edges = [[_rate(steps[a, b]) for b in order] for a in before]
        columns.append(
            {"word": token[0], "candidates": candidates, "rates": edges, "more": len(cells) - len(order)}
        )
        before = order
    return columns


def _rate(score: float) -> float:
    """What is forbidden has rate 0."""
    return 0.0 if score == -math.inf else math.exp(min(float(score), MOST_EXPONENT))
