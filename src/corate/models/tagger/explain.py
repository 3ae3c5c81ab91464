"""Why the Tagger chose a label: what each context contributes to its score, with the counts behind it.

The contributions of a sentence add up to the score of its labels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from corate.arrays import owners
from corate.contexts.template import Atom, Context
from corate.contexts.values import column_of
from corate.contexts.views import view
from corate.lattice import decode
from corate.lattice.triple_blocks import edge_ends
from corate.models.explanation import Explanation, Reason, runner_up, times
from corate.models.tagger.evidence import Weights, evidence, refine
from corate.rates.lookup import Rates
from corate.text.corpus import Corpus

USUAL = "usual rate"


def explain(rates: Rates, weights: Weights, corpus: Corpus, classes: Sequence[str]) -> list[Explanation]:
    """Explain the best labels of a corpus of one sentence."""
    shown = evidence(rates, corpus)
    rows = shown.rows()
    lattice = shown.lattice(weights)
    # The labels and probabilities are those of `predict`, which looks at fewer candidates.
    narrow = evidence(rates, corpus, weights=weights, everything=False).lattice(weights)
    refined = refine(narrow, rates, weights, corpus)
    best = decode.viterbi(refined)
    marginals = decode.marginals(refined).probabilities
    labels = best.labels(refined)
    # Candidates of the whole lattice, of which the refined one has some.
    here = np.flatnonzero(lattice.labels == labels[owners(lattice.positions)])
    queries = np.vstack([rates.queries(group, corpus) for group in (rates.alone, rates.around)])
    left, right, _ = edge_ends(refined.sentences, refined.positions)
    on_path = np.isin(left, best.candidates) & np.isin(right, best.candidates)
    pairs = rates.pair_rates(corpus, refined.positions, refined.labels, refined.edges)[on_path].tolist()
    than = [f"rate with {rates.contexts[parent]}" if parent >= 0 else USUAL for parent in rates.parents]
    explanations = []
    names = map(str, range(1, corpus.n_tokens + 1)) if corpus.keys else corpus.words.strings()
    for i, word in enumerate(names):
        y, name = int(labels[i]), classes[int(labels[i])]
        reasons = [_usual(rates, weights, y, name, i == 0, i == len(labels) - 1)]
        for j, context in enumerate(rates.contexts):
            support = _support(rates, j, int(queries[j, i]), y)
            if support is not None:
                weight = weights.contexts[rows.buckets[i, j], j] + weights.contexts_by_label[y, j]
                rate = float(rows.rates[here[i], j])
                text = f"{_describe(context, corpus, i)} was {name} {support}, {_times(rate, than[j])}"
                reasons.append(Reason(text, float(weight) * rate))
        if i > 0:
            rate = float(rates.pair[labels[i - 1], y])
            text = f"{name} after {classes[int(labels[i - 1])]}"
            reasons.append(Reason(f"{text}: {_times(rate)}", weights.pair * rate))
            reasons += [
                Reason(f"{text} at {_describe(context, corpus, i)}, {_times(rate)}", weight * rate)
                for context, weight, rate in zip(
                    rates.of_pairs.contexts, weights.pairs.tolist(), pairs[i - 1], strict=True
                )
                if rate
            ]
        if i > 1:
            rate = float(rates.triple.rates(*labels[i - 2 : i + 1, None])[0])
            before = " ".join(classes[int(label)] for label in labels[i - 2 : i])
            reasons.append(
                Reason(f"{name} after {before}: {_times(rate)} after the latter", weights.triple * rate)
            )
        chosen = int(best.candidates[i])
        explanations.append(
            Explanation(
                word,
                name,
                float(marginals[chosen]),
                runner_up(refined, marginals, classes, i, chosen),
                sorted(reasons, key=lambda reason: -abs(reason.score)),
            )
        )
    return explanations


def _usual(rates: Rates, weights: Weights, y: int, label: str, first: bool, last: bool) -> Reason:
    """What speaks for a label wherever it may stand, and at the ends of a sentence."""
    score = weights.prior * rates.log_prior[y] + weights.labels[y]
    score += weights.start * rates.start[y] * first + weights.end * rates.end[y] * last
    return Reason(f"{label} is {100 * rates.prior[y]:.1f} % of all labels", float(score))


def _support(rates: Rates, j: int, query: int, label: int) -> str | None:
    """`41 of 43 times`; None for a context that training never saw."""
    n_alone = len(rates.alone.contexts)
    group, k = (rates.alone, j) if j < n_alone else (rates.around, j - n_alone)
    counts = rates.rows(group, k, query)
    return times(counts.get(label, 0), sum(counts.values())) if counts else None


def _describe(context: Context, corpus: Corpus, i: int) -> str:
    def value(atom: Atom) -> str:
        column = column_of(corpus, atom)
        if column is None or not 0 <= i + atom.offset < corpus.n_tokens:
            return "outside"
        return repr(view(atom.view)(column.values[column.codes[i + atom.offset]]))

    return " ".join(f"{atom}={value(atom)}" for atom in context.atoms)


def _times(log_rate: float, than: str = USUAL) -> str:
    return f"{math.exp(log_rate):.2g}× its {than}"
