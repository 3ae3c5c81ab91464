"""Training sentence by sentence: averaged perceptron and stochastic gradient."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import corate
from corate import ConvergenceWarning, InputError, LinearChainCRF
from corate.models.loglinear import online
from lab.peers import lafferty

X, Y = corate.load_sample()
TEST, GOLD = corate.load_sample("test")
FEW, FEW_LABELS = X[:60], Y[:60]
ONLINE = ["ap", "l2sgd"]


def fired(words: list[str], labels: list[str]) -> Counter[tuple[str, ...]]:
    """The features of a model that looks at words and label pairs, by name."""
    found = Counter((f"word={word}", label) for word, label in zip(words, labels, strict=True))
    return found + Counter(("", *pair) for pair in pairwise(labels))


def test_the_perceptron_is_the_mean_of_all_weights_on_the_way() -> None:
    """Collins 2002, step by step: weights are dicts, the mean is a sum over every sentence of every pass."""
    passes = 4
    with pytest.warns(ConvergenceWarning, match="ap: no convergence after 4 iterations"):
        crf = LinearChainCRF("ap", contexts=["word"], max_iterations=passes, tolerance=0.0).fit(
            FEW, FEW_LABELS
        )
    probe = LinearChainCRF("ap", contexts=["word"], max_iterations=1)
    with pytest.warns(ConvergenceWarning):
        probe.fit(FEW, FEW_LABELS)  # has the features; its weights are set by hand below
    names = list(probe.named_weights())
    weights: Counter[tuple[str, ...]] = Counter()
    total: Counter[tuple[str, ...]] = Counter()
    rng, order, wrong = random.Random(online.SEED), list(range(len(FEW))), []
    for _ in range(passes):
        rng.shuffle(order)
        wrong.append(0)
        for i in order:
            probe.weights_ = np.array([float(weights[name]) for name in names])
            (found,) = probe.predict([FEW[i]])
            wrong[-1] += sum(a != b for a, b in zip(found, FEW_LABELS[i], strict=True))
            weights.update(fired(FEW[i], FEW_LABELS[i]))
            weights.subtract({k: n for k, n in fired(FEW[i], found).items() if k in names})
            total.update(weights)
    assert [entry["objective"] for entry in crf.training_log_[1:]] == wrong
    mean = {name: total[name] / (passes * len(FEW)) for name in names}
    assert wrong[-1] == min(wrong), "the last pass is the best one: its mean is kept"
    assert crf.named_weights() == pytest.approx(mean, abs=1e-12)


def test_a_perceptron_ends_where_nothing_is_wrong() -> None:
    crf = LinearChainCRF("ap").fit(FEW[:8], FEW_LABELS[:8])
    assert crf.objective_ == crf.training_log_[-1]["gradient_norm"] == 0
    assert len(crf.training_log_) < 30


@pytest.mark.parametrize("c2", [1.0, 0.1])
def test_stochastic_gradient_finds_the_optimum(c2: float) -> None:
    best = LinearChainCRF(c2=c2, tolerance=1e-8).fit(FEW, FEW_LABELS)
    crf = LinearChainCRF("l2sgd", c2=c2).fit(FEW, FEW_LABELS)
    assert best.objective_ - 1e-6 <= crf.objective_ <= 1.01 * best.objective_
    penalty = c2 * float(crf.weights_ @ crf.weights_)
    assert crf.objective_ == pytest.approx(penalty - sum(crf.log_prob(FEW, FEW_LABELS)), rel=1e-9)


def test_many_features_share_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    best = LinearChainCRF(c2=0.5, tolerance=1e-8).fit(FEW, FEW_LABELS)
    monkeypatch.setattr("corate.models.loglinear.sgd.WEIGHTS_A_SENTENCE", len(best.weights_) // 6)
    crf = LinearChainCRF("l2sgd", c2=0.5).fit(FEW, FEW_LABELS)
    assert best.objective_ - 1e-6 <= crf.objective_ <= 1.01 * best.objective_


@pytest.mark.parametrize("algorithm", ONLINE)
def test_as_accurate_as_crfsuite(algorithm: str, tmp_path: Any) -> None:
    """The same features and penalty, trained by CRFsuite's algorithm of the same name."""
    pycrfsuite = pytest.importorskip("pycrfsuite")
    trainer = pycrfsuite.Trainer(algorithm, {"c2": 0.1} if algorithm == "l2sgd" else {}, verbose=False)
    for words, labels in zip(X, Y, strict=True):
        trainer.append(lafferty(words), labels)
    trainer.train(str(tmp_path / "crf"))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(tmp_path / "crf"))
    theirs = [label == gold for words, labels in zip(TEST, GOLD, strict=True)
              for label, gold in zip(tagger.tag(lafferty(words)), labels, strict=True)]  # fmt: skip
    crf = LinearChainCRF(algorithm, c2=0.1).fit(X, Y)
    assert crf.score(TEST, GOLD) == pytest.approx(np.mean(theirs), abs=0.01)


@pytest.mark.parametrize("algorithm", ONLINE)
def test_control_c_keeps_the_best_weights(algorithm: str) -> None:
    def stop(entry: dict[str, Any]) -> None:
        if entry["iteration"] == 4:
            raise KeyboardInterrupt

    with pytest.warns(ConvergenceWarning, match="interrupted after 4 iterations"):
        found = LinearChainCRF(algorithm).fit(FEW, FEW_LABELS, progress=stop)
    assert found.score(FEW, FEW_LABELS) > 0.7


def test_singular_cases() -> None:
    for algorithm in ONLINE:
        assert LinearChainCRF(algorithm).fit([["a"]], [["N"]]).predict([["a", "b"]]) == [["N", "N"]]
        alone = LinearChainCRF(algorithm).fit([["a"], ["b"], []], [["N"], ["M"], []])
        assert alone.predict([["a"], ["b"], []]) == [["N"], ["M"], []]
    with pytest.raises(InputError, match=r"l2sgd: the objective of the initial weights is .*: give smaller"):
        LinearChainCRF("l2sgd", initial=np.full(3, 1e200)).fit([["a", "b"]], [["N", "M"]])
