"""Tokens: the one door through which sentences come from Python, whatever shape their tokens have.

"dog"                          a word
("dog", "NN")                  the word and further columns
{"word": "dog", …}, ["…", …]   features, see features.py
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from itertools import chain
from typing import Any, cast

import numpy as np

from corate.arrays import offsets_of
from corate.errors import InputError
from corate.text.corpus import ABSENT, UNLABELLED, Column, Corpus
from corate.text.features import feature_columns, feature_columns_for, is_features

NO_LIST = (bytes, bytearray, Mapping, set, frozenset)  # whose items have no order, or another meaning
MOST_COLUMNS = 999
NUMBERS = ("refuse", "bin")  # what to do with features that are numbers
TAKES_FEATURES = "the model was trained on features: give tokens as dicts or lists of features"
TAKES_WORDS = "the model looks at words: give tokens as strings, not as dicts or lists of features"


def as_corpus(
    X: Any,
    y: Any = None,
    numbers: str | None = None,
    keys: Sequence[str] | None = None,
    says_no: bool = False,
) -> Corpus:
    """A corpus as it is, or token lists with label lists.

    Tokens may be given by features where `numbers` says what to do with those that are numbers; `keys` are
    the ones that a trained model knows, () for one that knows words. `says_no`: a feature that is False has
    the value "no", and is not absent.
    """
    corpus = _made(X, y, numbers, keys, says_no)
    if len(corpus.columns) > MOST_COLUMNS and not corpus.keys:
        raise InputError(f"tokens of {len(corpus.columns):,} columns: corate takes {MOST_COLUMNS}")
    _refuse_nul(corpus)
    return corpus


def _refuse_nul(corpus: Corpus) -> None:
    """No text has the NUL character: here it says that there is no token, or no such feature."""
    columns = [*corpus.columns, *([] if corpus.labels is None else [corpus.labels])]
    for column in columns:
        if "\0" not in "".join(column.values):
            continue
        if not (corpus.keys and all(value == ABSENT or "\0" not in value for value in column.values)):
            value = next(value for value in column.values if "\0" in value)
            raise InputError(
                f"{value!r:.60} has the NUL character: no text has it, and it has a meaning here"
            )


def _made(X: Any, y: Any, numbers: str | None, keys: Sequence[str] | None, says_no: bool) -> Corpus:
    if isinstance(X, Corpus):
        if y is not None:
            raise InputError("a Corpus has its own labels: leave y out")
        if keys and not X.keys:
            raise InputError(TAKES_FEATURES)
        if X.keys and (numbers is None or keys == ()):
            raise InputError(TAKES_WORDS)
        return X.with_keys(keys) if keys else X
    sentences = token_lists(X)
    token = next(chain.from_iterable(sentences), None)
    if keys and isinstance(token, (str, tuple)):
        raise InputError(TAKES_FEATURES)
    if not keys and not is_features(token):
        return _corpus(_word_columns(sentences), sentences, y)
    if numbers is None or keys == ():
        raise InputError(TAKES_WORDS)
    if keys:
        columns = feature_columns_for(keys, sentences, numbers, says_no)
    else:
        keys, columns = feature_columns(sentences, numbers, says_no)
        if not keys:
            raise InputError("no token has a feature: give each at least one")
    return _corpus(columns, sentences, y, tuple(keys))


def _corpus(
    columns: Sequence[Column],
    sentences: Sequence[Sequence[Any]],
    y: Iterable[Sequence[str | None]] | None,
    keys: tuple[str, ...] = (),
) -> Corpus:
    """Columns of all tokens end to end; `sentences` only tell how many tokens each has."""
    labels = None if y is None else Column.from_strings(_flat_labels(sentences, y))
    return Corpus(
        tuple(columns), labels, offsets_of(np.fromiter(map(len, sentences), np.int64, len(sentences))), keys
    )


def _word_columns(sentences: Sequence[Sequence[Any]]) -> list[Column]:
    plain = Column.from_lists(sentences)
    return [plain] if plain is not None else list(map(Column.from_strings, _columns(sentences)))


def token_lists(X: Any) -> list[Sequence[Any]]:
    """The sentences of X, each a list of tokens of whatever kind."""
    if isinstance(X, str):
        raise TypeError("X is a string: give a list of sentences, each a list of tokens")
    if not isinstance(X, Iterable) or isinstance(X, NO_LIST):
        raise TypeError(f"X is {X!r:.60}: give a list of sentences, each a list of tokens")
    sentences = list(X)
    if {*map(type, sentences)} <= {list, tuple}:  # a quick look first: most are
        return sentences
    return [_sentence(tokens, s) for s, tokens in enumerate(sentences)]


def _sentence(tokens: Any, sentence: int) -> Sequence[Any]:
    if isinstance(tokens, str):
        raise TypeError(f"sentence {sentence} is the string {tokens[:40]!r}: give a list of tokens")
    if not isinstance(tokens, Iterable) or isinstance(tokens, NO_LIST):
        raise TypeError(f"sentence {sentence} is {tokens!r:.60}: give a list of tokens")
    return tokens if isinstance(tokens, (list, tuple)) else list(tokens)


def _columns(sentences: Sequence[Sequence[Any]]) -> list[Sequence[str]]:
    """Tokens that are strings, or tuples of strings, as columns."""
    rows: list[tuple[str, ...]] = []
    for s, tokens in enumerate(sentences):
        for position, token in enumerate(tokens):
            row = (token,) if isinstance(token, str) else token
            if not isinstance(row, tuple) or not row or not all(isinstance(v, str) for v in row):
                raise TypeError(
                    f"sentence {s}, token {position} is {token!r:.60}: give a string, "
                    "a tuple of them (columns), or a dict of features"
                )
            rows.append(tuple(map(str, row)))
    widths = sorted({*map(len, rows)})
    if len(widths) > 1:
        raise ValueError(f"tokens have {widths} columns: give every token the same number of columns")
    return list(zip(*rows, strict=True))


def _flat_labels(sentences: Sequence[Sequence[Any]], y: Iterable[Sequence[str | None]]) -> list[str]:
    if isinstance(y, (str, *NO_LIST)) or not isinstance(y, Iterable):
        raise TypeError(f"y is {y!r:.60}: give a list of label lists, one for each sentence")
    y = list(y)
    if len(y) != len(sentences):
        raise ValueError(f"{len(sentences)} sentences in X, {len(y)} label lists in y: give one for each")
    flat: list[str] = []
    for s, (tokens, labels) in enumerate(zip(sentences, y, strict=True)):
        is_list = isinstance(labels, Sized) and not isinstance(labels, (str, *NO_LIST))
        if not is_list or len(tokens) != len(labels):
            given = f"{len(labels)} labels" if isinstance(labels, (list, tuple)) else f"labels {labels!r:.40}"
            raise ValueError(f"sentence {s} has {len(tokens)} tokens and {given}: give one label a token")
        if {*map(type, labels)} == {str}:
            flat.extend(cast(Sequence[str], labels))
            continue
        for position, label in enumerate(labels):
            if label is not None and not isinstance(label, str):
                raise TypeError(
                    f"sentence {s}, label {position} is {label!r:.60}: labels are strings, "
                    "and None where there is none"
                )
            flat.append(UNLABELLED if label is None else str(label))  # no subclass of it, as NumPy's
    return flat
