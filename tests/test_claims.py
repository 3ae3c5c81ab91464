"""Every claim of the papers is checked on small data, and every check can say both yes and no."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from corate import load_sample
from experiments import label_bias, measure, parameterizations, published, test_time_problem, theorem
from experiments.claims import verdicts
from experiments.claims.claim import CLAIMS, CONDITION, FAILS, HOLDS, OPEN, VERDICTS, Finding
from experiments.models import MODELS
from lab.corpora import Part, Split
from lab.store import Record

# What does not depend on a corpus; a check that changes its mind is a finding.
EXPECTED = {
    HOLDS: """meaning_of_rates partition_theorem independence_theorem chain_factorisation trees loops
        many_maxima ttp_is_a_maximum optimiser_stays immune equation_10 ep2_is_closed rib_rob
        label_bias_problem label_bias_figures separate_label_bias piecewise_bound cost_of_decoding
        online_training same_condition normalised_rates shared_partitions entropies duality
        matrix_form scaling""",
    CONDITION: "closed_form_maximum theorem_1 regularised equation_11 table_1",
    FAILS: "extension unique_parameterisation mu_oov piecewise_closed_form",
}
MEASURED = ("ep1", "ecrn", "ep2", "ecrn-word", "separate", "crf", "crf-tuned", "pw")


@pytest.fixture(scope="module")
def results() -> Record:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(label_bias, "ROUNDS", 2)
        patch.setattr(label_bias, "TRAINED", ("crf-tuned", "pw", "hmm", "memm"))
        found: Record = {name: collect(None) for name, collect in verdicts.SIMULATED.items()}  # type: ignore[arg-type]
    (X, y), (test, gold) = load_sample(), load_sample("test")
    split = Split(Part(X[:120], y[:120]), Part(test[:60], gold[:60]))
    models = {key: measure.measure(MODELS[key], split, split.test) for key in MEASURED}
    small = {"splits": {"1000/4000": {"models": models, "published": published.POS["1000/4000"]}}}
    names = {"splits": {"train/testb": {"models": models, "published": published.NER}}}
    return found | {"pos": small, "pos_order": small, "ner": names, "ner_longer": names}


@pytest.fixture(scope="module")
def found(results: Record) -> Record:
    return verdicts.collect(results)


def test_verdicts_are_what_they_were(found: Record) -> None:
    for verdict, names in EXPECTED.items():
        for name in names.split():
            assert found["claims"][name]["verdict"] == verdict, found["claims"][name]


def test_every_claim_says_where_it_stands_and_how_to_check_it(found: Record) -> None:
    assert len(CLAIMS) == sum(found["counts"].values()) >= 48
    for claim in CLAIMS.values():
        assert claim.source[:3] in published.PAPERS
        assert claim.command.startswith("python -m experiments.")
    for of in found["claims"].values():
        assert of["verdict"] in VERDICTS
        assert of["found"]
    assert {claim.source[:3] for claim in CLAIMS.values()} == set(published.PAPERS)


def test_measured_claims_have_verdicts_or_a_reason(found: Record) -> None:
    told = {name for names in EXPECTED.values() for name in names.split()}
    rest = {name: of["verdict"] for name, of in found["claims"].items() if name not in told}
    assert len(rest) >= 14
    assert sum(verdict == OPEN for verdict in rest.values()) <= 1  # one split cannot show how a gap closes
    assert rest["separate_is_fast"] != FAILS


def without(name: str) -> Callable[[Record], None]:
    def change(results: Record) -> None:
        del results["pos"]["splits"]["1000/4000"]["models"][name]

    return change


def set_to(value: Any, *place: Any) -> Callable[[Record], None]:
    def change(results: Record) -> None:
        inner = results
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = value

    return change


POS = ("pos", "splits", "1000/4000", "models")


@pytest.mark.parametrize(
    ("name", "change", "verdict"),
    [
        ("extension", set_to(0.0, "theorem", "example", "extended", "gap"), HOLDS),
        ("theorem_1", set_to(9.9, "theorem", "random", "a place a word", 0, "gap"), FAILS),
        ("many_maxima", set_to(3.0, "test_time_problem", "path", 5, "objective"), FAILS),
        ("ttp_is_a_maximum", set_to(4.0, "test_time_problem", "points", "ttp", "scores", "11"), FAILS),
        ("optimiser_stays", set_to("00", "test_time_problem", "points", "zero", "prediction"), FAILS),
        ("equation_10", set_to(99.0, "parameterizations", "equation_10", "steps", -1, "overall"), FAILS),
        ("equation_11", set_to(99.0, "parameterizations", "equation_11", 1, "equation_11"), FAILS),
        ("label_bias_problem", set_to(99.0, "label_bias", "models", "memm", "overall"), FAILS),
        ("label_bias_figures", set_to(50.0, "label_bias", "models", "ep1", "overall"), FAILS),
        ("fast_training", set_to(1e9, *POS, "ep1", "seconds"), FAILS),
        ("competitive_pos", set_to(10.0, *POS, "ep1", "overall"), FAILS),
        ("separate_is_fast", set_to(1e9, *POS, "separate", "seconds"), FAILS),
        ("separate_is_accurate", set_to(1.0, *POS, "separate", "overall"), FAILS),
        ("ep2_above_ep1", set_to(1.0, *POS, "ep2", "overall"), FAILS),
        ("competitive_piecewise", without("pw"), OPEN),
    ],
)
def test_checks_can_say_the_opposite(
    results: Record, name: str, change: Callable[[Record], None], verdict: str
) -> None:
    other = copy.deepcopy(results)
    change(other)
    assert CLAIMS[name].check(other).verdict == verdict


def test_a_corpus_that_is_missing_leaves_a_claim_open(results: Record) -> None:
    without_corpora = {name: of for name, of in results.items() if name in verdicts.SIMULATED}
    assert verdicts.check(CLAIMS["fast_training"], without_corpora).verdict == OPEN
    with pytest.raises(KeyError):
        verdicts.check(CLAIMS["theorem_1"], {})


def test_the_theorem_in_figures(results: Record) -> None:
    """000 §3.4.3: 2.502 for both as printed; with the extension 3.057 and 2.502."""
    printed, extended = results["theorem"]["example"].values()
    assert printed["ep"] == pytest.approx(test_time_problem.OPTIMUM, abs=1e-9)
    assert (printed["optimum"], extended["optimum"]) == pytest.approx((2.502, 2.502), abs=5e-4)
    assert extended["ep"] == pytest.approx(3.057, abs=5e-4)
    for each in results["theorem"]["random"]["a place a word"]:
        assert each["disagreement"] == pytest.approx(0, abs=1e-12)
        assert (each["z_low"], each["z_high"]) == pytest.approx((1, 1), abs=1e-9)
    assert theorem.disagreement(theorem.drawn(0, places=False)) > 0.1


def test_one_command_shows_one_claim(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], results: Record, tmp_path: Any
) -> None:
    monkeypatch.setattr(verdicts, "_results", lambda folder: results)
    monkeypatch.setattr(verdicts, "CLAIMS", {name: CLAIMS[name] for name in ("theorem_1", "entropies")})
    monkeypatch.setattr("sys.argv", ["claims", "theorem_1"])
    verdicts.main()
    out = capsys.readouterr().out
    assert out.startswith("HOLDS UNDER A CONDITION  theorem_1 (000 §3.4.2, Thm 1)")
    assert "entropies" not in out
    monkeypatch.setattr("sys.argv", ["claims"])
    verdicts.main()
    assert capsys.readouterr().out.endswith("2 claims: 1 holds, 1 holds under a condition\n")
    assert isinstance(CLAIMS["entropies"].check({}), Finding)
    assert parameterizations.STEPS
