"""Tagger: weighted co-occurrence rates of many contexts, the same way for known and unknown words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from corate import weights as fitting
from corate.contexts import WORDS, Context, parse_all
from corate.corpus import Corpus
from corate.counts import LABEL_PAIR, WORD_LABEL, Counts, Events
from corate.errors import InputError
from corate.estimator import Estimator, WordEntry, as_corpus
from corate.explain import Explanation
from corate.lattice import Float, Lattice
from corate.rates import WORD, Rates, in_order, table_of
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
        Exponents of the rates: contexts × (labels + 6) numbers or so, whatever the size of the corpus, fitted
        on folds of the training data; or constants, with which training is counting alone.
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
        rates = Rates(counts, self._context_templates())
        if self.weights == "fitted":
            found = fitting.fit(events, rates, self._n_threads())
        else:
            found = Weights.fixed(len(rates.contexts), rates.n_labels)
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
        self._remember_params()
        self._contexts = self._context_templates()
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

    def label_log_rates(self) -> Float:
        return self.rates().pair

    def word_entries(self, word: str) -> list[WordEntry]:
        """P(y | f), smoothed, of the longest view of the word that training saw."""
        rates = self.rates()
        corpus = Corpus.from_sequences([[word]])
        positions, labels = candidates(rates, corpus)
        tables = rates.word_tables
        values, buckets = rates.log_rates(tables, rates.queries(corpus, tables.contexts), positions, labels)
        seen = [c for c, bucket in zip(tables.contexts, buckets[0].tolist(), strict=True) if bucket]
        nearest = next((c for c in (WORD, *WORD.parents(), *seen) if c in seen), WORD)
        log_rates = values[:, tables.contexts.index(nearest)].tolist()
        table = self.counts_.tables[WORD_LABEL]
        rows = table.field(0) == rates.index("word").get(word, -1)
        times = dict(zip(table.field(1)[rows].tolist(), table.n[rows].tolist(), strict=True))
        entries = []
        for y, log_rate in zip(labels.tolist(), log_rates, strict=True):
            rate = float(np.exp(log_rate))
            n = times.get(y, 0) if times else None
            entries.append(WordEntry(self.classes_[y], n, rate * float(rates.prior[y]), rate))
        return sorted(entries, key=lambda entry: -entry.probability)

    def explain(self, tokens: Sequence[str]) -> list[Explanation]:
        """For every token of a sentence, the counts that made its label win, strongest first."""
        corpus = as_corpus([tokens])
        shown = evidence(self.rates(), corpus, self._n_threads())
        return explain_evidence(self.rates(), self.weights_, shown, corpus, self.classes_)

    def _context_templates(self) -> list[Context]:
        return in_order(parse_all(self.contexts))

    def _check_params(self) -> None:
        if self.weights not in WEIGHTS:
            raise InputError(f"weights={self.weights!r}: choose from {', '.join(map(repr, WEIGHTS))}")
        if not self._context_templates():
            raise InputError("contexts is empty: name at least one")
        self._n_threads()
