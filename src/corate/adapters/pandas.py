"""Data frames with a row for each token: in, and out again with labels.

sentence  word    label
       1  the     DET
       1  dog     NOUN
       2  It      PRON
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from corate.arrays import Int
from corate.errors import InputError
from corate.evaluation.evaluate import Evaluation, evaluate
from corate.text.corpus import UNLABELLED

Tokens = list[list[Any]]


def from_frame(
    frame: pd.DataFrame,
    words: str | Sequence[str] = "word",
    label: str | None = "label",
    sentence: str | Sequence[str] = "sentence",
) -> tuple[Tokens, list[list[str]] | None]:
    """X and y of a frame with a row for each token, as `fit` takes them.

    Parameters
    ----------
    words : the column with the words; or several, the words first, for tokens of several columns.
    label : the column with the labels, missing where there is none; None gives no y.
    sentence : the column, or columns, that are the same in all rows of a sentence and change where the next
        begins. The rows are taken in the order in which they stand.

    Examples
    --------
    >>> frame = pd.DataFrame({"sentence": [1, 1, 2], "word": ["the", "dog", "It"]})
    >>> frame["label"] = ["DET", "NOUN", None]
    >>> from_frame(frame)
    ([['the', 'dog'], ['It']], [['DET', 'NOUN'], ['_']])
    """
    names = [words] if isinstance(words, str) else [*words]
    bounds = _bounds(frame, sentence)
    columns = [_strings(frame, name) for name in names]
    tokens = columns[0] if len(columns) == 1 else [*zip(*columns, strict=True)]
    X = _cut(tokens, bounds)
    return X, None if label is None else _cut(_strings(frame, label, missing=UNLABELLED), bounds)


def label_frame(
    model: Any,
    frame: pd.DataFrame,
    words: str | Sequence[str] = "word",
    sentence: str | Sequence[str] = "sentence",
) -> pd.DataFrame:
    """A copy of the frame with two columns more: `predicted` and the `probability` of that label.

    Examples
    --------
    >>> import corate
    >>> hmm = corate.HMM().fit(*corate.load_sample())
    >>> frame = pd.DataFrame({"sentence": [1, 1, 1], "word": ["the", "dog", "barks"]})
    >>> label_frame(hmm, frame)["predicted"].tolist()
    ['DET', 'NOUN', 'VERB']
    """
    X, _ = from_frame(frame, words, None, sentence)
    found = [pair for tokens in model.predict_with_probability(X) for pair in tokens]
    return frame.assign(predicted=[y for y, _ in found], probability=[p for _, p in found])


def evaluate_frame(
    frame: pd.DataFrame,
    gold: str = "label",
    predicted: str = "predicted",
    sentence: str | Sequence[str] = "sentence",
    scheme: str | None = "auto",
) -> Evaluation:
    """How good the labels of one column are, by those of another; `scheme` as in `evaluate`."""
    bounds = _bounds(frame, sentence)
    labels = _cut(_strings(frame, gold, missing=UNLABELLED), bounds)
    return evaluate(labels, _cut(_strings(frame, predicted), bounds), scheme=scheme)


def _bounds(frame: pd.DataFrame, sentence: str | Sequence[str]) -> Int:
    """Where each sentence begins, and the end."""
    names = [sentence] if isinstance(sentence, str) else [*sentence]
    begins = np.zeros(len(frame), bool)
    begins[:1] = True
    for name in names:
        codes, _ = pd.factorize(_column(frame, name), use_na_sentinel=False)
        begins[1:] |= codes[1:] != codes[:-1]
    return np.append(np.flatnonzero(begins), len(frame))


def _cut(values: list[Any], bounds: Int) -> list[list[Any]]:
    return [values[a:b] for a, b in pairwise(bounds.tolist())]


def _strings(frame: pd.DataFrame, name: str, missing: str | None = None) -> list[str]:
    column = _column(frame, name)
    absent = column.isna().to_numpy()
    if absent.any() and missing is None:
        raise InputError(f"column {name!r}, row {int(absent.argmax())}: a value is missing")
    values = column.tolist()
    for row, (value, none) in enumerate(zip(values, absent.tolist(), strict=True)):
        if not none and not isinstance(value, str):
            raise InputError(f"column {name!r}, row {row} is {value!r:.40}: give strings (astype(str))")
    return [missing if none else value for value, none in zip(values, absent.tolist(), strict=True)]  # type: ignore[misc]


def _column(frame: pd.DataFrame, name: str) -> Any:
    if name not in frame.columns:
        raise InputError(f"no column {name!r}: the frame has {', '.join(map(repr, frame.columns))}")
    return frame[name]
