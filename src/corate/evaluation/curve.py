"""The learning curve: how good a model is after 50, 100, 200 … sentences, and what more of them would bring.

Every size is tried several times, each time with sentences drawn at random and held-out ones to label: with
those of a test corpus, or with one of as many contiguous parts of the training corpus, from which none is
then drawn. The curve is a power law, fitted to the means by least squares:

    score(n) = a − b · n^(−c),     a ≤ 1, b ≥ 0, 0 < c ≤ 2
    score(2n) is expected to be the last mean + law(2n) − law(n)

The range is meant to have nine of ten further trainings in it, each a try of its own. It is as wide as the
wider of two: what laws say when tries are drawn again, and how much the gain from one size to the next varies
over tries (5 to 95 %); and how far off the law was at the last size when it knew the smaller ones alone, for
each doubling.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count, pairwise, takewhile
from typing import Any, NamedTuple

import numpy as np

from corate.arrays import Float, Int
from corate.errors import InputError
from corate.evaluation.evaluate import evaluate
from corate.evaluation.folds import fold_bounds
from corate.text.corpus import Corpus

NAMES = {"accuracy": "accuracy", "f1": "F1"}  # of measures, in texts
FIRST = 50  # sentences; from there on twice as many each time
TIMES = (2, 4)  # as many sentences as there are: what is extrapolated to
LEAST_SIZES = 3  # for a law of three numbers
REDRAWN = 500  # times
EXPONENTS = np.geomspace(0.01, 2.0, 60)  # c, coarsely
STEP = 1.1  # a little more than from one of them to the next

Train = Callable[[Corpus], Any]  # a model of these sentences
Progress = Callable[[int, int], object]  # sentences that are trained on, and those still to come


@dataclass(frozen=True)
class Point:
    """Scores of every try with so many sentences."""

    sentences: int
    values: list[float]

    @property
    def mean(self) -> float:
        return float(np.mean(self.values))

    @property
    def spread(self) -> float | None:
        """Standard deviation over the tries; None of a single one."""
        return float(np.std(self.values, ddof=1)) if len(self.values) > 1 else None


class Law(NamedTuple):
    """score(n) = a − b · n^(−c)"""

    a: float
    b: float
    c: float

    def __call__(self, n: float) -> float:
        return float(self.a - self.b * n**-self.c)

    def gain(self, n: float, larger: float) -> float:
        return self(larger) - self(n)


class Expected(NamedTuple):
    """What is to be expected of a larger size, and between which ends; the gain over the last one."""

    sentences: int
    value: float
    low: float
    high: float
    gain: float


@dataclass(frozen=True)
class Curve:
    """Of one measure, such as accuracy."""

    points: list[Point]
    law: Law | None  # None where there are too few sizes
    expected: list[Expected]
    miss: float | None  # at the last size by the law of the smaller ones; above 0 where it said too much

    def to_json(self) -> dict[str, Any]:
        return {
            "points": [
                {"sentences": p.sentences, "mean": p.mean, "spread": p.spread, "values": p.values}
                for p in self.points
            ],
            "law": None if self.law is None else self.law._asdict(),
            "expected": [expected._asdict() for expected in self.expected],
            "miss": self.miss,
        }


def learning_curves(
    train: Train,
    corpus: Corpus,
    test: Corpus | None = None,
    sizes: Sequence[int] | None = None,
    repeats: int = 5,
    scheme: str | None = "auto",
    progress: Progress | None = None,
    seed: int = 0,
) -> dict[str, Curve]:
    """Curves of "accuracy" and, where labels are spans, of "f1".

    train: makes a model of a corpus. test: sentences to label; without them, parts of the corpus are held
    out in turn. sizes: numbers of sentences; without them, 50, 100, 200 … and all there are.
    """
    rounds = _rounds(corpus, test, repeats, np.random.default_rng(seed))
    most = min(len(order) for order, _ in rounds)
    chosen = _sizes(most, sizes)
    work = [(k, n) for n in chosen for k in _tries(n, most, test, repeats)]
    found: dict[str, dict[int, list[float]]] = {}
    left = sum(n for _, n in work)
    for k, n in work:
        order, held_out = rounds[k]
        for name, value in _scores(train, _drawn(corpus, order[:n]), held_out, scheme).items():
            found.setdefault(name, {}).setdefault(n, []).append(value)
        left -= n
        if progress is not None:
            progress(n, left)
    return {
        name: curve_of([Point(n, values) for n, values in by_size.items()]) for name, by_size in found.items()
    }


def _rounds(
    corpus: Corpus, test: Corpus | None, repeats: int, random: np.random.Generator
) -> list[tuple[Int, Corpus]]:
    """Of every try the sentences to train on, in a random order, and those to label."""
    if corpus.labels is None or not corpus.labelled().any():
        raise InputError("no sentence has a label: there is nothing to learn from")
    labelled = np.flatnonzero(corpus.labelled())
    if test is not None:
        if test.labels is None or not test.labelled().any():
            raise InputError("the test sentences have no label: there is nothing to compare with")
        return [(random.permutation(labelled), test) for _ in range(repeats)]
    rounds = []
    for first, last in pairwise(fold_bounds(len(labelled), repeats)):
        held_out = corpus.take(np.isin(np.arange(corpus.n_sentences), labelled[first:last]))
        rounds.append((random.permutation(np.delete(labelled, np.s_[first:last])), held_out))
    return rounds


def _sizes(most: int, sizes: Sequence[int] | None) -> list[int]:
    """Numbers of sentences, the smallest first."""
    if sizes is None:
        doubling = takewhile(lambda n: n < most, (FIRST * 2**k for k in count()))
        # all there are, unless that is hardly more than the size before
        kept = [n for n in doubling if 4 * n <= 3 * most]
        return [*kept, most]
    chosen = sorted({*sizes})
    if not chosen or chosen[0] < 1:
        raise InputError(f"sizes {list(sizes)}: give numbers of sentences from 1")
    if chosen[-1] > most:
        raise InputError(f"{chosen[-1]:,} sentences are to be trained on, and there are {most:,}: give fewer")
    return chosen


def _tries(n: int, most: int, test: Corpus | None, repeats: int) -> range:
    """All sentences, with the same ones to label, are one try only."""
    return range(1 if test is not None and n == most else repeats)


def _drawn(corpus: Corpus, chosen: Int) -> Corpus:
    """Some sentences, in the order of the corpus."""
    return corpus.take(np.isin(np.arange(corpus.n_sentences), chosen))


def _scores(train: Train, corpus: Corpus, held_out: Corpus, scheme: str | None) -> dict[str, float]:
    assert held_out.labels is not None
    gold = held_out.split(held_out.labels.codes, held_out.labels.values)
    result = evaluate(gold, train(corpus).predict(held_out), scheme=scheme)
    return {"accuracy": result.accuracy} | ({} if result.f1 is None else {"f1": result.f1})


# The law ---------------------------------------------------------------------------------------------


def curve_of(points: list[Point], seed: int = 0) -> Curve:
    """The law of these points, and what is to be expected of larger sizes."""
    sizes = np.array([point.sentences for point in points], float)
    means = np.array([point.mean for point in points])
    if len(points) < LEAST_SIZES:
        return Curve(points, None, [], None)
    law, miss = fit_law(sizes, means), None
    if len(points) > LEAST_SIZES:
        before = fit_law(sizes[:-1], means[:-1])
        miss = float(means[-2] + before.gain(sizes[-2], sizes[-1]) - means[-1])
    random = np.random.default_rng(seed)
    laws = [fit_law(sizes, each) for each in _redrawn(points, random)]
    tries = random.normal(0.0, _spread_of_gains(points), REDRAWN)
    expected = [_expected(law, laws, tries, miss or 0.0, points[-1], times) for times in TIMES]
    return Curve(points, law, expected, miss)


def fit_law(sizes: Float, means: Float) -> Law:
    """The law with the least squares. For a given c it is a line in x = −n^(−c), with a ≤ 1 and b ≥ 0."""
    scale = sizes[0]
    near = _least_squares(sizes / scale, means, EXPONENTS)[2]
    a, b, c = _least_squares(sizes / scale, means, np.geomspace(near / STEP, near * STEP, 50))
    return Law(a, b * float(scale**c), c)


def _least_squares(sizes: Float, means: Float, exponents: Float) -> Law:
    x = -(sizes ** -exponents[:, None])  # exponents × sizes
    from_mean = x - x.mean(axis=1, keepdims=True)
    b = np.maximum(0.0, from_mean @ means / (from_mean**2).sum(axis=1))
    a = means.mean() - b * x.mean(axis=1)
    above = a > 1.0
    a[above], b[above] = 1.0, (x @ (means - 1.0) / (x**2).sum(axis=1))[above]
    squares = ((a[:, None] + b[:, None] * x - means) ** 2).sum(axis=1)
    best = int(squares.argmin())
    return Law(float(a[best]), float(b[best]), float(exponents[best]))


def _redrawn(points: list[Point], random: np.random.Generator) -> Float:
    """Means of each size when its tries are drawn again; one that was tried once varies as that before it."""
    tries = max(len(point.values) for point in points)
    # The same tries of every size: they draw from the same sentences and label the same ones.
    drawn = random.integers(0, tries, (REDRAWN, tries))
    means, spread = np.empty((REDRAWN, len(points))), 0.0
    for k, point in enumerate(points):
        means[:, k] = np.array(point.values)[drawn % len(point.values)].mean(axis=1)
        if point.spread is None:
            means[:, k] += random.normal(0.0, spread, REDRAWN)
        else:
            spread = point.spread
    return means


def _spread_of_gains(points: list[Point]) -> float:
    """Standard deviation over tries of what the last step brought that all of them made."""
    several = [point.values for point in points if point.spread is not None]
    if len(several) < 2:
        return 0.0
    return float(np.std(np.subtract(several[-1], several[-2]), ddof=1))


def _expected(law: Law, laws: list[Law], tries: Float, miss: float, last: Point, times: int) -> Expected:
    n, larger = last.sentences, last.sentences * times
    gain, off = law.gain(n, larger), abs(miss) * float(np.log2(times))
    gains = np.array([one.gain(n, larger) for one in laws]) + tries
    low, high = np.quantile(gains, [0.05, 0.95]).tolist()
    ends = last.mean + min(low, gain - off), last.mean + max(high, gain + off)
    return Expected(larger, min(1.0, last.mean + gain), max(0.0, ends[0]), min(1.0, ends[1]), gain)
