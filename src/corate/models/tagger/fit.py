"""Fitted weights: some thousand numbers, chosen on parts of the training data that their counts do not know.

Each part is contiguous (in running text a name repeats within its document), all of a fold or some 20,000
tokens of it; its counts are subtracted from the total, not recounted. What is left scores the part; the
conditional likelihood of its labels (forward–backward over the lattice of candidates) is maximised by L-BFGS,
with a penalty on the distance from the fixed weights that is the larger the fewer tokens there are. The cost
does not grow with the corpus.

Leaving candidates out is dangerous: nothing keeps a fit from raising what it does not see. So a first fit, on
a few tokens of each part, sees all of them; the second one those that are near the best under its weights. It
can be left out where the fixed weights are good and there is much to fit on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from math import inf

import numpy as np

from corate.arrays import Float, Int, owners, rounded
from corate.counts.names import keys_of_tables
from corate.lattice import decode
from corate.lattice.lattice import Lattice
from corate.lattice.triple_blocks import edge_ends, triple_ends
from corate.models.tagger.evidence import Evidence, PairEvidence
from corate.models.tagger.lattices import evidence_of, narrowed
from corate.models.tagger.settings import SETTINGS, Settings
from corate.models.tagger.weights import SINGLES, Weights, all_common, some_common
from corate.rates.rates import Rates
from corate.text.corpus import UNLABELLED, Corpus
from corate.text.passages import Passages, beginning_between

LOG = logging.getLogger("corate")
STEP = "step %d of at most %d: objective %.6f, gradient norm %.4g"  # a token's, of those that were held out

Progress = Callable[[float], object]  # told which part of the work is done


@dataclass(frozen=True)
class HeldOut:
    """What a part of the training data shows to the counts of the rest, and its right labels."""

    evidence: Evidence
    pairs: PairEvidence
    gold: Int  # the right candidate of each position,
    gold_edges: Int  # and the edges
    gold_triples: Int  # and triples between them

    @property
    def n_tokens(self) -> int:
        return len(self.gold)

    def weighed(self, weights: Weights) -> Lattice:
        return self.pairs.weighed(weights, self.evidence.scores(weights))


def fit(
    text: Passages,
    rates: Rates,
    n_threads: int = 1,
    progress: Progress | None = None,
    settings: Settings = SETTINGS,
) -> Weights:
    """Weights for rates that know these sentences; the fixed ones where there is too little to hold out."""
    start = Weights.fixed(rates, settings)
    if not can_fit(text.n_sentences, settings):
        return start
    scouts = replace(settings, sample_tokens=settings.scout_tokens, fit_kind_margin=inf, fit_path_margin=inf)
    few = text.n_tokens <= settings.scout_tokens
    stages = [scouts] if few else [settings] if all_common(rates) else [scouts, settings]
    found = start
    for k, stage in enumerate(stages):
        parts = held_out_parts(text, rates, found, n_threads, stage)
        then = _share_of(progress, k, len(stages))
        if parts:
            stronger = strength(rates, sum(part.n_tokens for part in parts), settings)
            found = _maximise(parts, start, found, stronger, n_threads, then, settings)
    return found


def can_fit(n_sentences: int, settings: Settings = SETTINGS) -> bool:
    """Whether there is enough to hold something out."""
    return n_sentences >= 2 * settings.n_folds


def _share_of(progress: Progress | None, stage: int, n_stages: int) -> Progress | None:
    """Progress of one stage of several."""
    return None if progress is None else lambda share: progress((stage + share) / n_stages)


def held_out_parts(
    text: Passages, rates: Rates, near: Weights, n_threads: int = 1, settings: Settings = SETTINGS
) -> list[HeldOut]:
    """Parts of the text, each seen by the counts of the rest, with the candidates that are near the best
    ones under some weights."""
    n_folds, keys = settings.n_folds, keys_of_tables(rates.counts.tables)
    most = min(settings.sample_tokens // n_folds, settings.most_values // len(rates.contexts))
    parts = []
    for k in range(n_folds):
        begin, end = (text.n_tokens * step // n_folds for step in (k, k + 1))
        part = beginning_between(text, begin, min(end, begin + most)).with_keys(keys)
        sample = _labelled(part) if part.n_sentences else None
        if sample is not None:
            others = rates.without(rates.count(part))
            parts.append(_held_out(sample, others, near, n_threads, settings))
    return parts


def _labelled(corpus: Corpus) -> Corpus | None:
    """The sentences that are labelled throughout: others teach no weights."""
    assert corpus.labels is not None
    if UNLABELLED not in corpus.labels.values:
        return corpus
    missing = corpus.labels.codes == corpus.labels.values.index(UNLABELLED)
    whole = np.array([a < b and not missing[a:b].any() for a, b in corpus.spans()], bool)
    return corpus.take(whole) if whole.any() else None


def _held_out(sample: Corpus, rates: Rates, near: Weights, n_threads: int, settings: Settings) -> HeldOut:
    assert sample.labels is not None
    gold = sample.labels.encode(rates.counts.labels)
    shown = evidence_of(rates, sample, n_threads, gold, (near, settings.fit_kind_margin), False, settings)
    lattice = shown.lattice(near)
    is_gold = lattice.labels == gold[owners(lattice.positions)]
    narrow, kept = narrowed(lattice, settings.fit_path_margin, n_threads, is_gold)
    pairs = PairEvidence.of(rates, sample, narrow, n_threads)
    x, right = pairs.lattice, is_gold[kept]
    assert x.triples is not None
    left_end, right_end, _ = edge_ends(x.sentences, x.positions, x.left)
    triple = np.all([right[end] for end in triple_ends(x, x.triples)], axis=0)
    edge = right[left_end] & right[right_end]
    return HeldOut(shown.keep(kept), pairs, *map(np.flatnonzero, (right, edge, triple)))


def strength(rates: Rates, n_tokens: int, settings: Settings = SETTINGS) -> float:
    """How many times as strongly as with much text weights are drawn to their middle."""
    enough = settings.evidence_tokens if some_common(rates) else settings.own_evidence_tokens
    return max(1.0, enough / max(1, n_tokens))


def penalties(weights: Weights, settings: Settings = SETTINGS) -> Float:
    """What the squared distance of each number from its middle costs, where there is much text."""
    penalty = np.full(len(weights.vector()), settings.label_penalty)
    penalty[: -weights.bias.size - weights.contexts_by_label.size] = settings.context_penalty
    penalty[: len(SINGLES)] = settings.single_penalty
    return penalty


def _maximise(
    parts: list[HeldOut],
    drawn_to: Weights,
    start: Weights,
    stronger: float,
    n_threads: int,
    progress: Progress | None,
    settings: Settings,
) -> Weights:
    from scipy.optimize import minimize

    middle = drawn_to.vector()
    penalty = penalties(drawn_to, settings) * stronger

    value, slope, steps = inf, middle, count(1)

    def objective(vector: Float) -> tuple[float, Float]:
        nonlocal value, slope
        loss, gradient = mean_loss(parts, start.like(vector), n_threads)
        away = vector - middle
        first = value == inf
        value, slope = loss + float((penalty * away**2).sum()), gradient + 2 * penalty * away
        if first:
            LOG.info(STEP, 0, settings.steps, value, float(np.linalg.norm(slope)))
        return value, slope

    def stepped(vector: Float) -> None:
        step = next(steps)
        LOG.info(STEP, step, settings.steps, value, float(np.linalg.norm(slope)))
        if progress is not None:
            progress(step / settings.steps)

    n_tokens = sum(part.n_tokens for part in parts)
    LOG.info("weights of the Tagger: %d numbers, fitted on %s tokens", len(middle), f"{n_tokens:,}")
    best = minimize(
        objective,
        start.vector(),
        jac=True,
        method="L-BFGS-B",
        bounds=start.bounds(),
        options={"maxiter": settings.steps},
        callback=stepped,
    )
    return start.like(rounded(np.asarray(best.x)))


def mean_loss(parts: Sequence[HeldOut], weights: Weights, n_threads: int = 1) -> tuple[float, Float]:
    """−log P(gold) of a token, and its gradient in the weights' vector."""
    n_tokens = sum(part.n_tokens for part in parts)
    losses, slopes = zip(*(_loss(part, weights, n_threads) for part in parts), strict=True)
    return sum(losses) / n_tokens, np.sum(slopes, axis=0) / n_tokens


def _loss(part: HeldOut, weights: Weights, n_threads: int) -> tuple[float, Float]:
    """−log P(gold) and its gradient: expected minus observed evidence."""
    x = part.weighed(weights)
    assert x.triple_scores is not None
    found = decode.posteriors(x, n_threads)
    observed = x.scores[part.gold].sum() + x.edge_scores[part.gold_edges].sum()
    observed += x.triple_scores[part.gold_triples].sum()
    found.probabilities[part.gold] -= 1.0
    found.edges[part.gold_edges] -= 1.0
    found.triples[part.gold_triples] -= 1.0
    gradient = part.evidence.gradient(found.probabilities, weights)
    gradient = part.pairs.gradient(found.edges, found.triples, gradient)
    return float(found.log_z.sum() - observed), gradient.vector()
