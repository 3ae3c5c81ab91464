"""Why a label won: the counts behind every factor of the best sequence, in plain words.

The scores of all reasons add up to the log of the product of factors that the sequence has (000 eqn 4).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from corate import decode
from corate.empirical_lattice import EmpiricalFactors
from corate.factors import LOG_ZERO, Conditional
from corate.lattice import Float, Lattice


@dataclass(frozen=True)
class Reason:
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


def explain(
    factors: EmpiricalFactors, classes: Sequence[str], lattice: Lattice, words: Sequence[str]
) -> list[Explanation]:
    """Explain the best labels of a lattice that holds one sentence."""
    best = decode.viterbi(lattice).candidates.tolist()
    probabilities = decode.marginals(lattice).probabilities
    explanations = []
    for i, (word, candidate) in enumerate(zip(words, best, strict=True)):
        label = int(lattice.labels[candidate])
        reasons = [Reason(_unary(factors, classes, word, label), float(lattice.scores[candidate]))]
        if i > 0:
            place = best[i - 1] - lattice.positions[i - 1], candidate - lattice.positions[i]
            rate = float(lattice.edge(i)[place])
            given = f" in {words[i - 1]!r} {word!r}" if lattice.edges[i + 1] > lattice.edges[i] else ""
            pair = f"{classes[lattice.labels[best[i - 1]]]} before {classes[label]}{given}"
            reasons.append(Reason(_pair(pair, rate), rate))
        explanations.append(
            Explanation(
                word,
                classes[label],
                float(probabilities[candidate]),
                runner_up(lattice, probabilities, classes, i, candidate),
                reasons,
            )
        )
    return explanations


def _unary(factors: EmpiricalFactors, classes: Sequence[str], word: str, label: int) -> str:
    name = classes[label]
    if word in factors.index:
        return f"{word!r} was {name} {_times(factors.word, factors.index[word], label)}"
    seen = []
    for spelling in factors.spelling:
        value = int(spelling.ids([word])[0])
        if value >= 0:
            support = _times(spelling.prob, value, label)
            seen.append(f"{spelling.context.describe(word)} was {name} {support}")
    return "unknown word; " + ("; ".join(seen) or f"{name} by its share of all words")


def _times(prob: Conditional, context: int, label: int) -> str:
    rows = prob.rows(context)
    support = dict(zip(prob.labels[rows].tolist(), prob.support[rows].tolist(), strict=True))
    return times(support.get(label, 0), sum(support.values()))


def _pair(pair: str, rate: float) -> str:
    return (
        f"{pair} never occurred"
        if rate <= LOG_ZERO
        else f"{pair} at {math.exp(rate):.2f}× the rate of chance"
    )
