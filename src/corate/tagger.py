"""Tagger: weighted co-occurrence rates of many contexts, the same way for known and unknown words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from corate import weights as fitting
from corate.contexts import WORDS, Context
from corate.corpus import Corpus
from corate.counts import LABEL_PAIR, WORD_LABEL, Counts, Events
from corate.errors import InputError
from corate.estimator import Estimator, WordEntry, as_corpus
from corate.explain import Explanation
from corate.lattice import Float, Lattice
from corate.rates import Rates, in_order, table_of
from corate.tagger_explain import explain_evidence
from corate.tagger_lattice import N_BUCKETS, Weights, candidates, evidence

WEIGHTS = ("fitted", "fixed")
# The neighbours tell where sentences begin and end.
NEEDED = (WORD_LABEL, "word-1.y", "word+1.y", LABEL_PAIR)


class Tagger(Estimator):
    """A CRF whose factors are counted: co-occurrence rates of labels with many contexts at once.

    Parameters
    ----------
    weights : "fitted" or "fixed"
        Exponents of the rates: some hundred numbers fitted on folds of the training data, or constants, with
        which training is counting alone.
    contexts : names of context templates (see `corate.contexts`).
    n_jobs : threads; results do not depend on it.

    Examples
    --------
    >>> from corate import Tagger, load_sample
    >>> tagger = Tagger(weights="fixed").fit(*load_sample())
    >>> tagger.predict([["The", "neighbours", "repainted", "it", "."]])
    [['DET', 'NOUN', 'VERB', 'PRON', 'PUNCT']]
    """

    def __init__(self, weights: str = "fitted", contexts: Sequence[str] = WORDS, n_jobs: int = 1) -> None:
        self.weights = weights
        self.contexts = contexts
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Tagger:
        """Count the events of labelled sentences, and fit the weights if they are to be fitted."""
        self._check_params()
        events = Events(as_corpus(X, y), self._tables())
        counts = events.count()
        if not counts.n_tokens:
            raise InputError("no labelled token to learn from")
        contexts = in_order(self._context_templates())
        if self.weights == "fitted":
            found = fitting.fit(events, counts, contexts, self._n_threads())
        else:
            found = Weights.fixed(len(contexts), len(counts.labels))
        self._restore(counts, {}, {"weights": found.vector()})
        return self

    def fit_chunks(self, chunks: Iterable[Corpus]) -> Tagger:
        """Like `fit`, for sentences that arrive piece by piece."""
        return self.fit(Corpus.join(list(chunks)))

    def _tables(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*NEEDED, *map(table_of, self._context_templates())]))

    def _restore(self, counts: Counts, learned: dict[str, Any], arrays: dict[str, Any]) -> None:
        self.counts_ = counts
        self.classes_ = list(counts.labels)
        self._fitted_params = self.get_params()
        self._contexts = in_order(self._context_templates())
        vector = arrays["weights"]
        n_contexts, n_labels = len(self._contexts), len(counts.labels)
        if vector.shape != (4 + n_contexts * N_BUCKETS + n_labels * (n_contexts + 1),):
            raise ValueError(f"{vector.shape} weights for {n_contexts} contexts and {n_labels} labels")
        if not np.isfinite(vector).all():
            raise ValueError("a weight is not a number")
        self.weights_ = Weights.from_vector(vector, n_contexts, n_labels)
        self._rates: Rates | None = None

    def _learned_arrays(self) -> dict[str, Any]:
        return {"weights": self.weights_.vector()}

    def rates(self) -> Rates:
        """Smoothed rates, derived from the counts when first asked for."""
        self._check_fitted()
        if self._rates is None:
            self._rates = Rates(self.counts_, self._contexts)
        return self._rates

    def _lattice(self, corpus: Corpus) -> Lattice:
        return evidence(self.rates(), corpus, self._n_threads()).lattice(self.weights_)

    def context_names(self) -> list[str]:
        return [str(context) for context in self._contexts]

    def label_log_rates(self) -> Float:
        return self.rates().pair

    def word_entries(self, word: str) -> list[WordEntry]:
        """By the contexts that look at the word itself only, with their smoothed probabilities."""
        rates = self.rates()
        corpus = Corpus.from_sequences([[word]])
        positions, labels = candidates(rates, corpus)
        values, _ = rates.log_rates(
            rates.word_tables, rates.queries(corpus, rates.word_tables.contexts), positions, labels
        )
        known = word in rates.index("word")
        table = self.counts_.tables[WORD_LABEL]
        rows = table.field(0) == rates.index("word").get(word, -1)
        times = dict(zip(table.field(1)[rows].tolist(), table.n[rows].tolist(), strict=True))
        name = Context.parse("word")
        nearest = next(
            c for c in (name, *name.parents(), *rates.word_tables.contexts) if c in rates.word_tables.contexts
        )
        column = values[:, rates.word_tables.contexts.index(nearest)]
        return sorted(
            (
                WordEntry(
                    self.classes_[y],
                    times.get(y, 0) if known else None,
                    float(np.exp(r) * rates.prior[y]),
                    float(np.exp(r)),
                )
                for y, r in zip(labels.tolist(), column.tolist(), strict=True)
            ),
            key=lambda entry: -entry.probability,
        )

    def explain(self, tokens: Sequence[str]) -> list[Explanation]:
        """For every token of a sentence, the counts that made its label win, strongest first."""
        corpus = as_corpus([tokens])
        shown = evidence(self.rates(), corpus, self._n_threads())
        return explain_evidence(self.rates(), self.weights_, shown, corpus, self.classes_)

    def _context_templates(self) -> list[Context]:
        listed = isinstance(self.contexts, Iterable) and not isinstance(self.contexts, str)
        if not listed or not all(isinstance(name, str) for name in self.contexts):
            raise InputError(f"contexts={self.contexts!r}: give a list of names, such as {WORDS[:3]}")
        return [Context.parse(name) for name in dict.fromkeys(self.contexts)]

    def _check_params(self) -> None:
        if self.weights not in WEIGHTS:
            raise InputError(f"weights={self.weights!r}: choose from {', '.join(map(repr, WEIGHTS))}")
        if not self._context_templates():
            raise InputError("contexts is empty: name at least one")
        self._n_threads()
