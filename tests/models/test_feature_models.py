"""Models of features: the shapes of python-crfsuite's tutorial, as they are."""

from __future__ import annotations

import json
from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Cli
from corate import EmpiricalCRF, InputError, Tagger, load, load_sample
from corate.text.sample import FOLDER
from corate.text.tokens import as_corpus
from shared import assert_one_line, rows_of

X, POS = load_sample()
Y = load_sample(label="entity")[1]
TEST, TEST_POS = load_sample("test")
GOLD = load_sample("test", "entity")[1]


def tutorial(rows: list[tuple[str, ...]], i: int) -> dict[str, Any]:
    """What the tutorial of python-crfsuite says of a token: itself and its two neighbours."""
    word, tag = rows[i]
    found: dict[str, Any] = {
        "bias": True,
        "word[-3:]": word[-3:],
        "word[-2:]": word[-2:],
        "word.isdigit": str(word.isdigit()),
    }
    for offset in (-1, 0, 1):
        if not 0 <= i + offset < len(rows):
            found["BOS" if offset < 0 else "EOS"] = True
            continue
        word, tag = rows[i + offset]
        mark = f"{offset:+d}:" if offset else ""
        found[f"{mark}word.lower"] = word.lower()
        found[f"{mark}word.istitle"] = str(word.istitle())
        found[f"{mark}word.isupper"] = str(word.isupper())
        found[f"{mark}postag"] = tag
        found[f"{mark}postag[:2]"] = tag[:2]
    return found


def as_dicts(words: list[list[str]], tags: list[list[str]]) -> list[list[dict[str, Any]]]:
    return [[tutorial(rows, i) for i in range(len(rows))] for rows in rows_of(words, tags)]


def as_lists(sentences: list[list[dict[str, Any]]]) -> list[list[list[str]]]:
    return [
        [[key if value is True else f"{key}={value}" for key, value in token.items()] for token in tokens]
        for tokens in sentences
    ]


TRAIN_DICTS, TEST_DICTS = as_dicts(X, POS), as_dicts(TEST, TEST_POS)


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger().fit(as_lists(TRAIN_DICTS), Y)


def test_the_tutorial_trains_tags_saves_and_loads(tagger: Tagger, tmp_path: Path) -> None:
    predicted = tagger.predict(as_lists(TEST_DICTS))
    assert tagger.score(as_lists(TEST_DICTS), GOLD) > Tagger().fit(X, Y).score(TEST, GOLD) - 0.01
    keys = {key for sentence in TRAIN_DICTS for token in sentence for key in token}
    assert {name.split(",")[0] for name in tagger.context_names()} <= {f'"{key}"' for key in keys}
    assert len(tagger.context_names()) > len(keys)  # some are joined
    tagger.save(tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert loaded.predict(as_lists(TEST_DICTS)) == loaded.predict(TEST_DICTS) == predicted
    assert loaded.predict_marginals(TEST_DICTS[:40]) == tagger.predict_marginals(TEST_DICTS[:40])


def test_dicts_and_lists_give_the_same_model(tagger: Tagger, tmp_path: Path) -> None:
    tagger.save(tmp_path / "lists")
    shuffled = [[dict(reversed(token.items())) for token in tokens] for tokens in TRAIN_DICTS]
    Tagger().fit(shuffled, Y).save(tmp_path / "dicts")
    assert (tmp_path / "lists").read_bytes() == (tmp_path / "dicts").read_bytes()


def test_a_bias_that_is_a_number(tagger: Tagger) -> None:
    """1.0 is the weight that CRFsuite gives to what is there, 0 to what is not; 2 is a number."""
    numbers = [[token | {"bias": 1.0, "none": 0} for token in tokens] for tokens in TRAIN_DICTS]
    test = [[token | {"bias": 1.0} for token in tokens] for tokens in TEST_DICTS]
    assert Tagger().fit(numbers, Y).predict(test) == tagger.predict(TEST_DICTS)
    binned = Tagger(numbers="bin").fit([[t | {"bias": 2.0} for t in tokens] for tokens in TRAIN_DICTS], Y)
    assert np.array_equal(binned.weights_.vector(), tagger.weights_.vector())
    with pytest.raises(InputError, match=r"^sentence 0, token 0: the feature 'bias' is the number 2\.0"):
        Tagger().fit([[token | {"bias": 2.0} for token in tokens] for tokens in TRAIN_DICTS], Y)


def test_unknown_keys_and_values_are_ignored(tagger: Tagger) -> None:
    more = [[token | {"unheard": "of", "too": True} for token in tokens] for tokens in TEST_DICTS[:50]]
    assert tagger.predict(more) == tagger.predict(TEST_DICTS[:50])
    silent = tagger.predict_marginals([[{}, {"unheard": "of"}, []]])[0]
    assert [pytest.approx(sum(token.values())) for token in silent] == [1.0] * 3
    assert tagger.predict([[{"postag": "NEW"}], []])[1] == []


BAD: list[tuple[Any, type[Exception], str]] = [
    ({"n": nan}, InputError, "the feature 'n' is the number nan"),
    ({"n": inf}, InputError, "the feature 'n' is the number inf"),
    ({"n": object}, TypeError, "the feature 'n' is <class 'object'>"),
    ({"n": b"x"}, TypeError, "the feature 'n' is b'x'"),
    ([b"x"], TypeError, "is not a string"),
    ({"": "x"}, InputError, "empty key"),
    (["=x"], InputError, "empty key"),
    ("word", TypeError, "'word' among dicts or lists"),
    (None, TypeError, "None among dicts or lists"),
]


@pytest.mark.parametrize(("token", "error", "message"), BAD)
def test_bad_features_are_one_sentence(
    tagger: Tagger, token: Any, error: type[Exception], message: str
) -> None:
    good: dict[str, Any] = {"w": "a"}
    for ask in (
        lambda: Tagger(numbers="bin").fit([[good], [good, token]], [["X"], ["X", "Y"]]),
        lambda: tagger.predict([[good], [good, token]]),
    ):
        with pytest.raises(error, match=message) as raised:
            ask()
        assert str(raised.value).startswith("sentence 1, token 1: ")
        assert "\n" not in str(raised.value)


def test_a_hundred_thousand_keys() -> None:
    tokens = [[f"w{k}_{j}" for j in range(100)] for k in range(1000)]
    with pytest.raises(InputError, match=r"^100000 keys of features, .*: corate takes 4096; ") as raised:
        Tagger().fit([tokens], [["X"] * len(tokens)])
    assert len(str(raised.value)) < 300


def test_words_and_features_do_not_mix(tagger: Tagger) -> None:
    words = Tagger("fixed").fit(X[:20], Y[:20])
    for given in ([["a"]], [[("a", "N")]]):
        with pytest.raises((TypeError, InputError), match="the model was trained on features: give"):
            tagger.predict(given)
    for model in (words, EmpiricalCRF().fit(X[:20], Y[:20])):
        for token in ({"w": "a"}, ["w=a"]):
            with pytest.raises((TypeError, InputError), match="the model looks at words: give tokens"):
                model.predict([[token]])
    with pytest.raises((TypeError, InputError), match="looks at words"):
        EmpiricalCRF().fit([[{"w": "a"}]], [["X"]])
    with pytest.raises(InputError, match="the context word looks at words, and the tokens are"):
        Tagger(contexts=["word"]).fit([[{"w": "a"}]], [["X"]])
    with pytest.raises(InputError, match="looks at \"b\", and the tokens have the features 'w'"):
        Tagger(contexts=['"b"']).fit([[{"w": "a"}]], [["X"]])
    with pytest.raises(InputError, match='looks at "w", and the tokens have words alone'):
        Tagger(contexts=["word", '"w"']).fit([["a"]], [["X"]])
    with pytest.raises(InputError, match="no token has a feature"):
        Tagger().fit([[{}, []]], [["X", "Y"]])


def test_contexts_of_features() -> None:
    """Two keys at once, a pair context of a key, and keys with all kinds of characters."""
    keys = ['a.b,"c"', "50 %", "k\\"]
    tokens = [
        [{keys[0]: word, keys[1]: word[-1:], keys[2]: tag} for word, tag in rows] for rows in rows_of(X, POS)
    ]

    quoted = [json.dumps(key) for key in keys]
    contexts = [*quoted, f"{quoted[0]},{quoted[2]}", f"pair:{quoted[2]}"]
    tagger = Tagger(contexts=contexts).fit(tokens, Y)
    assert tagger.context_names() == contexts
    assert tagger.score(tokens, Y) > 0.98


@pytest.mark.parametrize("arguments", [["tag"], ["tag", "--marginals"], ["eval"]], ids=" ".join)
def test_files_have_words(tagger: Tagger, cli: Cli, tmp_path: Path, arguments: list[str]) -> None:
    """A model of features has nothing to say of them."""
    tagger.save(tmp_path / "m")
    assert_one_line(cli(*arguments, "-m", tmp_path / "m", FOLDER / "test.conll"), "features")
    with pytest.raises((InputError, TypeError), match="features"):
        tagger.predict(as_corpus(TEST))


def test_explain_and_inspect(tagger: Tagger, cli: Cli, tmp_path: Path) -> None:
    model = tmp_path / "m"
    tagger.save(model)
    assert_one_line(cli("explain", "-m", model, "a b"), "features")
    assert_one_line(cli("inspect", model, "--word", "boat"), "features")
    code, out, _ = cli("inspect", model)
    assert code == 0
    assert "B-PER" in out
