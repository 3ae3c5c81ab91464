"""The experiments that need no corpus, against the papers' worked examples and closed forms."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from corate import InputError
from corate.lattice import decode
from corate.models.tagger import weights
from experiments import common_weights, graphs, label_bias, ner, parameterizations, pos, published
from experiments import test_time_problem as ttp_experiment
from lab import corpora, terminal
from shared import by

OPTIMUM = -4 * math.log(4 / 5) - math.log(1 / 5)


@pytest.mark.parametrize(
    ("lattice_of", "prediction", "scores"),
    [
        pytest.param(ttp_experiment.ep, "00", {"00": 0.8, "11": 0.2, "01": 0, "10": 0}, id="ep"),
        pytest.param(ttp_experiment.ttp, "11", {**published.TTP_SCORES, "01": 0, "10": 0}, id="ttp"),
    ],
)
def test_two_estimates_of_equal_likelihood(
    lattice_of: ttp_experiment.LatticeOf, prediction: str, scores: dict[str, float]
) -> None:
    """000 §3.4.3, §4.2, §4.3: both meet (16) and (17), and only ep labels [b,c] right."""
    found = ttp_experiment.find(lattice_of)
    assert found.z == pytest.approx(1.0, abs=1e-12)
    assert found.objective == pytest.approx(OPTIMUM, abs=1e-12)
    assert found.objective == pytest.approx(published.TEST_TIME_OBJECTIVE, abs=1e-5)
    assert found.unary_deviation < 1e-12
    assert found.pair_deviation < 1e-12
    assert found.scores == pytest.approx(scores, abs=1e-12)
    assert found.prediction == prediction


@pytest.mark.parametrize("lattice_of", [ttp_experiment.ep, ttp_experiment.ttp], ids=["ep", "ttp"])
@pytest.mark.parametrize("kernel", ["native", "numpy"])
def test_forward_backward_agrees_with_enumeration(lattice_of: ttp_experiment.LatticeOf, kernel: str) -> None:
    lattice = lattice_of(ttp_experiment.TRAIN_WORDS)
    found = by(kernel, decode.marginals, lattice)
    assert found.log_z == pytest.approx(0.0, abs=1e-12)
    for i, word in enumerate(ttp_experiment.TRAIN_WORDS):
        here = lattice.candidates(i)
        expected = ttp_experiment.empirical(word)[lattice.labels[here]]
        np.testing.assert_allclose(found.probabilities[here], expected, rtol=0, atol=1e-12)


def test_all_points_between_are_as_likely() -> None:
    """The likelihood is flat from ep to ttp, and the prediction turns half-way: 0.8¹⁻ᵗ 1.25ᵗ = 0.2¹⁻ᵗ 5ᵗ."""
    for t in (0.0, 0.1, 0.5, 0.9, 1.0):
        objective, p = ttp_experiment.on_the_way(t)
        assert objective == pytest.approx(OPTIMUM, abs=1e-12)
        odds = 0.2 ** (1 - t) * 5**t / (0.8 ** (1 - t) * 1.25**t)
        assert p["11"] == pytest.approx(odds / (1 + odds), abs=1e-12)


def test_the_denominator_of_equation_10_is_driven_to_zero() -> None:
    """000 §3.2.1: the slope is right, there is no maximum, and accuracy falls."""
    part = parameterizations.simulate(parameterizations.FIRST_DECIDES, 500, random.Random(0))
    model = parameterizations.Equation10(part)
    theta = model.after(3)
    step = 1e-6
    for i, slope in enumerate(model.loss(theta)[1]):
        away = step * np.eye(len(theta))[i]
        by_hand = (model.loss(theta + away)[0] - model.loss(theta - away)[0]) / (2 * step)
        assert slope == pytest.approx(by_hand, abs=1e-6)
    losses = [model.loss(model.after(n))[0] for n in (0, 10, 40, 160)]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < -20
    test = parameterizations.simulate(parameterizations.FIRST_DECIDES, 100, random.Random(1))
    start, end = (parameterizations.judge(model.score(model.after(n)), test)[0] for n in (0, 160))
    assert start > 90
    assert end < 80


def test_equation_11_is_blind_to_a_later_symbol_only() -> None:
    second, third = (
        parameterizations._collect_11(kinds)
        for kinds in (parameterizations.SECOND_DECIDES, parameterizations.THIRD_DECIDES)
    )
    assert second["equation_11"] == pytest.approx(second["ep1"], abs=1)
    assert third["equation_11"] < 80 < 94 < third["ep1"]


def test_rib_rob() -> None:
    """002 §II-B3, §III-C: 9/10 and 1/10; a conditional Markov model has 9/21 and 12/21."""
    found = label_bias.rib_rob()
    assert found["ecrn"] == pytest.approx({"YOB": 9 / 10, "XIB": 1 / 10}, abs=1e-12)
    assert found[label_bias.CMM] == {"YOB": Fraction(9, 21), "XIB": Fraction(12, 21)}


def test_label_bias() -> None:
    """000 Table 1: conditional Markov models near blindness, all others near the optimum.

    MaxEnt reads the middle symbol and guesses the first: about 3/4 are right.
    """
    found = {key: of.accuracy for key, of in label_bias.one_round(seed=0).items()}
    assert max(found.pop(key) for key in (label_bias.CMM, "memm")) <= 0.75
    assert found.pop("maxent") <= 0.85
    assert len(found) >= 8
    assert min(found.values()) >= 0.93
    assert found["ep1"] == found["ecrn"] == found["ep2"]


def test_a_crf_stays_at_each_maximum_and_finds_a_third_from_zeros() -> None:
    """000 §4.2, §4.3: the same objective from ep, from ttp and from zeros; only from ep [b,c] is right."""
    points = ttp_experiment.points()
    for name, prediction, p in (("at-ep", "00", 0.2), ("at-ttp", "11", 0.8), ("zero", "11", None)):
        assert points[name].objective == pytest.approx(OPTIMUM, abs=1e-5)
        assert points[name].prediction == prediction
        assert points[name].unary_deviation < 1e-4
        if p is not None:
            assert points[name].probabilities["11"] == pytest.approx(p, abs=1e-4)
    assert 0.5 < points["zero"].probabilities["11"] < 0.99


def test_emissions() -> None:
    """Each label emits its own symbol with probability 29/32 and each other one with 1/32."""
    for label, symbols in label_bias.EMISSIONS.items():
        own = label_bias.SYMBOL_OF[label]
        assert {s: symbols.count(s) for s in "riob"} == {s: 29 if s == own else 1 for s in "riob"}


def test_published_accuracies_fit_together() -> None:
    """All methods of a table meet the same unknown words, up to rounding; but for CRF++ in Table 6."""
    for name, figures in {**published.POS, "NER": published.NER}.items():
        shares = {method: published.implied_unknown_rate(of) for method, of in figures.items()}
        if name == "32623/1000":
            assert shares.pop("CRF++") < 3.5
        assert max(shares.values()) - min(shares.values()) < 0.5


@pytest.mark.parametrize("script", [pos, ner], ids=["pos", "ner"])
def test_missing_data_is_one_line_and_exit_code_2(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["script.py", "--data", str(tmp_path)])
    with pytest.raises(SystemExit) as caught:
        terminal.run(script.main)
    assert caught.value.code == 2
    captured = capsys.readouterr()
    (line,) = captured.err.splitlines()
    assert line.startswith(f"script.py: {tmp_path}")
    assert "no such folder" in line
    assert not captured.out


def test_common_weights_are_written_where_the_tagger_looks_for_them() -> None:
    assert json.loads(common_weights.OUT.read_text(encoding="utf-8")) == weights.common_weights()


def test_empty_brown_folder(tmp_path: Path) -> None:
    (tmp_path / "brown").mkdir()
    with pytest.raises(InputError, match="no file of the Brown corpus"):
        corpora.brown(tmp_path)


@pytest.mark.parametrize("script", [label_bias, ttp_experiment, parameterizations], ids=lambda m: m.__name__)
def test_scripts_print_their_tables(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["script.py", "--data", "not/used"])
    monkeypatch.setattr(label_bias, "ROUNDS", 2)
    script.main()
    out = capsys.readouterr().out
    assert "000: Zhemin Zhu" in out
    assert all(len(line) <= 140 for line in out.splitlines())


def test_the_claims_about_graphs() -> None:
    """Exact where 003 says so; on loops the product of rates is not normalised; strong edges cost more."""
    assert graphs.exact_everywhere("loops, conditioned")["exact"]
    found = [graphs.loop(4, strength) for strength in (2, 5, 20)]
    assert [each["z"] for each in found] == sorted(each["z"] for each in found)
    assert found[0]["z"] > 1.005
    assert all(each["z_conditioned"] == 1 and each["bits"] > 0 for each in found)
