"""Features: tokens as dicts or lists, in the shapes that python-crfsuite and sklearn-crfsuite take.

    {"word": "Dogs", "upper": True}    the key `word` has the value "Dogs", the key `upper` the value "yes"
    ["word=Dogs", "upper"]             the same
    {"word": "dogs", "upper": False}   `upper` is absent, as in CRFsuite; or "no", for models that count it

A key is a context of its own: a column with one value a token, `ABSENT` where a token lacks the key. Each
distinct feature is checked and taken apart once; every further one costs a look into a table.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import count
from math import floor, frexp, inf, ldexp, sqrt
from numbers import Real
from typing import Any

import numpy as np

from corate.errors import InputError
from corate.text.corpus import ABSENT, Column

YES, NO = "yes", "no"  # the values of what is true or false
MOST_KEYS = 4096  # distinct keys
MOST_LETTERS = 1000  # of a key
MOST_EXACT = 9  # whole numbers up to here are bins of their own
FARTHEST = ldexp(1, 1000)  # numbers from here on share a bin, as do those below its inverse

_PLAIN = {str, bool}
_Feature = str | tuple[str, str | bool]  # an item of a list, or of a dict
_NUMBERS: tuple[Any, ...] = (int, float, Real)
_Sentences = Sequence[Sequence[Any]]
_Columns = tuple[Column, ...]


def is_features(token: object) -> bool:
    """Whether a token is given by its features; a string or a tuple of strings is not."""
    return isinstance(token, (dict, list, set, frozenset, Mapping))


def feature_columns(
    sentences: _Sentences, numbers: str = "refuse", says_no: bool = False
) -> tuple[tuple[str, ...], _Columns]:
    """The keys, sorted, and for each the column of its values, over all sentences end to end."""
    table = _Table(sentences, numbers, says_no)
    keys = sorted({*table.key_of[1:]})
    if len(keys) > MOST_KEYS:
        found = f"{len(keys)} keys of features, such as {', '.join(map(repr, keys[:3]))}"
        remedy = "a key is a kind of feature, its value goes behind '=' or into the dict's value"
        raise InputError(f"{found}: corate takes {MOST_KEYS}; {remedy} ('word=foo' instead of 'word_foo')")
    return tuple(keys), table.columns(keys)


def feature_columns_for(
    keys: Sequence[str], sentences: _Sentences, numbers: str = "refuse", says_no: bool = False
) -> _Columns:
    """The columns of these keys, those of a trained model; other keys are checked and left out."""
    return _Table(sentences, numbers, says_no).columns(keys)


def bin_number(value: float) -> str:
    """The bin of a number: 7 → `7`, 13.2 → `11.3…16`, −0.3 → `-0.25…0.354`.

    Whole numbers to ±9 stay. Others fall between powers of √2 and these numbers, so that bins are in order.
    """
    value = value.item() if isinstance(value, np.generic) else value  # NumPy's small types overflow
    if not -inf < value < inf:
        raise InputError(f"{value} has no bin: give a finite number")
    if -MOST_EXACT <= value <= MOST_EXACT and value == floor(value):
        return str(int(value))
    size = float(min(max(abs(value), 1 / FARTHEST), FARTHEST))
    fraction, octave = frexp(size)  # size = fraction · 2^octave, 1/2 ≤ fraction < 1
    return "-" * (value < 0) + _bin(octave, fraction >= sqrt(0.5), min(floor(size), MOST_EXACT))


@cache
def _bin(octave: int, upper: bool, whole: int) -> str:
    half = ldexp(sqrt(0.5), octave)
    low, high = (half, ldexp(1, octave)) if upper else (ldexp(0.5, octave), half)
    ends = max(low, whole), min(high, whole + 1) if whole < MOST_EXACT else high
    return "…".join(f"{end:.0f}" if 1000 <= end < 1_000_000 else f"{end:.3g}" for end in ends)


class _Table(dict[_Feature, int]):
    """Features numbered: their keys and values (0 is for what counts as absent), and those of all tokens."""

    def __init__(self, sentences: _Sentences, numbers: str, says_no: bool) -> None:
        if numbers not in ("refuse", "bin"):
            raise InputError(f'numbers={numbers!r}: choose "refuse" or "bin"')
        self.numbers, self.says_no = numbers, says_no
        self.key_of, self.value_of = [""], [ABSENT]
        self.met, self.lengths = array("i"), array("i")
        self.some_name_a_value = False  # keys of dicts: {"word=foo": True}
        for s, tokens in enumerate(sentences):
            for position, token in enumerate(tokens):
                try:
                    found = self._features(token)
                except (InputError, TypeError) as error:
                    raise type(error)(f"sentence {s}, token {position}: {error}") from None
                self.met.extend(found)
                self.lengths.append(len(found))

    def __missing__(self, feature: _Feature) -> int:
        if isinstance(feature, str):
            key, equals, value = feature.partition("=")
            number = self[key, value if equals else YES]
        elif isinstance(feature[1], str):
            number = len(self.key_of)
            self.key_of.append(_checked(feature[0], feature[1]))
            self.value_of.append(str.__str__(feature[1]))
        else:  # true is the same as the item of a list; false as none, or a value as well
            key = _checked(feature[0])
            self.some_name_a_value |= "=" in key
            number = self[key] if feature[1] else self[key, NO] if self.says_no and "=" not in key else 0
        self[feature] = number
        return number

    def _features(self, token: Any) -> list[int]:
        """The numbers of a token's features, no two of one key."""
        if isinstance(token, (list, set, frozenset)):
            found = [*map(self.__getitem__, token if {*map(type, token)} <= {str} else _items(token))]
        elif not isinstance(token, (dict, Mapping)):
            raise TypeError(f"{token!r:.60} among dicts or lists of features: give all tokens as such")
        elif _PLAIN.issuperset(map(type, token.values())):
            found = [*map(self.__getitem__, token.items())]
            if not self.some_name_a_value:  # no two of one key, then
                return [*filter(None, found)] if 0 in found else found
        else:
            others = {key: value for key, value in token.items() if type(value) not in _PLAIN}
            found = [self[item] for item in token.items() if item[0] not in others]
            found += map(self.__getitem__, _spread(others, self.numbers))
        found = [*filter(None, found)] if 0 in found else found
        repeats = len({*map(self.key_of.__getitem__, found)}) < len(found)
        return self._apart(found) if repeats else found

    def _apart(self, found: list[int]) -> list[int]:
        """Of the sorted values of one key in one token, the second goes to `key#2`, the third to `key#3`."""
        pairs = sorted({(self.key_of[number], self.value_of[number]) for number in found})
        apart = dict(reversed(pairs))  # the first value of each key
        for key, value in [pair for pair in pairs if pair not in apart.items()]:
            apart[next(name for n in count(2) if (name := f"{key}#{n}") not in apart)] = value
        return [self[feature] for feature in apart.items()]

    def columns(self, keys: Sequence[str]) -> _Columns:
        """A column a key. Values are in the order of their first tokens, whatever the order in a token."""
        n_tokens, n_keys = len(self.lengths), len(keys)
        place = {key: k for k, key in enumerate(keys)}
        column_of = np.array([place.get(key, n_keys) for key in self.key_of], np.min_scalar_type(n_keys))
        met = np.asarray(self.met, np.int32)
        token = np.repeat(np.arange(n_tokens, dtype=np.int32), self.lengths)
        first = np.full(len(column_of), n_tokens, np.int32)
        first[met[::-1]] = token[::-1]  # of several assignments to one place the last one stays
        column_of[first == n_tokens] = n_keys  # features that `_apart` has moved to another key
        features = np.lexsort((first, column_of))
        ends = np.searchsorted(column_of[features], np.arange(n_keys + 1))
        code_of = np.argsort(features) - ends[column_of]  # its place among the features of its key
        order = np.argsort(column_of[met], kind="stable")  # quick, as the integers are small
        cuts = np.searchsorted(column_of[met], np.arange(n_keys + 1), sorter=order)
        columns = []
        for k in range(n_keys):
            here = order[cuts[k] : cuts[k + 1]]
            lacking = [ABSENT] if len(here) < n_tokens else []
            codes = np.zeros(n_tokens, np.int32)  # memory that a rare key does not touch is not taken
            codes[token[here]] = code_of[met[here]] + len(lacking)
            own = features[ends[k] : ends[k + 1]].tolist()
            columns.append(Column(codes, lacking + [self.value_of[f] for f in own]))
        return tuple(columns)


def _checked(key: object, value: str = "") -> str:
    name = _checked_key(key)
    if "\0" in name or "\0" in value:
        raise InputError(f"the feature {f'{name}={value}'!r:.60} has a NUL character: leave it out")
    return name


@lru_cache(MOST_KEYS)
def _checked_key(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(f"the key {key!r:.60} is not a string: write it as one")
    if not key:
        raise InputError("a feature has an empty key: write 'key=value', or a key alone")
    if len(key) > MOST_LETTERS or any("\ud800" <= c <= "\udfff" for c in key):
        raise InputError(f"the key {key!r:.60} is too long, or no valid text: give a shorter one")
    return str.__str__(key)  # no subclass of it


def _items(items: Iterable[Any], inside: str = "") -> Iterator[str]:
    for item in items:
        if not isinstance(item, str):
            raise TypeError(f"the feature {inside}{item!r:.60} in a list is not a string: write it as one")
        _checked(item.partition("=")[0])
        yield inside + item


def _spread(features: Mapping[Any, Any], numbers: str, inside: str = "") -> Iterator[_Feature]:
    """The features of a dict with numbers, dicts or lists in it: {"a": {"b": "c"}} has the key `a:b`."""
    for key, value in features.items():
        name = _checked(inside + _checked(key))
        if isinstance(value, (str, bool, np.bool_)):
            yield name, value if isinstance(value, str) else bool(value)
        elif isinstance(value, _NUMBERS):
            if not -inf < value < inf:
                raise InputError(f"the feature {name!r:.60} is the number {value}: leave it out")
            if numbers == "refuse" and value in (0, 1):  # CRFsuite's weights of what is not there, and is
                if value:
                    yield name, True
                continue
            if numbers == "refuse":
                remedy = 'corate counts values; write it as a string, bin it, or ask for numbers="bin"'
                raise InputError(f"the feature {name!r:.60} is the number {value}: {remedy}")
            yield name, bin_number(value)
        elif isinstance(value, Mapping):
            yield from _spread(value, numbers, f"{name}:")
        elif isinstance(value, (list, tuple, set, frozenset)):
            yield from _items(value, f"{name}:")
        else:
            raise TypeError(f"the feature {name!r:.60} is {value!r:.60}: give a string, or leave it out")
