"""Few data, own features: the fit is held back, features that say more together are joined."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import corate
from corate import Tagger
from corate.models.tagger import fit as fitting
from corate.models.tagger.joint import feature_contexts
from corate.models.tagger.settings import SETTINGS
from corate.models.tagger.weights import Weights
from corate.text.tokens import as_corpus

X, Y = corate.load_sample("train", "entity")
TEST, GOLD = corate.load_sample("test", "entity")


def names_of(tokens: list[list[dict[str, str]]], labels: list[list[str]]) -> list[str]:
    corpus = as_corpus(tokens, labels, "refuse")
    return [str(context) for context in feature_contexts(corpus, corpus.keys)]


def exclusive_or(n: int) -> tuple[list[list[dict[str, str]]], list[list[str]]]:
    """Neither of two features says anything; together they tell the label. A third one is noise."""
    rng = random.Random(0)
    tokens = [{key: rng.choice("01") for key in ("a", "b", "noise")} for _ in range(n)]
    labels = ["X" if token["a"] != token["b"] else "Y" for token in tokens]
    return [[token] for token in tokens], [[label] for label in labels]


def test_features_that_say_more_together_are_joined() -> None:
    tokens, labels = exclusive_or(400)
    joined = {frozenset(name.split(",")) for name in names_of(tokens, labels) if "," in name}
    assert frozenset(['"a"', '"b"']) in joined
    assert all({'"a"', '"b"'} <= names for names in joined)
    assert Tagger().fit(tokens[:300], labels[:300]).score(tokens[300:], labels[300:]) == 1.0
    assert Tagger("fixed").fit(tokens[:300], labels[:300]).score(tokens[300:], labels[300:]) < 0.8


def test_a_feature_falls_back_to_what_it_tells() -> None:
    """A word tells its ending, an ending tells no word."""
    rng = random.Random(1)
    words = [rng.choice("bcdfg") + rng.choice("aeiou") + rng.choice(["ing", "ed", "s"]) for _ in range(600)]
    tokens = [[{"word": word, "end": word[2:], "coin": rng.choice("ht")}] for word in words]
    labels = [["V" if word.endswith(("ing", "ed")) else "N"] for word in words]
    found = names_of(tokens, labels)
    assert '"word","end"' in found
    assert '"end"' in found
    assert '"word"' not in found
    assert '"coin"' in found
    assert '"end","word"' not in found


def test_labels_that_are_missing_are_not_looked_at() -> None:
    tokens, labels = exclusive_or(400)
    hidden: list[list[Any]] = [[None] if i % 2 else row for i, row in enumerate(labels)]
    assert names_of(tokens, hidden) == names_of(tokens[::2], labels[::2])


def test_penalties_grow_where_tokens_are_few() -> None:
    rates = Tagger("fixed").fit(X, Y).rates()
    assert fitting.strength(rates, SETTINGS.evidence_tokens // 10) == 10
    assert fitting.strength(rates, 100 * SETTINGS.evidence_tokens) == 1
    own = Tagger("fixed", contexts=("word", "word-1")).fit(X, Y).rates()
    assert fitting.strength(own, SETTINGS.own_evidence_tokens // 10) == 10
    penalty = fitting.penalties(Weights.fixed(rates))
    assert {*penalty[:5].tolist()} == {SETTINGS.single_penalty}
    assert penalty[5] == SETTINGS.context_penalty
    assert penalty[-1] == SETTINGS.label_penalty


def test_a_fit_on_few_sentences_stays_near_the_fixed_weights() -> None:
    def moved(n: int) -> float:
        fixed = Tagger("fixed").fit(X[:n], Y[:n])
        fitted = fitting.fit(as_corpus(X[:n], Y[:n]), fixed.rates())
        return float(((fitted.vector() - fixed.weights_.vector()) ** 2).sum())

    assert moved(9) == 0.0  # too few to hold any out
    assert 0.0 < moved(12) < moved(len(X))


def test_the_penalty_is_added_to_the_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    """The objective and its gradient, by differences."""
    seen: list[Any] = []

    def stop(objective: Any, start: Any, **_: Any) -> Any:
        seen.append((objective, start))
        raise KeyboardInterrupt

    monkeypatch.setattr("scipy.optimize.minimize", stop)
    with pytest.raises(KeyboardInterrupt):
        Tagger().fit(X[:40], Y[:40])
    ((objective, start),) = seen
    rng = np.random.default_rng(0)
    at = start + 0.1 * rng.random(len(start))
    direction, h = rng.standard_normal(len(start)), 1e-5
    slope = (objective(at + h * direction)[0] - objective(at - h * direction)[0]) / (2 * h)
    assert slope == pytest.approx(objective(at)[1] @ direction, rel=1e-4)
    far = 1e3 * direction
    assert objective(start + far)[0] > objective(start)[0] + 1e3  # the penalty holds it


@pytest.mark.parametrize("n", [1, 2, 9, 10, 12])
def test_any_number_of_sentences(n: int) -> None:
    def features(rows: list[list[str]]) -> list[list[dict[str, str]]]:
        return [[{"w": word, "end": word[-1:]} for word in row] for row in rows]

    for shape in (lambda rows: rows, features):
        model = Tagger().fit(shape(X[:n]), Y[:n])
        for token in (t for s in model.predict_marginals(shape(TEST[:5])) for t in s):
            assert sum(token.values()) == pytest.approx(1.0)


DEGENERATE: dict[str, tuple[Any, Any]] = {
    "one label": ([["a", "b"]] * 12, [["N", "N"]] * 12),
    "every label once": ([[f"w{i}"] for i in range(20)], [[f"L{i}"] for i in range(20)]),
    "a constant column": ([[("a", "c"), ("b", "c")]] * 12, [["N", "V"]] * 12),
    "contradictions": ([["a"]] * 20, [["N"], ["V"]] * 10),
    "features once each": (
        [[{f"k{i}": "v"} for i in range(j, j + 20)] for j in range(0, 400, 20)],
        [["N", "V"] * 10] * 20,
    ),
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_data_is_finite_and_explained(name: str) -> None:
    tokens, labels = DEGENERATE[name]
    model = Tagger().fit(tokens, labels)
    assert np.isfinite(model.weights_.vector()).all()
    predicted = model.predict(tokens[:3])
    assert {y for row in predicted for y in row} <= set(model.classes_)
    assert np.isfinite(model.log_prob(tokens[:3], predicted)).all()
    assert len(model.explain(tokens[0])) == len(tokens[0])


def test_a_column_that_is_the_label_wins() -> None:
    def leaking(rows: Any, labels: Any) -> list[list[tuple[str, str]]]:
        return [list(zip(row, each, strict=True)) for row, each in zip(rows, labels, strict=True)]

    for n in (50, len(X)):
        assert Tagger().fit(leaking(X[:n], Y[:n]), Y[:n]).score(leaking(TEST, GOLD), GOLD) > 0.99


def test_inspect_says_what_was_decided() -> None:
    assert Tagger("fixed").fit(X, Y).about_weights() == "fixed"
    assert Tagger().fit(X[:9], Y[:9]).about_weights() == "fixed: there were too few sentences to fit them"
    times = f"{SETTINGS.evidence_tokens / sum(map(len, X[:50])):.1f} times"
    said = Tagger().fit(X[:50], Y[:50]).about_weights()
    drawn = f"fitted, drawn to the common ones, {times} as strongly as with much text"
    assert said == f"{drawn}; beside them those of a CRF, as there was little text"


def test_what_is_false_is_a_value() -> None:
    """Of two labels, one goes with False: there is nothing else to tell it by."""
    tokens = [[{"bias": "1", "up": bool(i % 2)}] for i in range(40)]
    labels = [["Y" if i % 2 else "N"] for i in range(40)]
    for weights in ("fixed", "fitted"):
        model = Tagger(weights).fit(tokens, labels)
        assert model.counts_.vocabularies['"up"'] == ["no", "yes"]
        assert model.predict(tokens[:2]) == labels[:2]
    crf = corate.LinearChainCRF().fit(tokens, labels)  # as CRFsuite has it: weights of what is there
    assert not any("no" in name for names in crf.named_weights() for name in names)
