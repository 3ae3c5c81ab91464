"""Copies of models: whatever was learned, in whatever way and of whatever tokens, they answer the same."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from corate import HMM, Constraints, EmpiricalCRF, InputError, Tagger, load_sample, merge

X, Y = load_sample()
Sentences = list[list[Any]]


def words(sentences: list[list[str]]) -> Sentences:
    return [*sentences]


def columns(sentences: list[list[str]]) -> Sentences:
    """Some cells of the second column are empty."""
    return [[(word, word[3:5]) for word in tokens] for tokens in sentences]


def features(sentences: list[list[str]]) -> Sentences:
    return [
        [{"w": w, "end": w[-2:], **({"upper": True} if w.istitle() else {})} for w in tokens]
        for tokens in sentences
    ]


MORE = [["Zyx", "zyxed", "the", "z"], ["a", "Zyx"]], [["NOUN", "NEW", "DET", "NEW"], ["DET", "_"]]
MODELS = [
    (Tagger("fixed"), words),
    (Tagger("fixed"), columns),
    (Tagger("fixed"), features),
    (EmpiricalCRF(pair="word"), words),
    (EmpiricalCRF("maxent", contexts=("suffix2",), c2=1.0), words),
    (HMM(), words),
]


@pytest.mark.parametrize(("model", "given"), MODELS, ids=[f"{m!r} {g.__name__}" for m, g in MODELS])
def test_copies_after_every_kind_of_update(model: Any, given: Any) -> None:
    """Labels and probabilities, token by token; and a copy knows nothing of what the original learns."""
    test = given([*X[100:140], *MORE[0], ["unheard", "", "of"] if given is columns else ["of"]])
    model = copy.deepcopy(model).fit(given(X[:60]), Y[:60])
    other = copy.deepcopy(model).fit(given(X[60:80]), Y[60:80])
    updates: list[Callable[[], Any]] = [
        lambda: model.predict(test),
        lambda: model.partial_fit(given(MORE[0]), MORE[1]),
        lambda: model.partial_fit(given(X[60:90]), Y[60:90]),
        lambda: model.forget(given(MORE[0]), MORE[1]),
        lambda: model.forget(given(X[:30]), Y[:30]),
        lambda: model.__dict__.update(vars(merge(model, other))),
        lambda: None if isinstance(model, HMM) else model.prune(2),
        lambda: model.partial_fit(given(MORE[0]), MORE[1]),
    ]
    for update in updates:
        shallow, before = copy.copy(model), model.predict_with_probability(test)
        update()
        found = model.predict_with_probability(test)
        for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
            assert twin.predict_with_probability(test) == found
            assert twin.counts_ == model.counts_
        assert shallow.predict_with_probability(test) == before, "a copy has learned with the original"


# Arguments -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [{"X": 1, "Y": 2}, {"X", "Y"}, frozenset("XY"), b"XY", "XY", 7])
def test_labels_that_are_no_list(wrong: Any) -> None:
    """A set has no order, a dict another meaning."""
    for model in (EmpiricalCRF(), Tagger("fixed")):
        with pytest.raises((TypeError, ValueError), match=r"sentence 0 has 2 tokens and labels .*: give one"):
            model.fit([["a", "b"]], [wrong])
        with pytest.raises((TypeError, ValueError), match=r"y is .*: give a list of label lists"):
            model.fit([["a", "b"], ["a", "b"]], {("X", "Y"): 1, ("Y", "Y"): 2} if wrong == 7 else wrong)
        with pytest.raises(TypeError, match=r"X is .*: give a list of sentences"):
            model.fit({("a", "b"), ("c", "d")}, [["X", "Y"]] * 2)


def test_positions_and_numbers_may_be_numpys() -> None:
    import numpy as np

    model = EmpiricalCRF().fit(X[:60], Y[:60])
    forced = model.predict(X[:1], Constraints(forced=[{np.int64(1): "NOUN"}]))
    assert forced == model.predict(X[:1], Constraints(forced=[{1: "NOUN"}]))
    assert model.predict_nbest(X[:1], np.int32(2)) == model.predict_nbest(X[:1], 2)


@pytest.mark.parametrize("model", [Tagger("fixed"), HMM()], ids=repr)
def test_nul_is_refused_at_the_door(model: Any) -> None:
    model.fit(X[:20], Y[:20])
    for sentences, labels in (
        ([["a\0"]], [["NOUN"]]),
        ([["a"]], [["NOUN\0"]]),
        ([[("a", "\0")]], [["NOUN"]]),
    ):
        for ask in (model.fit, model.partial_fit, model.forget, model.score, model.log_prob):
            with pytest.raises(InputError, match="has the NUL character"):
                ask(sentences, labels)


def test_many_columns() -> None:
    """Two hundred are as good as two; beyond the limit there is one sentence."""
    tokens = [[(f"w{k}", *(f"c{k * j % 7}" for j in range(199))) for k in range(5)]]
    labels = [["X", "Y", "X", "Y", "X"]]
    for model in (Tagger("fixed"), EmpiricalCRF()):
        assert model.fit(tokens, labels).predict(tokens) == labels
    tagger = Tagger("fixed", contexts=["word", "col200", "col200:suffix1-1"]).fit(tokens, labels)
    assert tagger.context_names() == ["word", "col200", "col200:suffix1-1"]
    with pytest.raises(InputError, match=r"tokens of 1,000 columns: corate takes 999"):
        Tagger("fixed").fit([[("a",) * 1000]], [["X"]])


@pytest.mark.parametrize("model", [EmpiricalCRF(), HMM(), Tagger("fixed")], ids=repr)
def test_no_sequence_is_more_than_certain(model: Any) -> None:
    """Sums of many terms are rounded, and a probability is none above 1."""
    sentence = ["the", "dog"] * 400
    model.fit([["the", "dog"]], [["D", "N"]])
    assert all(
        p <= 0.0 for p in model.log_prob([sentence, *X], [["D", "N"] * 400, *([["D"] * len(x) for x in X])])
    )
    model.fit(X, Y)
    assert max(model.log_prob(X, Y)) <= 0.0


def test_a_feature_that_no_token_of_a_batch_has() -> None:
    """fit(A + B) = fit(A).partial_fit(B) and fit(A + B).forget(B) = fit(A), whichever has the key."""
    a = ([[{"w": "a"}, {"w": "b"}]], [["X", "Y"]])
    b = ([[{"w": "a", "upper": True}, {"w": "c"}]], [["Y", "Y"]])

    def tagger() -> Tagger:
        return Tagger("fixed", contexts=['"w"', '"upper"', '"w","upper"'])

    for first, second in ((a, b), (b, a)):
        both = tagger().fit(first[0] + second[0], first[1] + second[1])
        assert tagger().fit(*first).partial_fit(*second).counts_ == both.counts_
        assert both.forget(*second).counts_ == tagger().fit(*first).counts_
    with pytest.raises(InputError, match="looks at \"ww\", and the tokens have the features 'w'"):
        Tagger("fixed", contexts=['"ww"']).fit(*a)
