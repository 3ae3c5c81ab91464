"""Fitted weights: some thousand numbers, chosen on folds of the training data that their counts do not know.

The counts of the other folds are the total minus the fold's: subtraction, not recounting. They score a sample
of the fold; the conditional likelihood of its labels (forward–backward over the lattice of candidates) is
maximised by L-BFGS, with a penalty on the distance from the fixed weights. Folds are contiguous: in running
text a name repeats within its document.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from corate import decode
from corate.corpus import Corpus
from corate.counts import Events
from corate.lattice import owners
from corate.rates import Float, Int, Rates
from corate.tagger_lattice import N_BUCKETS, Evidence, Weights, evidence

N_FOLDS = 5
SAMPLE_TOKENS = 60_000  # over all folds
STEPS = 80
# Penalty, in units of the mean log-likelihood of a token, on λ and τ, and on what is learned for each label.
PENALTY, LABEL_PENALTY = 5e-4, 1e-3


@dataclass(frozen=True)
class Fold:
    evidence: Evidence
    gold: Int  # the right candidate of each position
    edges: Float  # Σ log CR(y; y′) of the right labels

    @property
    def n_tokens(self) -> int:
        return len(self.gold)


def fit(events: Events, rates: Rates, n_threads: int = 1) -> Weights:
    """Weights for the rates of these events; the fixed ones where there is too little to hold out."""
    start = Weights.fixed(len(rates.contexts), rates.n_labels)
    if rates.counts.n_sentences < 2 * N_FOLDS:
        return start
    return _maximise(_folds(events, rates, n_threads), start, len(rates.contexts), rates.n_labels, n_threads)


def _folds(events: Events, rates: Rates, n_threads: int) -> list[Fold]:
    bounds = np.linspace(0, events.corpus.n_sentences, N_FOLDS + 1).astype(int).tolist()
    folds = []
    for first, last in pairwise(bounds):
        others = Rates(rates.counts.without(events.count(first, last)), rates.contexts, like=rates)
        folds.append(_fold(others, _sample(events.corpus.select(first, last)), n_threads))
    return folds


def _sample(corpus: Corpus) -> Corpus:
    """Sentences spread evenly over the fold, some SAMPLE_TOKENS / N_FOLDS tokens of them."""
    step = max(1, round(corpus.n_tokens * N_FOLDS / SAMPLE_TOKENS))
    if step == 1:
        return corpus
    with_tokens = np.flatnonzero(np.diff(corpus.offsets))[::step].tolist()
    return Corpus.join([corpus.select(s, s + 1) for s in with_tokens])


def _fold(rates: Rates, sample: Corpus, n_threads: int) -> Fold:
    assert sample.labels is not None
    gold = sample.labels.encode(rates.counts.labels)
    shown = evidence(rates, sample, n_threads, gold)
    right = np.flatnonzero(shown.labels == gold[owners(shown.positions)])
    left = np.flatnonzero(~sample.begins()[1:])
    return Fold(shown, right, shown.pair[gold[left], gold[left + 1]].sum())


def _maximise(folds: list[Fold], start: Weights, n_contexts: int, n_labels: int, n_threads: int) -> Weights:
    from scipy.optimize import minimize

    n_tokens = sum(fold.n_tokens for fold in folds)
    middle = start.vector()
    penalty = np.full(len(middle), LABEL_PENALTY)
    penalty[: 4 + n_contexts * N_BUCKETS] = PENALTY

    def objective(vector: Float) -> tuple[float, Float]:
        weights = Weights.from_vector(vector, n_contexts, n_labels)
        value, gradient = 0.0, np.zeros(len(vector))
        for fold in folds:
            loss, slope = _loss(fold, weights, n_threads)
            value += loss / n_tokens
            gradient += slope / n_tokens
        away = vector - middle
        return value + float((penalty * away**2).sum()), gradient + 2 * penalty * away

    best = minimize(objective, middle, jac=True, method="L-BFGS-B", options={"maxiter": STEPS})
    return Weights.from_vector(np.asarray(best.x), n_contexts, n_labels)


def _loss(fold: Fold, weights: Weights, n_threads: int) -> tuple[float, Float]:
    """−log P(gold) and its gradient: expected minus observed evidence."""
    shown = fold.evidence
    lattice = shown.lattice(weights)
    marginals, expected = decode.expectations(lattice, shown.pair, n_threads)
    observed = lattice.scores[fold.gold].sum() + weights.pair * fold.edges
    surplus = marginals.probabilities
    surplus[fold.gold] -= 1.0
    n_labels = len(shown.pair)
    by_bucket, by_label = shown.unweigh(surplus, n_labels)
    gradient = Weights(
        float(surplus @ shown.log_prior),
        by_bucket,
        float(expected.sum() - fold.edges),
        float(surplus @ shown.start),
        float(surplus @ shown.end),
        np.bincount(shown.labels, weights=surplus, minlength=n_labels).astype(np.float64),
        by_label,
    )
    return float(marginals.log_z.sum() - observed), gradient.vector()
