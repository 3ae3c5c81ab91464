"""Why the Tagger chose a label: what each context contributes to its score, with the counts behind it.

The contributions of a sentence add up to the score of its labels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from corate import decode
from corate.contexts import Context, view
from corate.corpus import Corpus
from corate.explain import Explanation, Reason, runner_up, times
from corate.rates import Rates
from corate.tagger_lattice import Evidence, Weights


def explain_evidence(
    rates: Rates, weights: Weights, shown: Evidence, corpus: Corpus, classes: Sequence[str]
) -> list[Explanation]:
    """Explain the best labels of the one sentence that the evidence holds."""
    lattice = shown.lattice(weights)
    best = decode.viterbi(lattice).candidates.tolist()
    probabilities = decode.marginals(lattice).probabilities
    words = corpus.words.strings()
    queries = rates.queries(corpus, rates.tables.contexts)
    explanations = []
    for i, (word, candidate) in enumerate(zip(words, best, strict=True)):
        label = int(shown.labels[candidate])
        reasons = [_usual(rates, weights, shown, candidate, classes[label])]
        for j, context in enumerate(rates.tables.contexts):
            weight = weights.contexts[shown.buckets[i, j], j] + weights.contexts_by_label[label, j]
            support = _support(rates, j, int(queries[j, i]), label)
            if support is not None:
                rate = float(shown.rates[candidate, j])
                text = f"{_describe(context, words, i)} was {classes[label]} {support}, {_times(rate)}"
                reasons.append(Reason(text, float(weight) * rate))
        if i > 0:
            before = int(shown.labels[best[i - 1]])
            rate = float(shown.pair[before, label])
            text = f"{classes[label]} after {classes[before]}: {_times(rate)}"
            reasons.append(Reason(text, weights.pair * rate))
        explanations.append(
            Explanation(
                word,
                classes[label],
                float(probabilities[candidate]),
                runner_up(lattice, probabilities, classes, i, candidate),
                sorted(reasons, key=lambda reason: -abs(reason.score)),
            )
        )
    return explanations


def _usual(rates: Rates, weights: Weights, shown: Evidence, candidate: int, label: str) -> Reason:
    """What speaks for a label wherever it may stand, and at the ends of a sentence."""
    y = int(shown.labels[candidate])
    score = weights.prior * shown.log_prior[candidate] + weights.labels[y]
    score += weights.start * shown.start[candidate] + weights.end * shown.end[candidate]
    return Reason(f"{label} is {100 * rates.prior[y]:.1f} % of all labels", float(score))


def _support(rates: Rates, j: int, query: int, label: int) -> str | None:
    """`41 of 43 times`; None for a context that training never saw."""
    tables = rates.tables
    place = int(tables.find(j, np.array([query]))[0])
    if query < 0 or place < 0:
        return None
    rows = slice(int(tables.first_row[place]), int(tables.first_row[place + 1]))
    counts = dict(zip(tables.row_labels[rows].tolist(), tables.row_counts[rows].tolist(), strict=True))
    return times(counts.get(label, 0), sum(counts.values()))


def _describe(context: Context, words: Sequence[str], i: int) -> str:
    def value(view_name: str, offset: int) -> str:
        inside = 0 <= i + offset < len(words)
        return repr(view(view_name)(words[i + offset])) if inside else "outside"

    return " ".join(f"{atom}={value(atom.view, atom.offset)}" for atom in context.atoms)


def _times(log_rate: float) -> str:
    return f"{math.exp(log_rate):.2g}× its usual rate"
