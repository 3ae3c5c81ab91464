"""Separate training: pair factors by labels alone, whose weights follow from counts."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize

import corate
from corate import InputError, SeparateCRF
from corate.models.loglinear.label_pairs import weights_of

X, Y = corate.load_sample()
TEST, GOLD = corate.load_sample("test")


@pytest.mark.parametrize("c2", [3.0, 0.1, 1e-4])
@pytest.mark.parametrize("n_unseen", [0, 5])
def test_weights_of_label_pairs_are_the_optimum(c2: float, n_unseen: int) -> None:
    """Against an optimiser, of N log Z − Σ # w + c2 ‖w‖²."""
    counts = np.array([40.0, 3.0, 1.0, 1.0, 700.0])

    def objective(w: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        z = np.logaddexp.reduce(np.append(w, np.zeros(n_unseen)))
        return float(counts.sum() * z - counts @ w + c2 * w @ w)

    weights, value = weights_of(counts, n_unseen, c2)
    assert value == pytest.approx(objective(weights), rel=1e-12)
    found = minimize(objective, np.zeros(5), method="BFGS", options={"gtol": 1e-9})
    assert value <= found.fun + 1e-9
    for k in range(5):  # and no weight alone can be changed for the better
        for step in (1e-3, -1e-3):
            assert objective(weights + step * np.eye(5)[k]) > value


def test_without_a_penalty_pairs_are_relative_frequencies() -> None:
    counts = np.array([40.0, 3.0, 1.0])
    weights, value = weights_of(counts, 7, 0.0)
    shares = np.exp(weights) / (np.exp(weights).sum() + 7)
    np.testing.assert_allclose(shares, counts / 44, rtol=1e-9)
    assert value == pytest.approx(-sum(n * math.log(n / 44) for n in counts))
    assert weights_of(np.zeros(0), 9, 0.1)[1] == 0.0


def test_rates_of_labels_are_counted() -> None:
    """log CR(y; y′) of the lattice, without a penalty, against Python's own counting."""
    crf = SeparateCRF(c2=0.0, tolerance=0.9).fit(X, Y)
    pairs = Counter(pair for labels in Y for pair in pairwise(labels))
    ends = Counter[str]()
    for pair, n in pairs.items():
        ends.update(dict.fromkeys(pair, 0))
        for label in pair:
            ends[label] += n
    total = sum(pairs.values())
    rates = crf._lattice(crf._corpus([["a", "b"]])).pair_scores
    for (a, b), n in pairs.items():
        expected = math.log(n * 4 * total / (ends[a] * ends[b]))
        assert rates[crf.classes_.index(a), crf.classes_.index(b)] == pytest.approx(
            expected, abs=1e-3
        )  # rounded


def test_labels_alone_are_nearly_as_good_as_words() -> None:
    """And better than none: MaxEntClassifier has the same unary factor and no pairs."""
    of_labels = SeparateCRF(c2=0.1).fit(X, Y).score(TEST, GOLD)
    alone = corate.MaxEntClassifier(c2=0.1, contexts=SeparateCRF.word_contexts).fit(X, Y).score(TEST, GOLD)
    assert of_labels > alone + 0.02
    assert of_labels == pytest.approx(SeparateCRF("word", c2=0.1).fit(X, Y).score(TEST, GOLD), abs=0.015)


def test_what_does_not_go_together() -> None:
    with pytest.raises(InputError, match="pair='both': choose from 'label', 'word'"):
        SeparateCRF("both").fit(X, Y)
    with pytest.raises(InputError, match="a context that begins with 'pair:' is for pair=\"word\""):
        SeparateCRF(contexts=["word", "pair:word"]).fit(X, Y)
