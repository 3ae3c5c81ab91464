"""Fitted weights: their bounds, their mean when models merge, and what narrowing to candidates may cost."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import corate
from corate import Tagger
from corate.lattice import decode
from corate.lattice.lattice import Lattice
from corate.models.tagger.lattices import LatticeMaker
from corate.models.tagger.settings import SETTINGS
from corate.rates.smoothed import SMOOTHING

X, Y = corate.load_sample()
TEST, _ = corate.load_sample("test")


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger().fit(X, Y)


def test_no_context_speaks_against_its_evidence(tagger: Tagger) -> None:
    """λ ≥ 0; and the search has come upon that bound, so that without it some would be negative."""
    assert tagger.weights_.contexts.min() == 0.0
    assert np.count_nonzero(tagger.weights_.contexts == 0.0) < tagger.weights_.contexts.size / 2


def test_merged_weights_are_a_mean_by_tokens() -> None:
    third = len(X) // 3
    parts = [Tagger().fit(X[:third], Y[:third]), Tagger().fit(X[third:], Y[third:])]
    assert parts[0].classes_ == parts[1].classes_
    n = [sum(map(len, X[:third])), sum(map(len, X[third:]))]
    assert n[1] > 1.5 * n[0]
    vectors = [part.weights_.vector() for part in parts]
    mean = (n[0] * vectors[0] + n[1] * vectors[1]) / sum(n)
    np.testing.assert_allclose((parts[0] + parts[1]).weights_.vector(), mean, rtol=1e-12, atol=1e-15)


def test_narrowing_changes_no_label_and_hardly_a_probability(tagger: Tagger) -> None:
    """Candidates whose best sequence is e⁻⁷ of the best one are left out: against all candidates."""
    corpus = tagger._corpus(TEST)

    def refined(margin: float) -> tuple[Lattice, dict[tuple[int, int], float]]:
        scorer = LatticeMaker(tagger.rates(), tagger.weights_, replace(SETTINGS, path_margin=margin))
        lattice = scorer.refined(scorer.lattice(corpus), corpus)
        places = np.repeat(np.arange(lattice.n_positions), np.diff(lattice.positions)).tolist()
        p = decode.marginals(lattice).probabilities.tolist()
        return lattice, dict(zip(zip(places, lattice.labels.tolist(), strict=True), p, strict=True))

    (every, all_p), (narrow, p) = refined(math.inf), refined(SETTINGS.path_margin)
    assert len(narrow.labels) < len(every.labels)
    best = [decode.viterbi(x).labels(x).tolist() for x in (every, narrow)]
    assert best[0] == best[1]
    assert max(abs(all_p[place] - p.get(place, 0.0)) for place in all_p) < 0.02


def test_too_few_sentences_to_hold_out_leave_the_fixed_weights() -> None:
    """Ten make five folds of two; of nine, nothing is fitted."""
    short = [k for k, words in enumerate(X) if 3 <= len(words) <= 12][:10]
    some_X, some_y = [X[k] for k in short], [Y[k] for k in short]
    fixed = [Tagger("fixed").fit(some_X[:n], some_y[:n]).weights_.vector() for n in (9, 10)]
    fitted = [Tagger().fit(some_X[:n], some_y[:n]).weights_.vector() for n in (9, 10)]
    assert np.array_equal(fitted[0], fixed[0])
    assert not np.array_equal(fitted[1], fixed[1])


def test_buckets_of_counts() -> None:
    """0, 1, 2–3, 4–10, 11–100, more."""
    n = np.array([0, 1, 2, 3, 4, 10, 11, 100, 101, 10**9])
    assert SMOOTHING.buckets(n).tolist() == [0, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert SMOOTHING.n_buckets == 6


def test_fixed_weights_of_contexts_that_none_were_made_for() -> None:
    """Each chain of parents has its share of what contexts weigh; contexts of label pairs weigh nothing."""
    for names, n_chains in ((["word"], 1), (["word", "word-1"], 2), (["word", "word-1,word", "word-1"], 2)):
        weights = Tagger("fixed", [*names, "pair:hyphen"]).fit(X[:20], Y[:20]).weights_
        np.testing.assert_allclose(weights.contexts, SETTINGS.contexts_weight / n_chains)
        assert weights.pairs.tolist() == [0.0]
