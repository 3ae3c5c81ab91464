"""sklearn-crfsuite's names: the same optimum, the same figures, the same shapes."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pycrfsuite
import pytest
import sklearn_crfsuite.metrics as theirs

import corate
from corate import HMM, LinearChainCRF, Tagger
from corate.adapters import crfsuite
from corate.arrays import Float
from corate.errors import InputError
from corate.models.loglinear.lbfgs import Point
from corate.models.loglinear.orthant import descend, steepest
from corate.models.model import restored

X, Y = (part[:120] for part in corate.load_sample())


def features(word: str) -> list[str]:
    return [f"word={word.lower()}", f"end={word[-3:]}", *(["upper"] if word[0].isupper() else [])]


FEATURES = [[features(word) for word in words] for words in X]


@pytest.mark.parametrize(("c1", "c2", "every"), [(0.1, 0.01, True), (1.0, 0.1, False), (0.5, 0.0, False)])
def test_the_optimum_is_that_of_crfsuite(c1: float, c2: float, every: bool, tmp_path: Path) -> None:
    trainer = pycrfsuite.Trainer(verbose=False)
    options = {"c1": c1, "c2": c2, "feature.possible_transitions": every, "delta": 1e-7, "epsilon": 1e-7}
    trainer.set_params(options)
    for tokens, labels in zip(FEATURES, Y, strict=True):
        trainer.append(tokens, labels)
    trainer.train(str(tmp_path / "model"))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(tmp_path / "model"))
    crf = LinearChainCRF(c1=c1, c2=c2, all_transitions=every, tolerance=1e-7).fit(FEATURES, Y)
    assert crf.objective_ == pytest.approx(trainer.logparser.last_iteration["loss"], rel=1e-4)
    for ours, them in (
        (
            {(name.replace(":", "=", 1), y): w for (name, y), w in crf.state_features_.items()},
            tagger.info().state_features,
        ),
        (crf.transition_features_, tagger.info().transitions),
    ):
        strong = {name for name, weight in them.items() if abs(weight) > 0.1}
        assert strong <= ours.keys()
        assert {name: ours[name] for name in strong} == pytest.approx(
            {name: them[name] for name in strong}, abs=0.1
        )
        assert abs(len(ours) - len(them)) <= 0.03 * len(them) + 3, "most weights are exactly 0, as there"


def absolute(w: Float) -> tuple[float, Float]:
    """Σ (w − target)² / 2: with c1 Σ |w|, each weight's optimum is the target, c1 nearer to 0."""
    apart = w - np.array([3.0, -2.0, 0.4, -0.5, 0.0])
    return float((apart**2).sum() / 2), apart


@pytest.mark.parametrize("start", [0.0, 1.0, -4.0])
def test_the_corner_at_0(start: float) -> None:
    at = np.full(5, start)
    last = [*itertools.islice(descend(absolute, Point(at, *absolute(at)), 0.5), 50)][-1]
    assert last.weights.tolist() == pytest.approx([2.5, -1.5, 0.0, 0.0, 0.0], abs=1e-6)
    assert (last.weights[2:] == 0).all()
    assert last.value == pytest.approx(absolute(last.weights)[0] + 0.5 * np.abs(last.weights).sum())
    point = Point(last.weights, *absolute(last.weights))
    assert np.abs(steepest(point, 0.5)).max() < 1e-6


def test_early_stopping_keeps_the_best_weights() -> None:
    train, dev = slice(0, 80), slice(80, 120)
    told: list[dict[str, Any]] = []
    crf = LinearChainCRF(c2=0.001).fit(
        X[train], Y[train], told.append, X_dev=X[dev], y_dev=Y[dev], patience=5
    )
    scores = [entry["dev_score"] for entry in crf.training_log_]
    assert told == crf.training_log_
    assert crf.score(X[dev], Y[dev]) == max(scores)
    assert len(scores) - 1 - scores.index(max(scores)) == 5
    assert len(scores) < len(LinearChainCRF(c2=0.001).fit(X[train], Y[train]).training_log_)
    assert crf.objective_ == crf.training_log_[scores.index(max(scores))]["objective"]
    with pytest.raises(InputError, match="patience=0"):
        crf.fit(X, Y, X_dev=X, y_dev=Y, patience=0)
    with pytest.raises(InputError, match="score needs"):
        crf.fit(X, Y, X_dev=X)


def test_files_of_earlier_versions_have_no_c1() -> None:
    crf = LinearChainCRF().fit(X[:5], Y[:5])
    contents = crf._contents()
    del contents.header["params"]["c1"]
    assert restored(LinearChainCRF, contents).predict(X[:9]) == crf.predict(X[:9])
    contents.header["params"]["c3"] = 1
    with pytest.raises(TypeError):
        restored(LinearChainCRF, contents)


@pytest.mark.parametrize("model", [Tagger(weights="fixed"), HMM(), LinearChainCRF()], ids=repr)
def test_one_sentence(model: Any) -> None:
    model.fit(X, Y)
    assert model.predict_single(X[0]) == model.predict(X[:1])[0]
    few, every = model.predict_marginals(X[:2]), model.predict_marginals(X[:2], all_labels=True)
    assert model.predict_marginals_single(X[0]) == every[0]
    assert model.predict_marginals_single(X[0], all_labels=False) == few[0]
    for some, whole in zip(itertools.chain(*few), itertools.chain(*every), strict=True):
        assert list(whole) == model.classes_
        assert whole == dict.fromkeys(model.classes_, 0.0) | some


def test_metrics_are_theirs() -> None:
    gold, labels = [["A", "B", "C"], ["A"], ["C", "C"]], [["A", "B", "B"], ["A"], ["C", "A"]]
    for name in ("precision", "recall", "f1"):
        ours, them = (getattr(module, f"flat_{name}_score") for module in (crfsuite, theirs))
        for options in ({"average": "weighted"}, {"average": "macro", "labels": ["A", "B"]}):
            assert ours(gold, labels, **options) == them(gold, labels, **options)
    assert crfsuite.flat_accuracy_score(gold, labels) == theirs.flat_accuracy_score(gold, labels)
    ours_beta = crfsuite.flat_fbeta_score(gold, labels, beta=2, average="macro")
    assert ours_beta == theirs.flat_fbeta_score(gold, labels, beta=2, average="macro")
    report = theirs.flat_classification_report(gold, labels, digits=3)
    assert crfsuite.flat_classification_report(gold, labels, digits=3) == report
    assert crfsuite.sequence_accuracy_score(gold, labels) == theirs.sequence_accuracy_score(gold, labels)
    with pytest.raises(InputError, match="one label list a sentence"):
        crfsuite.flat_f1_score([["A", "B"], ["A"]], [["A"], ["A", "B"]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithm": "arow"}, "the nearest here is 'ap'"),
        ({"min_freq": 2}, "min_freq=2"),
    ],
)
def test_what_crfsuite_has_alone(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        crfsuite.CRF(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"c1": -1}, "c1=-1"),
        ({"c1": "much"}, "c1='much'"),
        ({"c1": 0.1, "algorithm": "ap"}, 'for algorithm="lbfgs"'),
    ],
)
def test_bad_penalties(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        LinearChainCRF(**options).fit(X[:2], Y[:2])
