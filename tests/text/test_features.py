"""Features: python-crfsuite's shapes as columns, numbers as bins, and what is refused."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Sequence
from fractions import Fraction
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corate.errors import InputError
from corate.text import features
from corate.text.corpus import ABSENT
from corate.text.features import bin_number, feature_columns, feature_columns_for, is_features


def tables(sentences: Sequence[Sequence[Any]], numbers: str = "refuse") -> list[dict[str, str]]:
    """Each token's keys and values, read back from the columns."""
    keys, columns = feature_columns(sentences, numbers)
    assert list(keys) == sorted(keys)
    for column in columns:
        assert column.codes.dtype == np.int32
        assert sorted({*column.codes.tolist()}) == list(range(len(column.values)))  # each value is used
        assert len({*column.values}) == len(column.values)
    rows = zip(*(column.strings() for column in columns), strict=True)
    return [
        {key: value for key, value in zip(keys, row, strict=True) if value != ABSENT} for row in rows
    ] or [{} for tokens in sentences for _ in tokens]


# A token, its keys and values, and the attributes that python-crfsuite makes of it.
SHAPES: list[tuple[Any, dict[str, str], set[str]]] = [
    ({"word": "Dogs", "n": ""}, {"word": "Dogs", "n": ""}, {"word:Dogs", "n:"}),
    ({"upper": True, "digit": False}, {"upper": "yes"}, {"upper"}),
    ({"w=dog": True, "w=cat": False}, {"w": "dog"}, {"w=dog"}),
    ({"w=dog": True, "w": "cat"}, {"w": "cat", "w#2": "dog"}, {"w=dog", "w:cat"}),
    ({"a": {"b": "c", "d": {"e": True}}}, {"a:b": "c", "a:d:e": "yes"}, {"a:b:c", "a:d:e"}),
    ({"tags": ["x", "y=1"]}, {"tags:x": "yes", "tags:y": "1"}, {"tags:x", "tags:y=1"}),
    ({"tags": {"x", "y"}, "none": []}, {"tags:x": "yes", "tags:y": "yes"}, {"tags:x", "tags:y"}),
    (
        ["word.lower=dogs", "-1:word=a=b", "BOS"],
        {"word.lower": "dogs", "-1:word": "a=b", "BOS": "yes"},
        set(),
    ),
    (["a=2", "a=1", "a=1", "a=3", "b"], {"a": "1", "a#2": "2", "a#3": "3", "b": "yes"}, set()),
    (["a=1", "a=2", "a#2=x"], {"a": "1", "a#2": "x", "a#3": "2"}, set()),
    ({"a": {"b": "1"}, "a:b": "2"}, {"a:b": "1", "a:b#2": "2"}, {"a:b:1", "a:b:2"}),
    ({"x", "y=2"}, {"x": "yes", "y": "2"}, {"x", "y=2"}),
    ([np.str_("a=1")], {"a": "1"}, {"a=1"}),
    ({}, {}, set()),
    ([], {}, set()),
]


def test_every_shape_becomes_keys_and_values() -> None:
    tokens = [token for token, _, _ in SHAPES]
    expected = [keys for _, keys, _ in SHAPES]
    assert tables([tokens]) == expected
    assert tables([[token] for token in tokens]) == expected
    for token, keys, _ in SHAPES:
        assert tables([[token]]) == [keys]  # and in a column that every token has
    assert tables([[UserDict({"a": "1"}), {"a": np.True_, "t": ("x",)}]]) == [
        {"a": "1"},
        {"a": "yes", "t:x": "yes"},
    ]
    assert feature_columns([]) == ((), ())


def test_the_attributes_are_those_of_python_crfsuite() -> None:
    pycrfsuite = pytest.importorskip("pycrfsuite")
    for token, keys, attributes in SHAPES:
        made = pycrfsuite.ItemSequence([token]).items()[0]
        active = {name for name, weight in made.items() if weight}
        assert active == (attributes or {*token})
        assert len(active) == len(keys)


def test_values_come_in_the_order_of_their_tokens() -> None:
    keys, columns = feature_columns([[["w=b", "x"], ["w=a"]], [["w=b"], ["w=c"]]])
    assert keys == ("w", "x")
    assert columns[0].values == ["b", "a", "c"]
    assert columns[0].codes.tolist() == [0, 1, 0, 2]
    assert columns[1].values == [ABSENT, "yes"]
    assert columns[1].codes.tolist() == [1, 0, 0, 0]


ITEMS = st.lists(
    st.sampled_from(["a", "b", "a=1", "a=2", "a=yes", "b=1", "a#2", "a#2=1", "c=x=y"]), max_size=6
)


@given(st.lists(st.lists(ITEMS.flatmap(lambda items: st.tuples(st.just(items), st.permutations(items))))))
def test_order_in_a_token_does_not_matter(sentences: list[list[tuple[list[str], list[str]]]]) -> None:
    keys, columns = feature_columns([[token for token, _ in tokens] for tokens in sentences])
    other_keys, others = feature_columns([[shuffled for _, shuffled in tokens] for tokens in sentences])
    as_sets = feature_columns([[{*token} for token, _ in tokens] for tokens in sentences])
    assert keys == other_keys == as_sets[0]
    for column, *same in zip(columns, others, as_sets[1], strict=True):
        assert all(column.values == other.values for other in same)
        assert all(np.array_equal(column.codes, other.codes) for other in same)


def test_a_model_asks_for_its_own_keys() -> None:
    train = [[["w=a", "x"], ["w=b"]]]
    keys, columns = feature_columns(train)
    for mine, same in zip(columns, feature_columns_for(keys, train), strict=True):
        assert mine.strings() == same.strings()
    w, x, z = feature_columns_for(("w", "x", "z"), [[["new=1", "w=c"]], [{}, {"x": True}]])
    assert w.strings() == ["c", ABSENT, ABSENT]
    assert x.strings() == [ABSENT, ABSENT, "yes"]
    assert z.strings() == [ABSENT] * 3
    assert [len(column) for column in feature_columns_for(keys, [])] == [0, 0]
    with pytest.raises(InputError, match="sentence 0, token 0: the feature 'new' is the number 2:"):
        feature_columns_for(keys, [[{"new": 2}]])


@pytest.mark.parametrize(
    ("token", "kind", "message"),
    [
        (
            {"n": 7},
            InputError,
            "the feature 'n' is the number 7: corate counts values; write it as a string, bin it, ",
        ),
        ({"n": np.float32(0.5)}, InputError, "the feature 'n' is the number 0.5: "),
        ({"a": {"n": 1.5}}, InputError, "the feature 'a:n' is the number 1.5: "),
        ({"n": None}, TypeError, "the feature 'n' is None: give a string"),
        ({"n": b"x"}, TypeError, "the feature 'n' is b'x': "),
        ({"n": len}, TypeError, "the feature 'n' is <built-in function len>: "),
        ({1: "x"}, TypeError, "the key 1 is not a string: "),
        ({"a": {1: 2}}, TypeError, "the key 1 is not a string: "),
        ({"": "x"}, InputError, "a feature has an empty key: "),
        ({"": False}, InputError, "a feature has an empty key: "),
        ({"tags": [""]}, InputError, "a feature has an empty key: "),
        (["=foo"], InputError, "a feature has an empty key: "),
        ([""], InputError, "a feature has an empty key: "),
        (["a", 1], TypeError, "the feature 1 in a list is not a string: "),
        ([["a"]], TypeError, r"the feature \['a'\] in a list is not a string: "),
        ({"tags": [b"x"]}, TypeError, "the feature tags:b'x' in a list is not a string: "),
        (["a=\0"], InputError, r"the feature 'a=\\x00' has a NUL character: "),
        ({"a\0": "x"}, InputError, r"the feature 'a\\x00=x' has a NUL character: "),
        ("dog", TypeError, "'dog' among dicts or lists of features: "),
        (("dog", "N"), TypeError, r"\('dog', 'N'\) among dicts or lists of features: "),
    ],
)
def test_a_bad_feature_is_one_sentence_with_its_place(
    token: Any, kind: type[Exception], message: str
) -> None:
    good: list[Any] = [{"a": "x", "n": True}, ["a"]]  # true equals 1, and must not stand in for it
    with pytest.raises(kind, match=f"^sentence 1, token 2: {message}") as raised:
        feature_columns([good, [*good, token]])
    assert "\n" not in str(raised.value)


def test_too_many_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(features, "MOST_KEYS", 3)
    assert len(feature_columns([[["a", "b", "c", "a=2"][:3]]])[0]) == 3
    with pytest.raises(
        InputError, match=r"^5 keys of features, such as 'w_a', 'w_b', 'w_c': corate takes 3; "
    ):
        feature_columns([[[f"w_{letter}"] for letter in "edcba"]])


def test_hundreds_of_keys_and_half_a_surrogate_pair() -> None:
    sentences = [[{f"key{k}": f"{t}\ud800" for k in range(t, t + 300)} for t in range(20)]]
    assert tables(sentences) == sentences[0]


def test_what_counts_as_features() -> None:
    assert all(map(is_features, ({}, [], set(), frozenset("a"), UserDict())))
    assert not any(map(is_features, ("dog", ("dog", "N"), b"dog", None, 1)))


# Numbers ---------------------------------------------------------------------------------------------


def test_numbers_in_bins() -> None:
    token = {"n": 7, "b": True, "f": np.float16(13.2), "a": {"x": -0.3, "i": np.int8(-128)}}
    assert tables([[token, {"n": 7.0, "b": 1}]], "bin") == [
        {"n": "7", "b": "yes", "f": "11.3…16", "a:x": "-0.25…0.354", "a:i": "-128…181"},
        {"n": "7", "b": "1"},
    ]
    for value in (nan, inf, -inf, np.float32("nan")):
        with pytest.raises(InputError, match="sentence 0, token 0: the feature 'n' is the number"):
            feature_columns([[{"n": value}]], "bin")
        with pytest.raises(InputError, match="give a finite number"):
            bin_number(value)
    with pytest.raises(InputError, match="numbers='mean': choose"):
        feature_columns([], "mean")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((n, str(n)) for n in range(-9, 10)),
        *((-0.0, "0"), (9.0, "9"), (10, "9…11.3"), (13.2, "11.3…16"), (16, "16…22.6"), (0.3, "0.25…0.354")),
        *((0.5, "0.5…0.707"), (1.5, "1.41…2"), (-7.5, "-7…8"), (1023, "724…1024"), (1024, "1024…1448")),
        *((2**20, "1.05e+06…1.48e+06"), (10**400, "1.07e+301…1.52e+301"), (5e-324, "9.33e-302…1.32e-301")),
    ],
)
def test_bins(value: float, text: str) -> None:
    assert bin_number(value) == text


def place(text: str) -> tuple[float, float]:
    """Where a bin lies: a whole number, or from its lower to its upper end."""
    sign = -1 if text.startswith("-") else 1
    low, _, high = text.removeprefix("-").partition("…")
    return (sign * float(low), sign * float(high or low))[::sign]  # type: ignore[return-value]


NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False), st.floats(-20, 20), st.integers(), st.integers(-20, 20)
)


@given(NUMBERS, NUMBERS)
def test_bins_follow_one_another_as_numbers_do(x: float, y: float) -> None:
    x, y = sorted((x, y))
    a, b = bin_number(x), bin_number(y)
    assert a == b or place(a)[1] <= place(b)[0], (a, b)


@given(st.one_of(st.floats(1e-290, 1e290), st.floats(0.01, 100), st.integers(1, 10**30)))
def test_a_bin_holds_its_number_and_is_half_an_octave_at_most(x: float) -> None:
    low, high = place(bin_number(x))
    assert low * 0.994 <= x <= high * 1.006  # three digits are exact to half a percent
    assert Fraction(high) <= Fraction(low) * Fraction(3, 2)
    assert bin_number(-x) == "-" + bin_number(x)
    assert float(x) in (low, high) or bin_number(2 * x) != bin_number(x)


@pytest.mark.parametrize("octave", range(4, 1000, 83))
def test_powers_of_two_begin_a_bin(octave: int) -> None:
    for power in (2.0**octave, 2.0**-octave):
        assert bin_number(power) != bin_number(np.nextafter(power, 0))
        assert bin_number(power) == bin_number(power * 1.414)
