"""Is one model better than another, or did the test text happen to suit it?

    gold, labels ──► Outcomes (what is right, sentence by sentence) ──► two of them ──► Comparison

McNemar's test looks at tokens and takes them for independent, which tokens of one sentence are not; the
paired bootstrap resamples whole sentences. Both are given: where they disagree, believe the second.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from math import exp, fsum, lgamma, log
from operator import eq
from typing import Any

import numpy as np
import numpy.typing as npt

from corate.errors import InputError
from corate.evaluate import Score, Sentences, labelled_parts, span_sets
from corate.spans import detect_scheme

RESAMPLES = 10_000
LEVEL = 0.95  # of the interval
AT_A_TIME = 1_000  # resamples that are held in memory

Counts = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Outcomes:
    """What a comparison needs of the labels of one model.

    right: of every token, whether its label is the gold one. lengths: tokens of every sentence.
    spans: a row (correct, predicted, gold) a sentence, or None where labels are plain tags.
    """

    right: npt.NDArray[np.bool_]
    lengths: Counts
    spans: Counts | None

    @property
    def accuracy(self) -> float:
        return float(self.right.mean())

    @property
    def f1(self) -> float | None:
        return None if self.spans is None else Score(*self.spans.sum(axis=0).tolist()).f1

    def by_sentence(self) -> Counts:
        """How many labels of every sentence are right."""
        ends = np.cumsum(self.lengths)
        totals = np.concatenate([[0], np.cumsum(self.right)])
        return np.asarray(totals[ends] - totals[ends - self.lengths], np.int64)


@dataclass(frozen=True)
class Difference:
    """A rate of a and of b; the interval and the two-sided p-value of a − b, from resampled sentences."""

    a: float
    b: float
    low: float
    high: float
    p: float

    @property
    def lead(self) -> float:
        return self.a - self.b


@dataclass(frozen=True)
class Comparison:
    """What `compare` found. only_a, only_b: tokens that just one of the two has right."""

    tokens: int
    sentences: int
    accuracy: Difference
    only_a: int
    only_b: int
    mcnemar: float
    f1: Difference | None

    def to_json(self) -> dict[str, Any]:
        found = asdict(self)
        for name in ("accuracy", "f1"):
            rate = getattr(self, name)
            if rate is not None:
                found[name]["lead"] = rate.lead
        return found


def compare(
    gold: Sentences,
    a: Sentences,
    b: Sentences,
    *,
    scheme: str | None = "auto",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Comparison:
    """Compare the labels that two models give the same sentences.

    scheme: as in `evaluate`. Tokens whose gold label is `_` do not count.

    >>> found = compare([["N", "V"], ["N"]], [["N", "V"], ["N"]], [["N", "N"], ["N"]])
    >>> found.only_a, found.only_b, found.mcnemar
    (1, 0, 1.0)
    """
    gold, a, b = labelled_parts(gold, {"labels of a": a, "labels of b": b})
    return compare_outcomes(outcomes(gold, a, scheme), outcomes(gold, b, scheme), resamples, seed)


def outcomes(gold: Sentences, predicted: Sentences, scheme: str | None = "auto") -> Outcomes:
    """scheme: as in `evaluate`."""
    hits = map(eq, chain.from_iterable(gold), chain.from_iterable(predicted))
    has_spans = scheme is not None and (scheme != "auto" or detect_scheme(gold) is not None)
    return Outcomes(
        right=np.fromiter(hits, np.bool_),
        lengths=np.array([len(labels) for labels in gold], np.int64),
        spans=_span_counts(gold, predicted, None if scheme == "auto" else scheme) if has_spans else None,
    )


def _span_counts(gold: Sentences, predicted: Sentences, scheme: str | None) -> Counts:
    pairs = zip(span_sets(gold, scheme), span_sets(predicted, scheme), strict=True)
    rows = [(len(left & right), len(right), len(left)) for left, right in pairs]
    return np.array(rows, np.int64).reshape(-1, 3)


def compare_outcomes(a: Outcomes, b: Outcomes, resamples: int = RESAMPLES, seed: int = 0) -> Comparison:
    if resamples < 1:
        raise InputError(f"the bootstrap needs at least 1 resample, not {resamples}")
    if not np.array_equal(a.lengths, b.lengths):
        raise InputError("the two were not asked about the same sentences: their lengths differ")
    if not len(a.right):
        raise InputError("there is no labelled token to compare two models on")
    only_a, only_b = int((a.right & ~b.right).sum()), int((b.right & ~a.right).sum())
    return Comparison(
        tokens=len(a.right),
        sentences=len(a.lengths),
        accuracy=_accuracies(a, b, resamples, seed),
        only_a=only_a,
        only_b=only_b,
        mcnemar=mcnemar(only_a, only_b),
        f1=_f1s(a, b, resamples, seed),
    )


def _accuracies(a: Outcomes, b: Outcomes, resamples: int, seed: int) -> Difference:
    rows = np.column_stack([a.by_sentence() - b.by_sentence(), a.lengths])
    return _difference(a.accuracy, b.accuracy, rows, lambda sums: sums[:, 0] / sums[:, 1], resamples, seed)


def _f1s(a: Outcomes, b: Outcomes, resamples: int, seed: int) -> Difference | None:
    if a.spans is None or b.spans is None or not a.spans[:, 2].any():
        return None
    rows = np.column_stack([a.spans, b.spans[:, :2]])

    def lead(sums: Counts) -> Float:
        correct_a, predicted_a, support, correct_b, predicted_b = sums.T
        return _f1(correct_a, predicted_a, support) - _f1(correct_b, predicted_b, support)

    return _difference(a.f1 or 0.0, b.f1 or 0.0, rows, lead, resamples, seed)


def _f1(correct: Counts, predicted: Counts, support: Counts) -> Float:
    """F1 = 2 correct / (predicted + support), 0 where a resample holds no span at all."""
    return np.asarray(2 * correct / np.maximum(predicted + support, 1))


def _difference(
    a: float, b: float, rows: Counts, lead: Callable[[Counts], Float], resamples: int, seed: int
) -> Difference:
    """p = 2 (1 + k) / (1 + n), k of n resamples without a lead for the one that has it."""
    leads = lead(resampled_sums(rows, resamples, seed))
    observed = float(lead(rows.sum(axis=0, keepdims=True))[0])
    without = int((leads * observed <= 0).sum())
    low, high = np.quantile(leads, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()
    return Difference(a, b, low, high, min(1.0, 2 * (1 + without) / (1 + resamples)))


def resampled_sums(rows: Counts, resamples: int, seed: int) -> Counts:
    """Column sums of as many rows as there are, drawn with replacement, so many times.

    Equal rows are interchangeable: how often each kind is drawn is multinomial, and there are few kinds.
    """
    kinds, times = np.unique(rows, axis=0, return_counts=True)
    generator, shares = np.random.default_rng(seed), times / len(rows)
    sizes = [min(AT_A_TIME, resamples - done) for done in range(0, resamples, AT_A_TIME)]
    return np.concatenate([generator.multinomial(len(rows), shares, size=size) @ kinds for size in sizes])


def mcnemar(only_a: int, only_b: int) -> float:
    """McNemar's exact test: the two-sided p-value if neither of the two is right alone more often.

    p = min(1, 2 Σ_{i ≤ k} C(n, i) / 2ⁿ): n tokens are right in just one of the two, k of them in the worse.
    """
    n = only_a + only_b
    log_scale = lgamma(n + 1) - n * log(2)
    tail = (exp(log_scale - lgamma(i + 1) - lgamma(n - i + 1)) for i in range(min(only_a, only_b) + 1))
    return min(1.0, 2 * fsum(tail))


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values of several tests, made larger so that all hold at once (Holm's step-down rule).

    >>> [round(p, 2) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    adjusted, least = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = least
    return adjusted
