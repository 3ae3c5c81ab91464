"""Why a label won: the counts behind every factor of the best sequence, in plain words.

The scores of all reasons add up to the log of the product of factors that the sequence has (000 eqn 4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from corate.arrays import Float
from corate.lattice.lattice import Lattice
from corate.rates.empirical import Conditional


@dataclass(frozen=True)
class Reason:
    """What spoke for a label (`score` above 0) or against it: in words, and as the logarithm of the
    factor."""

    text: str
    score: float  # log of the factor


@dataclass(frozen=True)
class Explanation:
    """One token: its label, how probable that is, the next best label, and what spoke for the label."""

    word: str
    label: str
    probability: float
    runner_up: tuple[str, float] | None
    reasons: list[Reason]


def times(n: int, total: int) -> str:
    return f"{n:,} of {total:,} time{'' if total == 1 else 's'}"


def runner_up(
    lattice: Lattice, probabilities: Float, classes: Sequence[str], position: int, chosen: int
) -> tuple[str, float] | None:
    """The next best candidate of a position and its probability; of equals, the lower label."""
    here = range(int(lattice.positions[position]), int(lattice.positions[position + 1]))
    others = [(float(probabilities[c]), -c) for c in here if c != chosen and probabilities[c] > 0]
    best = max(others, default=None)
    return None if best is None else (classes[lattice.labels[-best[1]]], best[0])


def _times(prob: Conditional, context: int, label: int) -> str:
    rows = prob.rows(context)
    support = dict(zip(prob.labels[rows].tolist(), prob.support[rows].tolist(), strict=True))
    return times(support.get(label, 0), sum(support.values()))
