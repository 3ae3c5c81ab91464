"""Tests of a difference against scipy's, and against all resamples there are."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest, bootstrap

from corate import InputError, compare
from corate.evaluation.evaluate import evaluate
from corate.evaluation.significance import (
    LEVEL,
    RESAMPLES,
    Outcomes,
    compare_all,
    holm,
    mcnemar,
    outcomes,
    resampled_sums,
)

GOLD = [["B-X", "I-X", "O", "B-Y"], ["O", "B-Y"], ["B-X", "O", "O"], ["B-Y", "I-Y", "I-Y"]]
A = [["B-X", "I-X", "O", "B-Y"], ["O", "O"], ["B-X", "O", "O"], ["B-Y", "I-Y", "O"]]
B = [["B-X", "O", "O", "O"], ["O", "B-Y"], ["O", "O", "O"], ["B-Y", "O", "O"]]


@pytest.mark.parametrize(
    ("only_a", "only_b"), [(0, 0), (1, 0), (0, 7), (8, 1), (1400, 1600), (40_000, 39_000)]
)
def test_mcnemar_is_the_binomial_test(only_a: int, only_b: int) -> None:
    n = only_a + only_b
    expected = binomtest(only_a, n).pvalue if n else 1.0
    assert mcnemar(only_a, only_b) == mcnemar(only_b, only_a)
    assert mcnemar(only_a, only_b) == pytest.approx(expected, rel=1e-7)


def test_bootstrap_is_all_resamples() -> None:
    """Four sentences can be drawn in 4⁴ ways: share without a lead, and the mean of the leads."""
    found = compare(GOLD, A, B, resamples=200_000)
    counts: dict[str, list[float]] = {"accuracy": [], "f1": []}
    for draw in product(range(4), repeat=4):
        gold, a, b = ([sentences[i] for i in draw] for sentences in (GOLD, A, B))
        of_a, of_b = evaluate(gold, a), evaluate(gold, b)
        counts["accuracy"].append(of_a.accuracy - of_b.accuracy)
        counts["f1"].append((of_a.f1 or 0.0) - (of_b.f1 or 0.0))
    for name, rate in (("accuracy", found.accuracy), ("f1", found.f1)):
        assert rate is not None
        assert rate.lead > 0
        expected = min(1.0, 2 * float(np.mean(np.array(counts[name]) <= 0)))
        assert rate.p == pytest.approx(expected, abs=0.01)


def test_interval_is_scipys() -> None:
    rng = np.random.default_rng(1)
    lengths = rng.integers(1, 30, size=300)
    a, b = (Outcomes(rng.random(lengths.sum()) < p, lengths, None) for p in (0.95, 0.93))
    found = compare_all({"a": a, "b": b})["a", "b"].accuracy
    scipys = bootstrap(
        (a.by_sentence() - b.by_sentence(), lengths),
        lambda leads, sizes, axis: leads.sum(axis=axis) / sizes.sum(axis=axis),
        paired=True,
        method="percentile",
        n_resamples=RESAMPLES,
        confidence_level=LEVEL,
        rng=np.random.default_rng(2),
    ).confidence_interval
    width = scipys.high - scipys.low
    assert found.low == pytest.approx(scipys.low, abs=0.05 * width)
    assert found.high == pytest.approx(scipys.high, abs=0.05 * width)
    assert found.low < a.accuracy - b.accuracy < found.high


def test_resampled_sums() -> None:
    """Mean and variance of a resampled sum: Σ rows, and n times their population variance."""
    rows = np.array([[1, 5], [1, 5], [0, 3], [-2, 4], [7, 1]])
    sums = resampled_sums(rows, 100_000, seed=0)
    np.testing.assert_allclose(sums.mean(axis=0), rows.sum(axis=0), rtol=0.01)
    np.testing.assert_allclose(sums.var(axis=0), len(rows) * rows.var(axis=0), rtol=0.02)


def test_p_is_small_just_where_the_interval_leaves_out_zero() -> None:
    rng = np.random.default_rng(3)
    lengths = rng.integers(1, 12, size=80)
    for p in (0.80, 0.82, 0.85, 0.88, 0.9):
        a, b = (Outcomes(rng.random(lengths.sum()) < q, lengths, None) for q in (0.8, p))
        found = compare_all({"a": a, "b": b})["a", "b"].accuracy
        leaves_out = found.low > 0 or found.high < 0
        assert leaves_out == (found.p < 1 - LEVEL)


def test_swapping_the_two_turns_the_signs() -> None:
    there, back = compare(GOLD, A, B), compare(GOLD, B, A)
    assert there.accuracy.lead == -back.accuracy.lead
    assert (there.only_a, there.only_b, there.mcnemar) == (back.only_b, back.only_a, back.mcnemar)
    assert there.accuracy.p == back.accuracy.p
    assert there.accuracy.low == pytest.approx(-back.accuracy.high, abs=1e-12)


def test_all_pairs_are_the_pairs_one_by_one() -> None:
    systems = {"gold": outcomes(GOLD, GOLD), "a": outcomes(GOLD, A), "b": outcomes(GOLD, B)}
    found = compare_all(systems)
    assert list(found) == [("gold", "a"), ("gold", "b"), ("a", "b")]
    assert found["a", "b"] == compare(GOLD, A, B)
    assert found["gold", "b"] == compare(GOLD, GOLD, B)


def test_equal_models_do_not_differ() -> None:
    found = compare(GOLD, A, A)
    assert found.mcnemar == found.accuracy.p == 1.0
    assert found.f1 is not None
    assert (found.f1.lead, found.f1.low, found.f1.high, found.f1.p) == (0, 0, 0, 1)


def test_plain_tags_have_no_f1_and_unlabelled_tokens_do_not_count() -> None:
    found = compare([["N", "_", "V"]], [["N", "N", "V"]], [["V", "V", "V"]])
    assert found.f1 is None
    assert (found.tokens, found.sentences, found.only_a) == (2, 2, 1)
    assert compare(GOLD, A, B, scheme=None).f1 is None
    assert json.loads(json.dumps(compare(GOLD, A, B).to_json()))["f1"]["lead"] > 0


def test_rates_are_those_of_evaluate() -> None:
    found, a = compare(GOLD, A, B), evaluate(GOLD, A)
    assert found.accuracy.a == a.accuracy
    assert found.f1 is not None
    assert found.f1.a == a.f1
    strict = outcomes(GOLD, A, "IOB2")
    assert strict.f1 == evaluate(GOLD, A, scheme="IOB2").f1


def test_holm_keeps_the_order_and_bonferroni_for_the_smallest() -> None:
    p = [0.2, 0.001, 0.04, 0.9]
    adjusted = holm(p)
    assert adjusted == pytest.approx([0.4, 0.004, 0.12, 0.9])
    assert holm([]) == []
    assert holm([0.7, 0.8]) == [1.0, 1.0]


def test_what_cannot_be_compared() -> None:
    with pytest.raises(InputError, match="number of sentences differs"):
        compare(GOLD, A[:2], B)
    with pytest.raises(InputError, match="at least 1 resample, not 0"):
        compare(GOLD, A, B, resamples=0)
    with pytest.raises(InputError, match="no labelled token"):
        compare([], [], [])
    with pytest.raises(InputError, match="not asked about the same sentences"):
        compare_all({"a": outcomes(GOLD, A), "b": outcomes(GOLD[:2], A[:2])})
