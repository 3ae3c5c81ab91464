"""Why a label won: the counts behind every factor of the best sequence, in plain words.

The scores of all reasons add up to the log of the product of factors that the sequence has (000 eqn 4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from corate import markup
from corate.arrays import Float
from corate.lattice.lattice import Lattice
from corate.rates.empirical import Conditional

MOST_SHOWN = 4  # reasons of a token in a notebook


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


class Explanations(list[Explanation]):
    """Those of all tokens of a sentence; a notebook shows them as a table."""

    def _repr_html_(self) -> str:
        rows = []
        for token in self:
            other = "" if token.runner_up is None else "{} {:.3f}".format(*token.runner_up)
            reasons = [
                f"{escape(reason.text)} ({reason.score:+.2f})" for reason in token.reasons[:MOST_SHOWN]
            ]
            more = len(token.reasons) - len(reasons)
            reasons += [f"and {more} more"] if more > 0 else []
            label = markup.shaded(token.label, token.probability)
            cells = (token.word, label, f"{token.probability:.3f}", other, markup.Html("<br>".join(reasons)))
            rows.append(cells)
        return markup.block(markup.table(("word", "label", "P", "next best", "because"), rows))


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
