"""Memory: what a sentence would take is known before it is taken, and refused where it is too much."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from brute_force import log_z, sequences
from corate import (
    HMM,
    MEMM,
    Constraints,
    EmpiricalCRF,
    InputError,
    LinearChainCRF,
    Tagger,
    arrays,
    load_sample,
)
from corate.lattice import decode
from corate.models import base
from corate.models.empirical import ep2
from corate.models.hmm import Emissions, LabelCounts, smoothed
from corate.models.loglinear import memm

X, Y = load_sample()
TEST = load_sample("test")[0][:40]
UNKNOWN = [[f"qx{k}zz{'ing' * (k % 2)}" for k in range(12)], ["The", "dog", "barks"]]


@pytest.mark.parametrize(
    "model",
    [
        MEMM(tolerance=1e-2),
        HMM(),
        EmpiricalCRF("maxent", "word", ("suffix2",), c2=10.0),
        EmpiricalCRF("mean", "word"),
        EmpiricalCRF(),
        LinearChainCRF(contexts=("word", "pair:word"), tolerance=1e-2),
        LinearChainCRF(tolerance=1e-2),
        Tagger("fixed"),
    ],
    ids=repr,
)
def test_sentences_that_do_not_fit(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches are made smaller, down to a sentence; one that does not fit is refused, with its numbers."""
    model.fit(X[:60], Y[:60])
    labels, marginals, ranked = (
        ask(TEST) for ask in (model.predict, model.predict_marginals, model.predict_nbest)
    )
    for most in (200_000, 20_000, 2_000):
        monkeypatch.setattr(arrays, "MOST_NUMBERS", most)
        fits = [k for k, tokens in enumerate(TEST) if _fits(model, tokens)]
        if not fits:
            continue
        some = [TEST[k] for k in fits]
        assert model.predict(some) == [labels[k] for k in fits]
        for tokens, found in zip([marginals[k] for k in fits], model.predict_marginals(some), strict=True):
            for token, same in zip(tokens, found, strict=True):
                assert token == pytest.approx(same)
    monkeypatch.setattr(arrays, "MOST_NUMBERS", 20)
    expected = (
        r"sentence 0, of 12 tokens: .*: [0-9,]+ numbers, [0-9.]+ GB; corate takes 20: cut it into shorter"
    )
    for ask in (model.predict, model.predict_marginals, model.predict_nbest):
        with pytest.raises(InputError, match=expected):
            ask(UNKNOWN)
    assert ranked[0][0][0] == labels[0]


def _fits(model: Any, tokens: list[str]) -> bool:
    try:
        model.predict_marginals([tokens])
        model.predict([tokens])
    except InputError:
        return False
    return True


@pytest.mark.parametrize("model", [MEMM(tolerance=1e-2), MEMM("shared", tolerance=1e-2)], ids=repr)
def test_memm_in_blocks(model: MEMM, monkeypatch: pytest.MonkeyPatch) -> None:
    model.fit(X[:60], Y[:60])
    corpus = model._corpus(TEST)
    whole = model._lattice(corpus)
    monkeypatch.setattr(memm, "MOST_SCORES", 3 * len(model.classes_) ** 2)
    parts = model._lattice(corpus)
    assert np.array_equal(whole.scores, parts.scores)
    assert np.array_equal(whole.edge_scores, parts.edge_scores)


def test_ep2_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    model = EmpiricalCRF("maxent", "word", ("suffix2", "initial"), c2=10.0).fit(X[:60], Y[:60])
    corpus = model._corpus([*TEST[:5], *UNKNOWN])
    whole = model._lattice(corpus)
    for most in (1, 700, 5_000):
        monkeypatch.setattr(ep2, "MOST_SCORES", most)
        assert np.array_equal(whole.edge_scores, model._lattice(corpus).edge_scores)


@pytest.mark.parametrize("smoothing", ["none", "lidstone", "witten-bell", "interpolation"])
def test_emissions_row_by_row_are_those_of_the_whole_table(smoothing: str) -> None:
    counts = HMM().fit(X[:60], Y[:60]).counts_
    table = counts.tables["word.y"]
    times = np.zeros((len(counts.words), len(counts.labels)))
    times[table.field(0), table.field(1)] = table.n
    of_words = "none" if smoothing == "interpolation" else smoothing
    expected = smoothed(times.T, of_words, 0.1, len(counts.words) + 1).T
    emissions = Emissions(LabelCounts(table, *times.shape), smoothing, 0.1)
    some = np.array([5, 0, 5, len(times) - 1])
    np.testing.assert_allclose(np.exp(emissions(some)), expected[some], rtol=1e-15)


@pytest.mark.parametrize(
    "model", [EmpiricalCRF(), HMM(), Tagger("fixed", contexts=("word",)), LinearChainCRF(), MEMM()], ids=repr
)
def test_more_labels_than_pairs_of_them_have_room(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    labels = [[f"L{k}" for k in range(arrays.MOST_LABELS + 1)]]
    with pytest.raises(
        InputError, match=r"8,?19[234] labels: (corate takes 8,192|this model takes 1 to 8192)"
    ):
        model.fit([["a"] * len(labels[0])], labels)


def test_constants_of_memory_agree() -> None:
    """A matrix of label pairs is an array like others; two arrays of the most numbers are a gigabyte."""
    assert arrays.MOST_LABELS**2 <= arrays.MOST_NUMBERS == 1 << 26
    assert base.MOST_SCORES < arrays.MOST_NUMBERS


# Constrained marginals of the second order -----------------------------------------------------------


def test_constrained_marginals_are_not_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sentences whose numbers leave the range of plain products are decoded in logarithms by themselves:
    pairs of label pairs, labels⁴ of them, are never made."""

    def refuse(x: Any) -> Any:
        raise AssertionError("expanded")

    X, Y = load_sample(label="entity")
    tagger = Tagger("fixed").fit(X, Y)
    sentences = [["Anna", "the", "dog", "saw", "it"], *load_sample("test")[0][:60]]
    never = Constraints(forced=[{1: "I-LOC", 2: "I-PER"}])
    ((_, lattice),) = tagger._now()._batches(sentences[:1], never)
    assert min(lattice.scores.min(), lattice.edge_scores.min()) < -1000, "beyond the range of products"
    scored = sequences(lattice, 0)
    monkeypatch.setattr(decode, "expand", refuse)
    found = tagger.predict_marginals(sentences, never)[0]
    for k, (i, token) in enumerate(zip(lattice.span(0), found, strict=True)):
        names = [tagger.classes_[y] for y in lattice.labels[lattice.candidates(i)].tolist()]
        expected = dict.fromkeys(names, 0.0)
        for score, path in scored:
            expected[names[path[k]]] += math.exp(score - log_z(scored))
        assert token == pytest.approx(expected, abs=1e-9)
