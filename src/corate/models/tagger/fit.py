"""Fitted weights: some thousand numbers, chosen on parts of the training data that their counts do not know.

Each fold is a contiguous part of the training data (in running text a name repeats within its document), all
of it or some 20,000 tokens; its counts are subtracted from the total, not recounted. What is left scores the
fold; the conditional likelihood of its labels (forward–backward over the lattice of candidates) is maximised
by L-BFGS, with a penalty on the distance from the fixed weights. The cost does not grow with the corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from corate.arrays import Float, Int, owners
from corate.counts.count import Events
from corate.lattice import decode
from corate.lattice.lattice import Lattice, end_candidates
from corate.lattice.narrow import keep, max_marginals
from corate.lattice.triple_blocks import edge_ends, triple_ends, triple_offsets
from corate.models.tagger.evidence import MOST_VALUES, SINGLES, Rows, Weights, evidence, triple_rates
from corate.rates.lookup import Rates
from corate.text.corpus import UNLABELLED, Corpus

Progress = Callable[[float], object]  # told which part of the work is done

N_FOLDS = 5
SAMPLE_TOKENS = 100_000  # over all folds
STEPS = 30
KIND_MARGIN = 9.0  # candidates of a kind of token this far below its best one, under the fixed weights, and
FIT_MARGIN = 7.0  # those whose best sequence is this far below the best one, are left out
# Penalty, in units of the mean log-likelihood of a token, on λ and τ, and on what is learned for each label.
SINGLE_PENALTY, PENALTY, LABEL_PENALTY = 1e-1, 1e-2, 1e-3


@dataclass(frozen=True)
class HeldOut:
    """A lattice of the second order without its scores, and what they are made of."""

    lattice: Lattice
    rows: Rows
    gold: Int  # the right candidate of each position
    log_prior: Float  # of each candidate
    start: Float  # log CR(y; START) at the candidates of first positions, else 0
    end: Float
    pair: Float  # log CR(y; y′) of each edge
    pairs: Float  # edges × pair contexts
    triple: Float  # log CR(y; y″ | y′) of each triple
    gold_pair: float  # the sums over the right labels
    gold_pairs: Float
    gold_triple: float

    @property
    def n_tokens(self) -> int:
        return len(self.gold)

    def weighed(self, weights: Weights) -> Lattice:
        scores = weights.prior * self.log_prior + weights.labels[self.rows.labels]
        scores += weights.start * self.start + weights.end * self.end
        self.rows.weigh(weights.contexts, weights.contexts_by_label, scores, skip_single=True)
        return replace(
            self.lattice,
            scores=scores,
            edge_scores=weights.pair * self.pair + self.pairs @ weights.pairs,
            triple_scores=weights.triple * self.triple,
        )


def fit(events: Events, rates: Rates, n_threads: int = 1, progress: Progress | None = None) -> Weights:
    """Weights for the rates of these events; the fixed ones where there is too little to hold out."""
    start = Weights.fixed(rates)
    folds = folds_of(events, rates, start, n_threads) if events.corpus.n_sentences >= 2 * N_FOLDS else []
    return _maximise(folds, start, rates, n_threads, progress) if folds else start


def folds_of(events: Events, rates: Rates, start: Weights, n_threads: int = 1) -> list[HeldOut]:
    """Parts of the corpus, each seen by the counts of the rest."""
    corpus = events.corpus
    folds = []
    for k in range(N_FOLDS):
        begin, end = (corpus.n_tokens * step // N_FOLDS for step in (k, k + 1))
        end = min(end, begin + min(SAMPLE_TOKENS // N_FOLDS, MOST_VALUES // len(rates.contexts)))
        first, last = np.searchsorted(corpus.offsets, [begin, end]).tolist()
        if first < last and (fold := _held_out(events, rates, first, last, start, n_threads)) is not None:
            folds.append(fold)
    return folds


def _held_out(
    events: Events, rates: Rates, first: int, last: int, start: Weights, n_threads: int
) -> HeldOut | None:
    """Sentences first … last − 1; those with a token that has no label teach no weights."""
    sample = _labelled(events.corpus.select(first, last))
    if sample is None or sample.labels is None:
        return None
    others = Rates(rates.counts, rates.templates, events.count(first, last), rates)
    gold = sample.labels.encode(rates.counts.labels)
    shown = evidence(others, sample, n_threads, gold, start, KIND_MARGIN, everything=False)
    lattice = shown.lattice(start)
    is_gold = lattice.labels == gold[owners(lattice.positions)]
    kept = is_gold | (max_marginals(lattice, n_threads) >= -FIT_MARGIN)
    lattice = keep(lattice, kept)
    lattice = replace(lattice, triples=triple_offsets(lattice))
    assert lattice.triples is not None
    labels = lattice.labels
    right = np.flatnonzero(labels == gold[owners(lattice.positions)])
    left = np.flatnonzero(~sample.begins()[1:])
    triple = triple_rates(lattice, lattice.triples, others.triple, n_threads)
    ends = triple_ends(lattice, lattice.triples)
    pairs = others.pair_rates(sample, lattice.positions, labels, lattice.edges, True, n_threads)
    is_right = np.zeros(len(labels), bool)
    is_right[right] = True
    edge_left, edge_right, _ = edge_ends(lattice.sentences, lattice.positions)
    starts, stops = np.zeros(len(labels)), np.zeros(len(labels))
    at_start, at_end = end_candidates(lattice.sentences, lattice.positions)
    starts[at_start], stops[at_end] = others.start[labels[at_start]], others.end[labels[at_end]]
    return HeldOut(
        lattice,
        shown.rows(kept),
        right,
        others.log_prior[labels],
        starts,
        stops,
        others.pair[labels[edge_left], labels[edge_right]],
        pairs,
        triple,
        float(others.pair[gold[left], gold[left + 1]].sum()),
        pairs[is_right[edge_left] & is_right[edge_right]].sum(axis=0),
        float(triple[np.all([is_right[end] for end in ends], axis=0)].sum()),
    )


def _labelled(corpus: Corpus) -> Corpus | None:
    """The sentences that are labelled throughout."""
    assert corpus.labels is not None
    if UNLABELLED not in corpus.labels.values:
        return corpus
    missing = corpus.labels.codes == corpus.labels.values.index(UNLABELLED)
    whole = np.array([a < b and not missing[a:b].any() for a, b in corpus.spans()], bool)
    return corpus.take(whole) if whole.any() else None


def _maximise(
    folds: list[HeldOut], start: Weights, rates: Rates, n_threads: int, progress: Progress | None
) -> Weights:
    from scipy.optimize import minimize

    middle = start.vector()
    penalty = np.full(len(middle), LABEL_PENALTY)
    penalty[: len(middle) - start.labels.size - start.contexts_by_label.size] = PENALTY
    penalty[: len(SINGLES)] = SINGLE_PENALTY

    def objective(vector: Float) -> tuple[float, Float]:
        value, gradient = mean_loss(folds, Weights.from_vector(vector, rates), n_threads)
        away = vector - middle
        return value + float((penalty * away**2).sum()), gradient + 2 * penalty * away

    steps = count(1)
    best = minimize(
        objective,
        middle,
        jac=True,
        method="L-BFGS-B",
        bounds=start.bounds(),
        options={"maxiter": STEPS},
        callback=None if progress is None else lambda _: progress(next(steps) / STEPS),
    )
    return Weights.from_vector(np.asarray(best.x), rates)


def mean_loss(folds: Sequence[HeldOut], weights: Weights, n_threads: int = 1) -> tuple[float, Float]:
    """−log P(gold) of a token, and its gradient in the weights' vector."""
    n_tokens = sum(fold.n_tokens for fold in folds)
    losses = [_loss(fold, weights, n_threads) for fold in folds]
    return sum(loss for loss, _ in losses) / n_tokens, np.sum(
        [slope for _, slope in losses], axis=0
    ) / n_tokens


def _loss(fold: HeldOut, weights: Weights, n_threads: int) -> tuple[float, Float]:
    """−log P(gold) and its gradient: expected minus observed evidence."""
    lattice = fold.weighed(weights)
    found = decode.posteriors(lattice, n_threads)
    observed = lattice.scores[fold.gold].sum()
    observed += weights.pair * fold.gold_pair + fold.gold_pairs @ weights.pairs
    observed += weights.triple * fold.gold_triple
    surplus = found.probabilities
    surplus[fold.gold] -= 1.0
    n_labels = len(weights.labels)
    by_bucket, by_label = fold.rows.unweigh(surplus, n_labels)
    gradient = Weights(
        float(surplus @ fold.log_prior),
        float(found.edges @ fold.pair - fold.gold_pair),
        float(surplus @ fold.start),
        float(surplus @ fold.end),
        float(found.triples @ fold.triple - fold.gold_triple),
        found.edges @ fold.pairs - fold.gold_pairs,
        by_bucket,
        np.bincount(fold.rows.labels, weights=surplus, minlength=n_labels).astype(np.float64),
        by_label,
    )
    return float(found.log_z.sum() - observed), gradient.vector()
