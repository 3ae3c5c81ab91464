"""Is one model better than another, or did the test text happen to suit it?

    gold, labels ──► Outcomes (what is right, sentence by sentence) ──► pairs of them ──► Comparison

McNemar's test looks at tokens and takes them for independent, which tokens of one sentence are not; the
paired bootstrap resamples whole sentences. Both are given: where they disagree, believe the second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, combinations
from math import exp, fsum, lgamma, log
from operator import eq
from typing import Any

import numpy as np
import numpy.typing as npt

from corate.errors import InputError
from corate.evaluation.evaluate import Score, Sentences, labelled_parts, span_sets
from corate.text.spans import detect_scheme

RESAMPLES = 10_000
LEVEL = 0.95  # of the interval
DRAWS_AT_A_TIME = 4_000_000  # of sentences, held in memory

Counts = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]
Resampled = dict[str, Float]  # a rate of each system, in every resample


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
    """What `compare` found.

    Attributes
    ----------
    tokens, sentences : int
        How many were compared.
    accuracy, f1 : Difference
        The rate of a and of b, with the interval and the p-value of their difference; f1 is None where labels
        are plain tags.
    only_a, only_b : int
        Tokens that just one of the two has right.
    mcnemar : float
        McNemar's exact p-value of these two.
    """

    tokens: int
    sentences: int
    accuracy: Difference
    only_a: int
    only_b: int
    mcnemar: float
    f1: Difference | None

    def to_json(self) -> dict[str, Any]:
        """All of it as dicts."""
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

    Parameters
    ----------
    gold, a, b : list of list of str
        The right labels, and those of the two models. Tokens whose gold label is `_` do not count.
    scheme : str or None
        Of spans: "IOB1", "IOB2", "IOBES", "BILOU"; "auto" finds it out, None: the labels are plain tags.
    resamples, seed : int
        How many times sentences are drawn, for interval and p-value, and where the drawing begins.

    Examples
    --------

    >>> found = compare([["N", "V"], ["N"]], [["N", "V"], ["N"]], [["N", "N"], ["N"]])
    >>> found.only_a, found.only_b, found.mcnemar
    (1, 0, 1.0)
    """
    gold, a, b = labelled_parts(gold, {"labels of a": a, "labels of b": b})
    systems = {"a": outcomes(gold, a, scheme), "b": outcomes(gold, b, scheme)}
    return compare_all(systems, resamples, seed)["a", "b"]


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


def compare_all(
    systems: Mapping[str, Outcomes], resamples: int = RESAMPLES, seed: int = 0
) -> dict[tuple[str, str], Comparison]:
    """Every pair of systems, on the same resamples; keys are (a, b) in the order of `systems`."""
    if resamples < 1:
        raise InputError(f"the bootstrap needs at least 1 resample, not {resamples}")
    lengths = next(iter(systems.values())).lengths
    if not all(np.array_equal(lengths, system.lengths) for system in systems.values()):
        raise InputError("the models were not asked about the same sentences: their lengths differ")
    if not lengths.sum():
        raise InputError("there is no labelled token to compare models on")
    accuracies = _resampled_accuracies(systems, lengths, resamples, seed)
    f1s = _resampled_f1s(systems, resamples, seed)
    return {(a, b): _compare(systems, a, b, accuracies, f1s) for a, b in combinations(systems, 2)}


def _compare(
    systems: Mapping[str, Outcomes], name_a: str, name_b: str, accuracies: Resampled, f1s: Resampled
) -> Comparison:
    a, b = systems[name_a], systems[name_b]
    only_a, only_b = int((a.right & ~b.right).sum()), int((b.right & ~a.right).sum())
    has_f1 = name_a in f1s and name_b in f1s
    return Comparison(
        tokens=len(a.right),
        sentences=len(a.lengths),
        accuracy=_difference(a.accuracy, b.accuracy, accuracies[name_a] - accuracies[name_b]),
        only_a=only_a,
        only_b=only_b,
        mcnemar=mcnemar(only_a, only_b),
        f1=_difference(a.f1 or 0.0, b.f1 or 0.0, f1s[name_a] - f1s[name_b]) if has_f1 else None,
    )


def _difference(a: float, b: float, leads: Float) -> Difference:
    """p = 2 (1 + k) / (1 + n), k of n resamples without a lead for the one that has it."""
    without = int((leads * (a - b) <= 0).sum())
    low, high = np.quantile(leads, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()
    return Difference(a, b, low, high, min(1.0, 2 * (1 + without) / (1 + len(leads))))


def _resampled_accuracies(
    systems: Mapping[str, Outcomes], lengths: Counts, resamples: int, seed: int
) -> Resampled:
    columns = [system.by_sentence() for system in systems.values()]
    *right, tokens = resampled_sums(np.column_stack([*columns, lengths]), resamples, seed).T
    return {name: sums / tokens for name, sums in zip(systems, right, strict=True)}


def _resampled_f1s(systems: Mapping[str, Outcomes], resamples: int, seed: int) -> Resampled:
    """Of the systems that have spans; F1 = 2 correct / (predicted + gold), 0 where a resample has no span."""
    spans = {name: system.spans for name, system in systems.items() if system.spans is not None}
    if not any(rows.any() for rows in spans.values()):
        return {}
    sums = resampled_sums(np.column_stack(list(spans.values())), resamples, seed)
    correct, predicted, gold = sums.reshape(resamples, -1, 3).transpose(2, 1, 0)
    return dict(zip(spans, 2 * correct / np.maximum(predicted + gold, 1), strict=True))


def resampled_sums(rows: Counts, resamples: int, seed: int) -> Float:
    """Column sums of as many rows as there are, drawn with replacement, so many times."""
    generator, n = np.random.default_rng(seed), len(rows)
    at_a_time, sums = max(1, DRAWS_AT_A_TIME // n), []
    for done in range(0, resamples, at_a_time):
        size = min(at_a_time, resamples - done)
        draws = generator.integers(n, size=(size, n)) + n * np.arange(size)[:, None]
        times = np.bincount(draws.ravel(), minlength=size * n).reshape(size, n)
        sums.append(times.astype(np.float64) @ rows)
    return np.concatenate(sums)


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
