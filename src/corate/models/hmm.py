"""HMM: hidden Markov model of the first order, by counting (004 §0.8).

    P(x, y) = P(y₁ | start) P(x₁ | y₁) ∏ᵢ P(yᵢ | yᵢ₋₁) P(xᵢ | yᵢ) · P(stop | yₙ)                  004 eqn 24

    none            P(y′ | y) = #(y, y′) / #(y),   P(x | y) = #(x, y) / #(y)
    lidstone        (# + k) / (… + k · outcomes), for both; an unknown word is one more outcome
    witten-bell     (# + T(y) P(·)) / (#(y) + T(y)), for both; T(y) is the number of distinct outcomes of y
    interpolation   λ P(y′ | y) + (1 − λ) P(y′), λ by deleted interpolation (Brants 2000); P(x | y) as none

An unknown word has P(x | y) ∝ P(y | f) / P(y), where f is the most specific of its contexts that rare words
have, smoothed towards the less specific ones; without contexts, f is that it is rare.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from corate.arrays import Float, Int, check_room, offsets_of, ragged_arange
from corate.contexts.template import Atom, Context, parse_all
from corate.contexts.values import Encoder, words_alone
from corate.counts.counts import Counts
from corate.counts.engines.base import Engine
from corate.counts.engines.memory import Chunks, whole
from corate.counts.names import FIRST_LABEL, LABEL, LABEL_PAIR, LAST_LABEL, WORD_LABEL
from corate.counts.table import Table
from corate.errors import InputError
from corate.lattice import decode
from corate.lattice.lattice import Lattice
from corate.models.base import MOST_SCORES
from corate.models.counted import Arrays, CountedModel, Learned, WordEntry
from corate.models.explanation import Explanation, Explanations, Reason, runner_up
from corate.models.probabilities import HMMTables
from corate.rates.empirical import LOG_ZERO, label_log_prob, label_log_rate
from corate.text.corpus import Corpus
from corate.text.passages import Passages
from corate.text.tokens import as_corpus

SMOOTHING = ("none", "lidstone", "witten-bell", "interpolation")
SUFFIXES = ("suffix5", "suffix4", "suffix3", "suffix2", "suffix1", "initial")  # most specific first
MOST_K = 1e9
RARE = 10  # words seen at most so often tell what unknown ones are like, as in TnT


class HMM(HMMTables, CountedModel):
    """Hidden Markov model. Like all counted models it can learn more, forget and merge.

    Parameters
    ----------
    smoothing : {"interpolation", "witten-bell", "lidstone", "none"}
        How counts # become P(y′ | y) and P(x | y).
        "none": #(y, y′) / #(y) and #(x, y) / #(y); "lidstone": k is added to every count; "witten-bell":
        drawn to P(y′) and P(x), the more so the more distinct outcomes y has; "interpolation" (the default):
        λ P(y′ | y) + (1 − λ) P(y′) by deleted interpolation (Brants 2000), P(x | y) as with "none".
    k : float
        What "lidstone" adds to every count.
    contexts : list of str
        Of unknown words, the most specific first; none takes all unknown words for alike.
    ends : bool
        Whether sentences have a start and a stop state. Without them the first label has P(y) — and
        without smoothing the best labels of known words are those of `EmpiricalCRF(pair="label")`.
    ledger : bool
        Whether to keep digests of the sentences, so that only what was learned can be forgotten.
    n_jobs : int
        Threads for decoding; results do not depend on it. −1 takes all cores.

    Examples
    --------
    >>> from corate import HMM
    >>> hmm = HMM().fit([["the", "dog", "barks"]], [["DET", "NOUN", "VERB"]])
    >>> hmm.predict([["the", "dog"]])
    [['DET', 'NOUN']]
    """

    def __init__(
        self,
        smoothing: str = "interpolation",
        k: float = 0.1,
        contexts: Sequence[str] = SUFFIXES,
        ends: bool = True,
        ledger: bool = True,
        n_jobs: int = 1,
    ) -> None:
        self.smoothing = smoothing
        self.k = k
        self.contexts = contexts
        self.ends = ends
        self.ledger = ledger
        self.n_jobs = n_jobs

    _factors: Factors | None

    # Training is counting ----------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> HMM:
        """Count the events of labelled sentences `X`, `y`."""
        self._check_params()
        return self._train(whole(as_corpus(X, y)))

    def fit_chunks(
        self, chunks: Iterable[Corpus], engine: Engine = Chunks, min_count: int | None = None
    ) -> HMM:
        """Like `fit`, for `chunks` of sentences that need not fit into memory together; the `engine` counts
        them. `min_count` is refused, as in `prune`."""
        self._check_params()
        return self._train(engine(map(as_corpus, chunks)), min_count)

    def _become(self, text: Passages | None, settled: tuple[Context, ...], counts: Counts) -> None:
        self._set_learned(counts, {}, {})

    def _tables(self) -> tuple[str, ...]:
        return (LABEL, FIRST_LABEL, LAST_LABEL, LABEL_PAIR, WORD_LABEL)

    def _set_learned(self, counts: Counts, learned: Learned, arrays: Arrays) -> None:
        self._contexts = parse_all(self.contexts)
        self._remember_params()
        self._replace_counts(counts)

    def _replace_counts(self, counts: Counts, changed: Counts | None = None, sign: int = 1) -> None:
        self.__dict__.update(counts_=counts, classes_=list(counts.labels), _factors=None)

    @staticmethod
    def _mean(
        models: Sequence[HMM], shares: Sequence[float], labels: Sequence[str]
    ) -> tuple[Learned, Arrays]:
        return {}, {}

    # Decoding ----------------------------------------------------------------------------------------

    def factors(self) -> Factors:
        """Probabilities, derived from the counts when first asked for."""
        self._check_fitted()
        counts, factors, fitted = self.counts_, self._factors, self._fitted_params
        if factors is None or factors.counts is not counts:
            factors = Factors.of(counts, self._contexts, fitted["smoothing"], fitted["k"])
            self._factors = factors
        return factors

    def _derive(self) -> None:
        self.factors()

    def _batch_tokens(self) -> int:
        return max(1, min(super()._batch_tokens(), MOST_SCORES // len(self.classes_)))

    def _lattice(self, corpus: Corpus) -> Lattice:
        check_room(corpus.n_tokens * len(self.classes_), f"{len(self.classes_):,} labels at every token")
        factors = self.factors()
        emissions = factors.emissions(corpus.words.values)
        own = emissions[corpus.words.codes]
        possible = own > LOG_ZERO
        first, last = corpus.offsets[:-1], corpus.offsets[1:] - 1
        some = first <= last
        if self._fitted_params["ends"]:
            own[first[some]] += factors.start
            own[last[some]] += factors.stop
        else:
            own[first[some]] += factors.log_prior
        labels = np.broadcast_to(np.arange(len(self.classes_), dtype=np.int32), own.shape)
        return Lattice(
            corpus.offsets,
            offsets_of(possible.sum(axis=1)),
            labels[possible],
            own[possible],
            factors.transitions,
            np.zeros(corpus.n_tokens + 1, np.int64),
            np.empty(0),
        )

    def label_log_rates(self) -> Float:
        table = self.counts_.tables[WORD_LABEL]
        return label_log_rate(self.counts_.tables[LABEL_PAIR], label_log_prob(table, len(self.classes_)))

    def word_entries(self, word: str) -> list[WordEntry]:
        """P(y | x) by Bayes' rule, of a word by itself."""
        factors = self.factors()
        score = factors.emissions([word])[0] + factors.log_prior
        p = np.exp(score - np.logaddexp.reduce(score))
        table = self.counts_.tables[WORD_LABEL]
        known = table.field(0) == factors.index.get(word, -1)
        times = dict(zip(table.field(1)[known].tolist(), table.n[known].tolist(), strict=True))
        prior = np.exp(factors.log_prior)
        entries = [
            WordEntry(name, times.get(y, 0) if times else None, float(p[y]), float(p[y] / prior[y]))
            for y, name in enumerate(self.classes_)
            if p[y] > 0
        ]
        return sorted(entries, key=lambda entry: -entry.probability)

    def explain(self, tokens: Sequence[str]) -> list[Explanation]:
        """For every token of a sentence (`tokens`), the probabilities that its label had."""
        corpus = self._corpus([tokens])
        lattice, factors = self._lattice(corpus), self.factors()
        best = decode.viterbi(lattice)
        labels = best.labels(lattice).tolist()
        probabilities = decode.marginals(lattice).probabilities
        own, ends = factors.emissions(corpus.words.strings()), self._fitted_params["ends"]
        explanations = []
        for i, (word, y) in enumerate(zip(corpus.words.strings(), labels, strict=True)):
            name, kind = self.classes_[y], "" if word in factors.index else "unknown word "
            reasons = [Reason(f"{kind}{word!r} given {name}", float(own[i, y]))]
            if i:
                before = self.classes_[labels[i - 1]]
                reasons.append(Reason(f"{name} after {before}", float(factors.transitions[labels[i - 1], y])))
            else:
                score = float((factors.start if ends else factors.log_prior)[y])
                reasons.append(Reason(f"{name} first" if ends else f"{name} anywhere", score))
            if ends and i == len(labels) - 1:
                reasons.append(Reason(f"{name} last", float(factors.stop[y])))
            chosen = int(best.candidates[i])
            other = runner_up(lattice, probabilities, self.classes_, i, chosen)
            explanations.append(Explanation(word, name, float(probabilities[chosen]), other, reasons))
        return Explanations(explanations)

    def prune(self, below: int = 2) -> HMM:
        """Refused, for any `below`: without its rare words a label may have none left to emit."""
        return super().prune(below)

    def _check_below(self, below: Any) -> None:
        raise InputError("an HMM cannot be pruned: its words are all it has")

    def _check_params(self) -> None:
        if self.smoothing not in SMOOTHING:
            raise InputError(f"smoothing={self.smoothing!r}: choose from {', '.join(map(repr, SMOOTHING))}")
        if not isinstance(self.k, (int, float, np.number)) or not 0 < self.k <= MOST_K:
            raise InputError(
                f"k={self.k!r}: give a number above 0 (to {MOST_K:g}), what is added to every count"
            )
        if not isinstance(self.ends, (bool, np.bool_)):
            raise InputError(f"ends={self.ends!r}: say True or False")
        contexts = parse_all(self.contexts)
        if not all(context.is_word_alone for context in contexts):
            names = [str(context) for context in contexts]
            raise InputError(f"contexts={names}: an unknown word is judged by itself, not by its neighbours")
        self._check_shared_params()


@dataclass(frozen=True)
class Factors:
    """Logarithms of probabilities; LOG_ZERO for what never occurred."""

    counts: Counts
    index: dict[str, int]  # of known words
    log_prior: Float  # P(y)
    start: Float  # P(y | start)
    stop: Float  # P(stop | y)
    transitions: Float  # P(y′ | y)
    known: Emissions  # P(x | y)
    unknown: Unknown

    @classmethod
    def of(cls, counts: Counts, contexts: Sequence[Context], smoothing: str, k: float) -> Factors:
        n = len(counts.labels)
        times = np.zeros((n + 1, n + 1))  # from labels and start, to labels and stop
        pairs = counts.tables[LABEL_PAIR]
        times[pairs.field(0), pairs.field(1)] = pairs.n
        first, last = counts.tables[FIRST_LABEL], counts.tables[LAST_LABEL]
        times[n, first.field(0)] = first.n
        times[last.field(0), n] = last.n
        table = counts.tables[WORD_LABEL]
        of_word = LabelCounts(table, len(counts.words), n)
        steps = smoothed(times, smoothing, k, n + 1)
        log_prior = label_log_prob(table, n)
        return cls(
            counts,
            {word: i for i, word in enumerate(counts.words)},
            log_prior,
            _log(steps[n, :n]),
            _log(steps[:n, n]),
            _log(steps[:n, :n]),
            Emissions(of_word, smoothing, k),
            Unknown(contexts, counts.words, of_word, np.exp(log_prior)),
        )

    def emissions(self, words: Sequence[str]) -> Float:
        """log P(x | y), up to a constant at unknown words; words × labels."""
        check_room(
            len(words) * len(self.log_prior), f"{len(self.log_prior):,} labels of {len(words):,} words"
        )
        place = np.array([self.index.get(word, -1) for word in words], np.int64)
        made = np.empty((len(words), len(self.log_prior)))
        made[place >= 0] = self.known(place[place >= 0])
        strange = np.flatnonzero(place < 0)
        if len(strange):
            found = self.unknown.log_prob([words[i] for i in strange.tolist()])
            made[strange] = found - self.log_prior
        return made


class LabelCounts:
    """#(f, y) of many values f, most of which have few labels."""

    def __init__(self, table: Table, n_values: int, n_labels: int) -> None:
        self.table, self.n_labels = table, n_labels
        self.offsets = offsets_of(np.bincount(table.field(0), minlength=n_values))
        self.totals = np.bincount(table.field(0), table.n, n_values)  # #(f)

    def rows(self, values: Int) -> Float:
        """Some values × labels."""
        lengths = np.diff(self.offsets)[values]
        places = ragged_arange(self.offsets[values], lengths)
        made = np.zeros((len(values), self.n_labels))
        made[np.repeat(np.arange(len(values)), lengths), self.table.field(1)[places]] = self.table.n[places]
        return made


class Emissions:
    """log P(x | y) of known words."""

    def __init__(self, of_word: LabelCounts, smoothing: str, k: float) -> None:
        table, n = of_word.table, of_word.n_labels
        self.of_word, self.smoothing, self.k = of_word, smoothing, k
        self.n_outcomes = len(of_word.totals) + 1  # a word that is not known is one more
        self.total = np.bincount(table.field(1), table.n, n)  # #(y)
        self.kinds = np.maximum(np.bincount(table.field(1), minlength=n), 1)

    def __call__(self, words: Int) -> Float:
        """Some words × labels."""
        times = self.of_word.rows(words)
        if self.smoothing == "lidstone":
            return _log((times + self.k) / (self.total + self.k * self.n_outcomes))
        if self.smoothing == "witten-bell":
            anyhow = (self.of_word.totals / self.total.sum())[words, None]
            return _log((times + self.kinds * anyhow) / (self.total + self.kinds))
        return _log(np.divide(times, self.total, out=np.zeros_like(times), where=self.total > 0))


class Unknown:
    """P(y | f) of the contexts of rare words, each smoothed (Witten–Bell) towards the next."""

    def __init__(
        self, contexts: Sequence[Context], words: Sequence[str], of_word: LabelCounts, prior: Float
    ) -> None:
        table, n = of_word.table, of_word.n_labels
        rare = np.flatnonzero(of_word.totals <= RARE)
        place = np.full(len(words), -1)
        place[rare] = np.arange(len(rare))
        kept = table.only(place[table.field(0)] >= 0)
        together = np.bincount(kept.field(1), kept.n, n).astype(np.float64)
        self.prior = _witten_bell(together[None], prior)[0]
        views = [context.as_view() for context in reversed(contexts)]
        encoded = Encoder.learn(words_alone([words[i] for i in rare.tolist()]), views)
        self._encoder = encoded.encoder
        self.steps: list[tuple[Atom, LabelCounts]] = []  # views and #(f, y), least specific first
        for view in views:
            values = encoded.ids[view.source][place[kept.field(0)]]
            of_value = Table.of([values, kept.field(1)], kept.n)
            self.steps.append((view, LabelCounts(of_value, len(self._encoder.vocabularies[view.source]), n)))

    def log_prob(self, words: Sequence[str]) -> Float:
        found = np.broadcast_to(self.prior, (len(words), len(self.prior)))
        for view, total in self.steps:
            place = self._encoder.ids(view, words)
            seen = place >= 0
            found = found.copy()
            found[seen] = _witten_bell(total.rows(place[seen].astype(np.int64)), found[seen])
        return np.asarray(np.log(found))


def _witten_bell(times: Float, towards: Float) -> Float:
    """(# + T P) / (Σ # + T), with T the number of distinct outcomes of the row."""
    kinds = np.maximum(np.count_nonzero(times, axis=1), 1)[:, None]
    made: Float = (times + kinds * towards) / (times.sum(axis=1, keepdims=True) + kinds)
    return made


def smoothed(times: Float, smoothing: str, k: float, n_outcomes: int) -> Float:
    """P(column | row) from a table of counts; a row that never occurred has 0 without smoothing."""
    total = times.sum(axis=1, keepdims=True)
    alone: Float = np.divide(times, total, out=np.zeros_like(times), where=total > 0)
    if smoothing == "lidstone":
        return np.asarray((times + k) / (total + k * n_outcomes))
    if not times.any():  # no label has a neighbour that is labelled: all are alike
        return alone if smoothing == "none" else np.full_like(times, 1 / n_outcomes)
    common = times.sum(axis=0) / times.sum()
    if smoothing == "witten-bell":
        return _witten_bell(times, common)
    if smoothing == "interpolation":
        share = deleted_interpolation(times)
        return np.asarray(np.where(total > 0, share * alone + (1 - share) * common, common))
    return alone


def deleted_interpolation(times: Float) -> float:
    """The weight of P(y′ | y) against P(y′): each event votes for the one that expects it without itself."""
    row, column = np.nonzero(times)
    n = times[row, column]
    rows, columns, total = times.sum(axis=1)[row], times.sum(axis=0)[column], times.sum()
    given = np.divide(n - 1, rows - 1, out=np.zeros_like(n), where=rows > 1)
    anyhow = (columns - 1) / max(total - 1, 1.0)
    return float(n[given >= anyhow].sum() / total)


def _log(p: Float) -> Float:
    made = np.full(p.shape, LOG_ZERO)
    np.log(p, out=made, where=p > 0)
    return made
