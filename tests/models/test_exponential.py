"""EP2: fitted factors of unknown words, against closed forms, constraints and the other estimators."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

import corate
from corate import EmpiricalCRF, InputError, ModelFileError
from corate.models.empirical.ep2 import ExponentialFactors
from corate.storage import modelfile
from experiments import label_bias

X, Y = corate.load_sample()
TEST, GOLD = corate.load_sample("test")


def test_one_saturated_context_is_its_relative_frequency() -> None:
    """With a weight for every (value, label), u has its optimum at P̃(y | f): EP1's ψ of a single context."""
    ep2 = EmpiricalCRF("maxent", contexts=("suffix1",), c2=1e-5).fit(X, Y)
    ep1 = EmpiricalCRF("mean", contexts=("suffix1",)).fit(X, Y)
    strange = [["zzs"], ["zzy"], ["zzd"]]
    for (found,), (wanted,) in zip(
        ep2.predict_marginals(strange), ep1.predict_marginals(strange), strict=True
    ):
        assert {y: found[y] for y in wanted} == pytest.approx(wanted, abs=2e-3)


def test_pair_factors_fulfil_their_constraint() -> None:
    """Σ φ(y, y′, x, x′) ψ(y, x) ψ(y′, x′) = 1 (000 eqn 7), here with v over all label pairs."""
    crf = EmpiricalCRF("maxent", pair="word").fit(X, Y)
    lattice = crf._lattice(crf._corpus([["Zzing", "zzly"]]))
    psi = [lattice.scores[lattice.candidates(i)] for i in (0, 1)]
    joint = np.exp(lattice.edge(1) + psi[0][:, None] + psi[1])
    assert joint.shape == (len(crf.classes_),) * 2
    assert joint.sum() == pytest.approx(1.0)


def test_pair_factors_are_of_two_words_wherever_they_stand() -> None:
    crf = EmpiricalCRF("maxent", pair="word").fit(X, Y)
    known = X[0][0]
    alone, within = (
        crf._lattice(crf._corpus([words])) for words in (["zzly", known], [known, "zzly", known, known])
    )
    assert within.edge(2) == pytest.approx(alone.edge(1))
    assert within.edge(3) != pytest.approx(alone.edge(1))


def test_known_words_are_as_in_ep1() -> None:
    known = [words for words in TEST if set(words) <= {w for some in X for w in some}]
    for pair in ("label", "word"):
        models = [EmpiricalCRF(unknown, pair).fit(X, Y) for unknown in ("maxent", "mean")]
        assert models[0].predict(known) == models[1].predict(known)


def test_as_accurate_as_ep1() -> None:
    ep1, ep2 = (EmpiricalCRF(unknown).fit(X, Y).score(TEST, GOLD) for unknown in ("mean", "maxent"))
    assert ep2 >= ep1 - 0.001


def test_no_label_bias() -> None:
    rng = random.Random(0)
    train, test = label_bias.simulate(1000, rng), label_bias.simulate(250, rng)
    for pair in ("label", "word"):
        crf = EmpiricalCRF("maxent", pair).fit(train.words, train.labels)
        assert crf.score(test.words, test.labels) > 0.94


def test_weights_follow_the_counts() -> None:
    """Merged, updated and after forgetting, the model is that of its counts."""
    half = len(X) // 2
    whole = EmpiricalCRF("maxent").fit(X, Y)
    first, second = (
        EmpiricalCRF("maxent").fit(X[part], Y[part]) for part in (slice(half), slice(half, None))
    )
    wanted = whole.predict(TEST)
    assert (first + second).predict(TEST) == wanted
    before = first.predict(TEST)
    assert first.partial_fit(X[half:], Y[half:]).predict(TEST) == wanted
    assert first.forget(X[half:], Y[half:]).predict(TEST) == before


def test_weights_of_other_counts_do_not_load(tmp_path: Path) -> None:
    crf = EmpiricalCRF("maxent").fit(X, Y)
    factors = crf.factors()
    assert isinstance(factors, ExponentialFactors)
    factors.weights["unary"] = factors.weights["unary"][1:]
    with pytest.raises(InputError, match=r"not saved: .* the unary factor do not fit the counts"):
        crf.save(tmp_path / "m.model")
    assert not (tmp_path / "m.model").exists()
    modelfile.write(tmp_path / "m.model", crf._contents())
    with pytest.raises(ModelFileError, match="the weights of the unary factor do not fit the counts"):
        corate.load(tmp_path / "m.model")


@pytest.mark.parametrize("c2", [0, -1, float("nan"), "x"])
def test_bad_penalty(c2: object) -> None:
    with pytest.raises(InputError, match=r"c2=.*: give a number above 0"):
        EmpiricalCRF("maxent", c2=c2).fit(X, Y)  # type: ignore[arg-type]
