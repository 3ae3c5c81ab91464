"""Every estimator passes the same list of checks."""

from __future__ import annotations

from pathlib import Path

import pytest
from sklearn.base import clone

import checks
from corate import (
    HMM,
    MEMM,
    EmpiricalCRF,
    LinearChainCRF,
    MaxEntClassifier,
    PiecewiseCRF,
    SeparateCRF,
    Tagger,
    TreeTagger,
)
from corate.models.base import Estimator

ESTIMATORS = [
    EmpiricalCRF(unknown="mean"),
    EmpiricalCRF(unknown="signature"),
    EmpiricalCRF(unknown="signature", pair="word", contexts=("suffix2", "shape")),
    EmpiricalCRF(unknown="mean", pair="word", mu_oov=1.5),
    EmpiricalCRF(unknown="maxent"),
    EmpiricalCRF(unknown="maxent", pair="word", contexts=("initial", "suffix2")),
    Tagger(),
    Tagger(weights="fixed"),
    TreeTagger(),
    TreeTagger(weights="fixed"),
    HMM(),
    HMM(smoothing="none", contexts=(), ends=False),
    HMM(smoothing="witten-bell"),
    LinearChainCRF(tolerance=1e-3),
    LinearChainCRF(contexts=("word", "pair:initial"), all_transitions=True),
    LinearChainCRF("ap", tolerance=0.5),
    LinearChainCRF("l2sgd", tolerance=0.1),
    MaxEntClassifier(),
    MEMM(),
    MEMM("shared"),
    PiecewiseCRF(),
    SeparateCRF(),
    SeparateCRF("word", tolerance=1e-2),
]


@pytest.mark.parametrize("check", checks.ALL, ids=lambda check: check.__name__)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_estimator(estimator: Estimator, check: checks.Check, tmp_path: Path) -> None:
    check(clone(estimator), tmp_path)
