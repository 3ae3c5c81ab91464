"""Why the Tagger chose a label: what each context contributes to its score, with the counts behind it.

The contributions of a sentence add up to the score of its labels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from corate.arrays import Int, owners
from corate.contexts.template import Atom, Context
from corate.contexts.values import column_of
from corate.contexts.views import view
from corate.lattice import decode
from corate.lattice.triple_blocks import edge_ends, triple_ends
from corate.models.explanation import Explanation, Explanations, Reason, runner_up, times
from corate.models.tagger.evidence import Evidence, PairEvidence
from corate.models.tagger.lattices import LatticeMaker, evidence_of
from corate.rates.rates import Rates
from corate.text.corpus import Corpus

USUAL = "usual rate"


def explain(maker: LatticeMaker, corpus: Corpus, classes: Sequence[str]) -> list[Explanation]:
    """Explain the best labels of a corpus of one sentence."""
    # The labels and probabilities are those of `predict`; evidence is shown of everything.
    lattice = maker.refined(maker.lattice(corpus), corpus)
    best = decode.viterbi(lattice)
    marginals = decode.marginals(lattice).probabilities
    labels = best.labels(lattice).tolist()
    pairs = PairEvidence.of(maker.rates, corpus, lattice, everything=True)
    told = _Reasons(maker, corpus, best.candidates, classes, pairs)
    explanations = []
    names = map(str, range(1, corpus.n_tokens + 1)) if corpus.keys else corpus.words.strings()
    for i, word in enumerate(names):
        chosen = int(best.candidates[i])
        other = runner_up(lattice, marginals, classes, i, chosen)
        reasons = sorted(told.at(i), key=lambda reason: -abs(reason.score))
        explanations.append(Explanation(word, classes[labels[i]], float(marginals[chosen]), other, reasons))
    return Explanations(explanations)


class _Reasons:
    """The terms of the score of a sentence's labels, in words."""

    def __init__(
        self,
        maker: LatticeMaker,
        corpus: Corpus,
        chosen: Int,  # candidates of the best labels
        classes: Sequence[str],
        pairs: PairEvidence,
    ) -> None:
        self.rates, self.weights, self.corpus, self.pairs = maker.rates, maker.weights, corpus, pairs
        self.rows = maker.rows
        self.labels = pairs.lattice.labels[chosen].tolist()
        self.names = [classes[y] for y in self.labels]
        x = pairs.lattice
        assert x.triples is not None
        edges, triples = edge_ends(x.sentences, x.positions, x.left)[:2], triple_ends(x, x.triples)
        owner = owners(x.positions)
        self.edges, self.triples = (
            {int(owner[ends[-1][k]]): int(k) for k in _chosen(ends, chosen)} for ends in (edges, triples)
        )  # of the tokens that have one
        self.left = x.left
        self.shown: Evidence = evidence_of(self.rates, corpus, settings=maker.settings)
        groups = (self.rates.groups.alone, self.rates.groups.around)
        positions, own = np.arange(corpus.n_tokens + 1), np.array(self.labels, np.int32)
        self.row_terms = (
            np.zeros((corpus.n_tokens, len(self.rates.contexts)))
            if self.rows is None
            else self.rows.terms(corpus, positions, own)
        )
        self.queries = np.vstack([self.rates.tokens.queries(group, corpus) for group in groups])

    def at(self, i: int) -> list[Reason]:
        reasons = self._of_contexts(i)
        if i in self.edges:
            reasons += self._of_pair(i)
        if i in self.triples:
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
                rate = _rate_in_words(terms.log_rates[j], than)
                text = f"{_describe(context, self.corpus, i)} was {name} {support}, {rate}"
                reasons.append(Reason(text, float(terms.contexts[j] + self.row_terms[i, j])))
        return reasons

    def _of_pair(self, i: int) -> list[Reason]:
        (score, rate), *others = self.pairs.edge_terms(self.weights, self.edges[i])
        if self.rows is not None:
            score += float(self.rows.pair[self.labels[self._before(i)], self.labels[i]])
        text = f"{self.names[i]} {self.after} {self.names[self._before(i)]}"
        reasons = [Reason(f"{text}: {_rate_in_words(rate)}", score)]
        return reasons + [
            Reason(f"{text} at {_describe(context, self.corpus, i)}, {_rate_in_words(rate)}", score)
            for context, (score, rate) in zip(self.rates.groups.of_pairs.contexts, others, strict=True)
            if rate
        ]

    @property
    def after(self) -> str:
        return "after" if self.left is None else "under"

    def _before(self, i: int) -> int:
        """The token before, or the parent."""
        return i - 1 if self.left is None else int(self.left[i])

    def _of_triple(self, i: int) -> Reason:
        triple = self.triples[i]
        rate, score = self.pairs.triple[triple], self.pairs.triple_scores(self.weights)[triple]
        parent = self._before(i)
        before = f"{self.names[self._before(parent)]} {self.names[parent]}"
        text = f"{self.names[i]} {self.after} {before}: {_rate_in_words(rate)} {self.after} the latter"
        return Reason(text, float(score))


def _chosen(ends: Sequence[Int], chosen: Int) -> Int:
    """The edges, or triples, all of whose ends are chosen."""
    return np.flatnonzero(np.all([np.isin(end, chosen) for end in ends], axis=0))


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


def _rate_in_words(log_rate: float, than: str = USUAL) -> str:
    return f"{math.exp(log_rate):.2g}× its {than}"
