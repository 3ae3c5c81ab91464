"""What every estimator of corate must do: one list of checks, run on each of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import corate
from corate import ConstraintError, Constraints, InputError, NotFittedError, TreeTagger
from corate.models.base import Estimator
from corate.text.spans import valid_transition

Check = Callable[[Estimator, Path], None]
X, Y = corate.load_sample("train", "entity")
TEST, GOLD = corate.load_sample("test", "entity")


def of(estimator: Any, sentences: list[list[str]]) -> Any:
    """Sentences as the estimator takes them: those on trees hang each word on the one before it."""
    if not isinstance(estimator, TreeTagger):
        return sentences
    return [[(word, str(k)) for k, word in enumerate(words)] for words in sentences]


def fitted(estimator: Any) -> Any:
    return estimator.fit(of(estimator, X), Y)


def check_fit_returns_self_and_learns_classes(estimator: Any, tmp: Path) -> None:
    assert not hasattr(estimator, "classes_")
    assert estimator.fit(of(estimator, X), Y) is estimator
    assert estimator.classes_ == sorted({label for labels in Y for label in labels})


def check_not_fitted(estimator: Any, tmp: Path) -> None:
    for ask in (estimator.predict, estimator.predict_marginals, estimator.predict_nbest):
        with pytest.raises(NotFittedError):
            ask(of(estimator, TEST))
    with pytest.raises(NotFittedError):
        estimator.save(tmp / "model")


def check_params_and_clone(estimator: Any, tmp: Path) -> None:
    from sklearn.base import clone

    params = estimator.get_params()
    copy = clone(estimator)
    assert copy.get_params() == params
    assert copy.set_params(n_jobs=2).get_params()["n_jobs"] == 2
    with pytest.raises(ValueError, match="no parameter 'depth'"):
        copy.set_params(depth=3)
    assert type(estimator).__name__ in repr(estimator)
    fitted(estimator)
    assert estimator.get_params() == params, "fit must not change parameters"


def check_grid_search(estimator: Any, tmp: Path) -> None:
    from sklearn.model_selection import GridSearchCV

    search = GridSearchCV(estimator, {"n_jobs": [1, 2]}, cv=3).fit(of(estimator, X[:60]), Y[:60])
    scores = search.cv_results_["mean_test_score"]
    assert scores[0] == scores[1] == pytest.approx(search.best_score_)


def check_refit_forgets(estimator: Any, tmp: Path) -> None:
    once = fitted(estimator).predict(of(estimator, TEST))
    estimator.fit(of(estimator, X[:50]), Y[:50])
    assert fitted(estimator).predict(of(estimator, TEST)) == once


def check_score_is_accuracy(estimator: Any, tmp: Path) -> None:
    predicted = fitted(estimator).predict(of(estimator, TEST))
    right = [a == b for p, g in zip(predicted, GOLD, strict=True) for a, b in zip(p, g, strict=True)]
    assert estimator.score(of(estimator, TEST), GOLD) == pytest.approx(sum(right) / len(right))


def check_marginals_sum_to_one(estimator: Any, tmp: Path) -> None:
    for sentence, tokens in zip(TEST, fitted(estimator).predict_marginals(of(estimator, TEST)), strict=True):
        assert len(sentence) == len(tokens)
        for token in tokens:
            assert sum(token.values()) == pytest.approx(1.0, abs=1e-12)
            assert set(token) <= set(estimator.classes_)


def check_nbest_is_ordered_and_begins_with_the_best(estimator: Any, tmp: Path) -> None:
    best = fitted(estimator).predict(of(estimator, TEST[:40]))
    for labels, ranked in zip(best, estimator.predict_nbest(of(estimator, TEST[:40]), 4), strict=True):
        assert ranked[0][0] == labels
        probabilities = [p for _, p in ranked]
        assert probabilities == sorted(probabilities, reverse=True)
        assert sum(probabilities) <= 1 + 1e-9
        assert len({tuple(y) for y, _ in ranked}) == len(ranked) <= 4


def check_log_prob(estimator: Any, tmp: Path) -> None:
    fitted(estimator)
    ranked = estimator.predict_nbest(of(estimator, TEST[:20]), 1)
    log_probs = estimator.log_prob(of(estimator, TEST[:20]), [each[0][0] for each in ranked])
    assert [math.exp(p) for p in log_probs] == pytest.approx([each[0][1] for each in ranked])


def check_threads(estimator: Any, tmp: Path) -> None:
    one = fitted(estimator).predict_marginals(of(estimator, TEST))
    assert estimator.set_params(n_jobs=3).predict_marginals(of(estimator, TEST)) == one


def check_save_and_load(estimator: Any, tmp: Path) -> None:
    fitted(estimator).save(tmp / "a.model")
    loaded = corate.load(tmp / "a.model")
    assert type(loaded) is type(estimator)
    chosen = {"contexts": tuple(estimator.context_names())} if estimator.contexts is None else {}
    assert loaded.get_params() == estimator.get_params() | chosen
    assert loaded.predict(of(loaded, TEST)) == estimator.predict(of(estimator, TEST))
    loaded.save(tmp / "b.model")
    assert (tmp / "a.model").read_bytes() == (tmp / "b.model").read_bytes()
    assert sorted(path.name for path in tmp.iterdir()) == ["a.model", "b.model"]


def check_answers_are_those_of_the_parameters_at_fit(estimator: Any, tmp: Path) -> None:
    """Whatever is set afterwards is for the next fit: neither labels nor the file change."""
    labels = fitted(estimator).predict(of(estimator, TEST[:40]))
    marginals = estimator.predict_marginals(of(estimator, TEST[:5]))
    estimator.save(tmp / "a.model")
    estimator.set_params(**{name: "nonsense" for name in estimator.get_params() if name != "n_jobs"})
    assert estimator.predict(of(estimator, TEST[:40])) == labels
    assert estimator.predict_marginals(of(estimator, TEST[:5])) == marginals
    estimator.save(tmp / "b.model")
    assert (tmp / "a.model").read_bytes() == (tmp / "b.model").read_bytes()


def check_forced_labels(estimator: Any, tmp: Path) -> None:
    forced = [{0: "B-ORG", len(words) - 1: "I-LOC"} for words in TEST[:30]]
    labels = fitted(estimator).predict(of(estimator, TEST[:30]), Constraints(forced=forced))
    assert all(y[0] == "B-ORG" and y[-1] == "I-LOC" for y in labels)


def check_batches_change_nothing(estimator: Any, tmp: Path) -> None:
    """Sentences are labelled batch by batch: forced labels are where they belong in each."""
    cycle = [label for label in fitted(estimator).classes_ if label.startswith("B-")]
    forced = [{k % len(words): cycle[k % len(cycle)]} for k, words in enumerate(TEST[:40])]
    at_once = estimator.predict(of(estimator, TEST[:40]), Constraints(forced=forced))
    ranked = estimator.predict_nbest(of(estimator, TEST[:40]), 2)
    estimator._batch_tokens = lambda: 7
    assert estimator.predict(of(estimator, TEST[:40]), Constraints(forced=forced)) == at_once
    assert all(y[k] == label for y, some in zip(at_once, forced, strict=True) for k, label in some.items())
    for one, other in zip(ranked, estimator.predict_nbest(of(estimator, TEST[:40]), 2), strict=True):
        assert [y for y, _ in one] == [y for y, _ in other]
        assert [p for _, p in one] == pytest.approx([p for _, p in other])


def check_forbidden_pairs(estimator: Any, tmp: Path) -> None:
    free = fitted(estimator).predict(of(estimator, TEST))
    pairs = {(a, b) for y in free for a, b in pairwise(y) if a != b}
    for labels in estimator.predict(of(estimator, TEST), Constraints(forbidden=pairs)):
        assert not pairs & set(pairwise(labels))


def check_valid_spans(estimator: Any, tmp: Path) -> None:
    constraints = Constraints(scheme="IOB2")
    fitted(estimator)
    for labels in estimator.predict(of(estimator, TEST), constraints):
        ends = [None, *labels, None]
        assert all(valid_transition(a, b, "IOB2") for a, b in pairwise(ends))
    for tokens in estimator.predict_marginals(of(estimator, TEST[:20]), constraints):
        assert not any(p for label, p in tokens[0].items() if label.startswith("I-"))


def check_impossible_constraints(estimator: Any, tmp: Path) -> None:
    fitted(estimator)
    pairs = {(a, b) for a in estimator.classes_ for b in estimator.classes_}
    with pytest.raises(ConstraintError, match="no label sequence satisfies the constraints in sentence 1"):
        estimator.predict(of(estimator, [["one"], ["two", "words"]]), Constraints(forbidden=pairs))
    with pytest.raises(InputError, match="no label 'B-GOD'"):
        estimator.predict(of(estimator, [["one"]]), Constraints(forced=[{0: "B-GOD"}]))
    with pytest.raises(InputError, match="no label can be forced at 3"):
        estimator.predict(of(estimator, [["one"]]), Constraints(forced=[{3: "O"}]))


def check_one_label_one_token(estimator: Any, tmp: Path) -> None:
    estimator.fit(of(estimator, [["a"]]), [["X"]])
    assert estimator.predict(of(estimator, [["a"], ["unheard"], ["a", "b", "a"]])) == [
        ["X"],
        ["X"],
        ["X"] * 3,
    ]


ALL: list[Check] = [check for name, check in sorted(globals().items()) if name.startswith("check_")]
