"""EmpiricalCRF: the papers' empirical training. Training is counting; the factors have closed forms.

    P(y | x) ∝ ∏ᵢ ψ(yᵢ, xᵢ) · ∏ᵢ φ(yᵢ, yᵢ₊₁, xᵢ, xᵢ₊₁)                                        000 eqns 4, 6

    known words      ψ = P̃(y | x),  φ = CR(y; y′ | x, x′)  or  CR(y; y′)                     eqns 12, 13
    EP1              unknown words: ψ = mean of P̃(y | f) over their seen contexts f          000 §3.7.1
    ECRN             unknown words: ψ = P̃(y | f) of their joint context f                   002 §III-D
    EP2              unknown words: ψ = exp(Σ λ f) / Z, fitted to P̃(y | x) of known ones     000 §3.7.2

ECRN is thus EP1 with a single, joint context, and the code knows only that one case.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from corate.arrays import Float
from corate.contexts.defaults import SPELLING
from corate.contexts.template import Context, parse_all
from corate.counts.counts import Counts
from corate.counts.engines.base import Engine
from corate.counts.engines.memory import Chunks, whole
from corate.counts.names import LABEL_PAIR, WORD_LABEL, WORD_PAIR
from corate.errors import InputError
from corate.lattice import decode
from corate.lattice.lattice import Lattice
from corate.models.base import MOST_SCORES
from corate.models.counted import Arrays, CountedModel, Learned, WordEntry
from corate.models.empirical.ep2 import ExponentialFactors
from corate.models.empirical.explain import explain
from corate.models.empirical.factors import EmpiricalFactors
from corate.models.explanation import Explanation
from corate.text.corpus import Corpus
from corate.text.passages import Passages
from corate.text.tokens import as_corpus

# Where the exponent μ_oov is looked for when it is chosen on held-out data; 1 is the published formula.
MU_GRID = (0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 6.0)

UNKNOWN = ("mean", "signature", "maxent")
PAIR = ("label", "word")
C2 = 0.1  # chosen on Brown's held-out sentences


def _is_exponent(value: Any) -> bool:
    is_number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    return is_number and bool(0 < value <= 1000)


class EmpiricalCRF(CountedModel):
    """A linear-chain CRF whose factors are counted, as published (EP1, ECRN and EP2).

    Parameters
    ----------
    unknown : {"mean", "signature", "maxent"}
        EP1, ECRN or EP2.
        How a word that training never saw is described: by the mean of P̃(y | f) over its contexts, by their
        joint value, or by a log-linear model of them that is fitted to the known words.
    pair : {"label", "word"}
        Whether the pair factor is CR(y; y′), or CR(y; y′ | x, x′) wherever that pair of words was seen.
    contexts : list of str
        Names of context templates, for unknown words.
    mu_oov : float or None
        Exponent of ψ at unknown words; None chooses it on held-out data.
        The papers print μ_oov as a factor of ψ. A factor common to all labels of a position cancels in
        every decoding, so the number stands where it can do what the papers say of it; 1 is their formula.
    ledger : bool
        Whether the model keeps digests of what it has learned, so that it can refuse to learn it again,
        or to forget what it never learned.
    c2 : float
        Penalty on the squares of the weights of "maxent".
    n_jobs : int
        Threads; results do not depend on it. −1 takes all cores.

    Examples
    --------
    >>> from corate import EmpiricalCRF
    >>> crf = EmpiricalCRF().fit([["the", "dog", "barks"]], [["DET", "NOUN", "VERB"]])
    >>> crf.predict([["the", "dog"]])
    [['DET', 'NOUN']]
    """

    training_log_: list[dict[str, Any]]  # of "maxent": iteration, objective, gradient_norm, seconds, factor
    _factors: EmpiricalFactors | None

    def __init__(
        self,
        unknown: str = "mean",
        pair: str = "label",
        contexts: Sequence[str] = SPELLING,
        mu_oov: float | None = 1.0,
        ledger: bool = True,
        c2: float = C2,
        n_jobs: int = 1,
    ) -> None:
        self.unknown = unknown
        self.pair = pair
        self.contexts = contexts
        self.mu_oov = mu_oov
        self.ledger = ledger
        self.c2 = c2
        self.n_jobs = n_jobs

    # Training is counting ----------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, held_out: tuple[Any, Any] | Corpus | None = None) -> EmpiricalCRF:
        """Count the events of labelled sentences.

        X and y are lists of token lists and of label lists, or X is a labelled `Corpus`. With mu_oov=None the
        exponent is chosen on `held_out`, or else on the last tenth of X, with that tenth's counts subtracted.
        """
        self._check_params()
        corpus = as_corpus(X, y)
        if isinstance(held_out, tuple):
            held_out = as_corpus(*held_out)
        return self._train(whole(corpus), held_out=held_out)

    def fit_chunks(
        self,
        chunks: Iterable[Corpus],
        held_out: Corpus | None = None,
        engine: Engine = Chunks,
        min_count: int | None = None,
    ) -> EmpiricalCRF:
        """Like `fit`, for `chunks` of sentences that need not fit into memory together, with `held_out` as
        there; the `engine` counts them. `min_count`: events of contexts that are counted less often are
        dropped, see `prune`."""
        self._check_params()
        return self._train(engine(map(as_corpus, chunks)), min_count, held_out=held_out)

    def _looks_back(self, learning: Mapping[str, Any]) -> bool:
        return self.mu_oov is None and learning.get("held_out") is None

    def _tables(self) -> tuple[str, ...]:
        return (WORD_LABEL, LABEL_PAIR) + ((WORD_PAIR,) if self.pair == "word" else ())

    def _become(
        self,
        text: Passages | None,
        settled: tuple[Context, ...],
        counts: Counts,
        held_out: Corpus | None = None,
    ) -> None:
        mu_oov = self.mu_oov
        if mu_oov is None and held_out is not None:
            mu_oov = self._choose_mu_oov([held_out], counts)
        elif mu_oov is None:
            assert text is not None
            last = text.n_sentences - max(1, text.n_sentences // 10), text.n_sentences
            rest = counts - self._count(text.sentences(*last), self._tables()).counts
            mu_oov = self._choose_mu_oov(text.sentences(*last), rest)
        self._set_learned(counts, {"mu_oov": mu_oov})
        if self.unknown == "maxent":
            self.factors()  # whatever there is to say of the fit is said now

    def _choose_mu_oov(self, held_out: Iterable[Corpus], counts: Counts) -> float:
        """The exponent that labels most held-out tokens right, whose counts are left out; of equals, the one
        nearest to 1."""
        if not counts.n_tokens:
            return 1.0
        trial = type(self)(**{**self.get_params(), "mu_oov": 1.0})
        trial._set_learned(counts, {"mu_oov": 1.0})
        right = dict.fromkeys(MU_GRID, 0)
        for batch, lattice in chain.from_iterable(map(trial._batches, held_out)):
            if batch.labels is None:
                raise InputError("the held-out sentences have no labels")
            gold = batch.labels.encode(counts.labels)
            is_unknown = trial.factors().look_up(batch.words.values).known[batch.words.codes] < 0
            unknown = np.repeat(is_unknown, np.diff(lattice.positions))
            for mu_oov in MU_GRID:
                scaled = replace(lattice, scores=np.where(unknown, mu_oov, 1.0) * lattice.scores)
                found = decode.viterbi(scaled, self._n_threads()).labels(scaled)
                right[mu_oov] += int((found == gold).sum())
        return max(MU_GRID, key=lambda mu_oov: (right[mu_oov], -abs(mu_oov - 1.0)))

    def _set_learned(self, counts: Counts, learned: Learned, arrays: Arrays | None = None) -> None:
        mu_oov = learned.get("mu_oov", math.nan)
        if not _is_exponent(mu_oov) or self.mu_oov not in (None, mu_oov):
            raise ValueError(f"the exponent mu_oov is {mu_oov!r:.60} where {self.mu_oov!r} was asked for")
        self.mu_oov_ = float(mu_oov)
        self._contexts = self._context_templates()
        self._remember_params()
        self._replace_counts(counts)
        if self.unknown == "maxent" and arrays:
            factors = ExponentialFactors(counts, self._contexts)
            factors.take(arrays)
            self._factors, self.training_log_ = factors, []

    def _replace_counts(self, counts: Counts, changed: Counts | None = None, sign: int = 1) -> None:
        self.__dict__.update(counts_=counts, classes_=list(counts.labels), _factors=None)

    @staticmethod
    def _mean(
        models: Sequence[EmpiricalCRF], shares: Sequence[float], labels: Sequence[str]
    ) -> tuple[Learned, Arrays]:
        # fsum rounds once, whatever the order
        terms = (share * model.mu_oov_ for model, share in zip(models, shares, strict=True))
        same = len({model.mu_oov_ for model in models}) == 1
        return {"mu_oov": models[0].mu_oov_ if same else math.fsum(terms)}, {}

    def _learned(self) -> Learned:
        return {"mu_oov": self.mu_oov_}

    def _learned_arrays(self) -> Arrays:
        factors = self.factors()
        return dict(factors.weights) if isinstance(factors, ExponentialFactors) else {}

    # Decoding ----------------------------------------------------------------------------------------

    def factors(self) -> EmpiricalFactors:
        """ψ and φ, derived from the counts when first asked for."""
        self._check_fitted()
        counts, factors, fitted = self.counts_, self._factors, self._fitted_params
        if factors is None or factors.counts is not counts:
            if fitted["unknown"] == "maxent":
                factors = ExponentialFactors(counts, self._contexts)
                self.training_log_ = factors.fit(fitted["c2"], self._n_threads())
            else:
                factors = EmpiricalFactors(counts, self._contexts)
            self._factors = factors
        return factors

    def _derive(self) -> None:
        self.factors()

    def _batch_tokens(self) -> int:
        """Fewer where an unknown word has all labels, and its edges all pairs of them."""
        if self._fitted_params["unknown"] != "maxent" or self._fitted_params["pair"] != "word":
            return super()._batch_tokens()
        return min(super()._batch_tokens(), max(1, MOST_SCORES // len(self.classes_) ** 2))

    def _lattice(self, corpus: Corpus) -> Lattice:
        return self.factors().lattice(corpus, self.mu_oov_)

    def label_log_rates(self) -> Float:
        return self.factors().label_rate

    def word_entries(self, word: str) -> list[WordEntry]:
        factors = self.factors()
        times: list[int | None]
        if word in factors.index:
            rows = factors.word.rows(factors.index[word])
            labels, log_prob = factors.word.labels[rows], factors.word.scores[rows]
            times = list(factors.word.support[rows].tolist())
        else:
            labels, log_prob = factors.unknown_candidates(tuple(factors.look_up([word]).values[0].tolist()))
            times = [None] * len(labels)
        rate = np.exp(log_prob - factors.log_prior[labels]).tolist()
        names = [self.classes_[y] for y in labels.tolist()]
        entries = map(WordEntry, names, times, np.exp(log_prob).tolist(), rate)
        return sorted(entries, key=lambda entry: -entry.probability)

    def explain(self, tokens: Sequence[str]) -> list[Explanation]:
        """For every token of a sentence (`tokens`), the counts that made its label win."""
        corpus = self._corpus([tokens])
        return explain(self.factors(), self.classes_, self._lattice(corpus), corpus.words.strings())

    def _context_templates(self) -> list[Context]:
        """EP1: each context by itself. ECRN: one context, the joint value of all."""
        contexts = parse_all(self.contexts)
        if not all(context.is_word_alone for context in contexts):
            names = [str(context) for context in contexts]
            raise InputError(f"contexts={names}: an unknown word is judged by itself, not by its neighbours")
        if self.unknown == "signature" and contexts:
            return [Context(tuple(atom for context in contexts for atom in context.atoms))]
        return contexts

    def _check_params(self) -> None:
        if self.unknown not in UNKNOWN:
            raise InputError(f"unknown={self.unknown!r}: choose from {', '.join(map(repr, UNKNOWN))}")
        if self.pair not in PAIR:
            raise InputError(f"pair={self.pair!r}: choose from {', '.join(map(repr, PAIR))}")
        if not isinstance(self.c2, (int, float, np.number)) or not 0 < self.c2 < np.inf:
            raise InputError(f"c2={self.c2!r}: give a number above 0, the penalty on the squares of weights")
        if self.mu_oov is not None and not _is_exponent(self.mu_oov):
            raise InputError(
                f"mu_oov={self.mu_oov!r}: give a number between 0 and 1000, or None to choose it"
            )
        self._context_templates()
        self._check_shared_params()
