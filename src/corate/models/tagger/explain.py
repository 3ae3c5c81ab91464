"""Why the Tagger chose a label: what each context contributes to its score, with the counts behind it.

The contributions of a sentence add up to the score of its labels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from corate.contexts.template import Atom, Context
from corate.contexts.values import column_of
from corate.contexts.views import view
from corate.lattice import decode
from corate.lattice.triple_blocks import edge_ends
from corate.models.explanation import Explanation, Reason, runner_up, times
from corate.models.tagger.evidence import Evidence
from corate.models.tagger.scorer import Scorer, evidence_of
from corate.rates.rates import Rates
from corate.text.corpus import Corpus

USUAL = "usual rate"


def explain(scorer: Scorer, corpus: Corpus, classes: Sequence[str]) -> list[Explanation]:
    """Explain the best labels of a corpus of one sentence."""
    # The labels and probabilities are those of `predict`; evidence is shown of everything.
    lattice = scorer.refined(scorer.lattice(corpus), corpus)
    best = decode.viterbi(lattice)
    marginals = decode.marginals(lattice).probabilities
    labels = best.labels(lattice).tolist()
    left, right, _ = edge_ends(lattice.sentences, lattice.positions)
    on_path = np.isin(left, best.candidates) & np.isin(right, best.candidates)
    pairs = scorer.rates.pair_rates(corpus, lattice.positions, lattice.labels, lattice.edges)[on_path]
    told = _Reasons(scorer, corpus, labels, classes, pairs.tolist())
    explanations = []
    names = map(str, range(1, corpus.n_tokens + 1)) if corpus.keys else corpus.words.strings()
    for i, word in enumerate(names):
        chosen = int(best.candidates[i])
        other = runner_up(lattice, marginals, classes, i, chosen)
        reasons = sorted(told.at(i), key=lambda reason: -abs(reason.score))
        explanations.append(Explanation(word, classes[labels[i]], float(marginals[chosen]), other, reasons))
    return explanations


class _Reasons:
    """The terms of the score of a sentence's labels, in words."""

    def __init__(
        self,
        scorer: Scorer,
        corpus: Corpus,
        labels: list[int],
        classes: Sequence[str],
        pairs: list[list[float]],  # of the edge into each token but the first
    ) -> None:
        self.rates, self.weights, self.corpus = scorer.rates, scorer.weights, corpus
        self.labels, self.names, self.pairs = labels, [classes[y] for y in labels], pairs
        self.shown: Evidence = evidence_of(self.rates, corpus, settings=scorer.settings)
        groups = (self.rates.groups.alone, self.rates.groups.around)
        self.queries = np.vstack([self.rates.tokens.queries(group, corpus) for group in groups])

    def at(self, i: int) -> list[Reason]:
        reasons = self._of_contexts(i)
        if i > 0:
            reasons += self._of_pair(i)
        if i > 1:
            reasons.append(self._of_triple(i))
        return reasons

    def _of_contexts(self, i: int) -> list[Reason]:
        y, name, contexts = self.labels[i], self.names[i], self.rates.contexts
        terms = self.shown.terms(self.weights, i, y)
        prior = self.rates.labels.prior[y]
        reasons = [Reason(f"{name} is {100 * prior:.1f} % of all labels", terms.label)]
        for j, (context, parent) in enumerate(zip(contexts, self.rates.groups.parents, strict=True)):
            support = _support(self.rates, j, int(self.queries[j, i]), y)
            if support is not None:
                than = f"rate with {contexts[parent]}" if parent >= 0 else USUAL
                rate = _times(terms.log_rates[j], than)
                text = f"{_describe(context, self.corpus, i)} was {name} {support}, {rate}"
                reasons.append(Reason(text, float(terms.contexts[j])))
        return reasons

    def _of_pair(self, i: int) -> list[Reason]:
        rate = float(self.rates.labels.pair[self.labels[i - 1], self.labels[i]])
        text = f"{self.names[i]} after {self.names[i - 1]}"
        reasons = [Reason(f"{text}: {_times(rate)}", self.weights.pair * rate)]
        contexts, weights = self.rates.groups.of_pairs.contexts, self.weights.pairs.tolist()
        return reasons + [
            Reason(f"{text} at {_describe(context, self.corpus, i)}, {_times(rate)}", weight * rate)
            for context, weight, rate in zip(contexts, weights, self.pairs[i - 1], strict=True)
            if rate
        ]

    def _of_triple(self, i: int) -> Reason:
        three = np.array(self.labels[i - 2 : i + 1], np.int32)[:, None]
        rate = float(self.rates.labels.triple.rates(*three)[0])
        text = f"{self.names[i]} after {' '.join(self.names[i - 2 : i])}: {_times(rate)} after the latter"
        return Reason(text, self.weights.triple * rate)


def _support(rates: Rates, j: int, query: int, label: int) -> str | None:
    """`41 of 43 times`; None for a context that training never saw."""
    n_alone = len(rates.groups.alone.contexts)
    group, k = (rates.groups.alone, j) if j < n_alone else (rates.groups.around, j - n_alone)
    counts = rates.seen_with(group, k, query)
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
