"""Why an EmpiricalCRF chose a label: the counts behind every factor of the best sequence."""

from __future__ import annotations

import math
from collections.abc import Sequence

from corate.lattice import decode
from corate.lattice.lattice import Lattice
from corate.models.empirical.factors import EmpiricalFactors
from corate.models.explanation import Explanation, Explanations, Reason, _times, runner_up
from corate.rates.empirical import LOG_ZERO

MOST_LOG = 700.0  # its exponential is a number


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
    return Explanations(explanations)


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


def _pair(pair: str, rate: float) -> str:
    return (
        f"{pair} never occurred"
        if rate <= LOG_ZERO
        else f"{pair} at {math.exp(min(rate, MOST_LOG)):.2f}× the rate of chance"
    )
