"""Tables of data: whatever shape rows come in, one `Corpus` comes out, whose sentences are rows.

    DataFrame, {column: values}, [{column: value}, …], [(value, …), …]      columns of values, and their names
    None, NaN, ""                                                            a missing cell

A row is a sentence of one token, its cells are the token's features, and its label says that it is a row:
what corate has for counting, adding, subtracting and remembering sentences then holds for rows as it is.
Values are kept as text.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from corate.arrays import Ids
from corate.errors import InputError
from corate.text.corpus import ABSENT, Column, Corpus
from corate.text.features import bin_number
from corate.text.tokens import NUMBERS

ROW = "row"  # the label of every row
MOST_VALUES = 10_000  # distinct ones of a column
MOST_NUMBERS, MOST_FRACTIONS = 32, 12  # distinct ones of a column that may still be codes of categories
MOST_COLUMNS = 4096
CHUNK = 1 << 13  # rows that are counted at a time

Cells = Mapping[str, Sequence[Any]]


class Rows:
    """Columns of a table as codes, before they are a corpus of some model's columns."""

    def __init__(self, columns: Mapping[str, Column], n_rows: int) -> None:
        self.columns, self.n_rows = columns, n_rows

    @classmethod
    def of(cls, X: Any, names: Sequence[str] | None = None, numbers: Any = "refuse") -> Rows:
        """`names`: the columns of tuples that have no names, and, of others, those that are looked at."""
        if isinstance(X, Rows):
            return X
        cells, n_rows = cells_of(X, names)
        binned = _binned(numbers, cells)
        return cls({name: _encode(name, values, binned(name)) for name, values in cells.items()}, n_rows)

    def corpus(self, names: Sequence[str]) -> Corpus:
        """Rows with these columns; one that the table does not have is missing in every row."""
        absent = Column(np.zeros(self.n_rows, np.int32), [ABSENT])
        columns = tuple(self.columns.get(name, absent) for name in names)
        label = Column(np.zeros(self.n_rows, np.int32), [ROW])
        return Corpus(columns, label, np.arange(self.n_rows + 1, dtype=np.int64), tuple(names))


def chunks_of(corpus: Corpus) -> Iterator[Corpus]:
    """Rows to count at a time: what they need beside the table stays small."""
    for first in range(0, corpus.n_sentences, CHUNK):
        last = min(first + CHUNK, corpus.n_sentences)
        columns = tuple(Column(column.codes[first:last], column.values) for column in corpus.columns)
        assert corpus.labels is not None
        label = Column(corpus.labels.codes[first:last], corpus.labels.values)
        yield Corpus(columns, label, np.arange(last - first + 1, dtype=np.int64), corpus.keys)


# Shapes ----------------------------------------------------------------------------------------------


def cells_of(X: Any, names: Sequence[str] | None = None) -> tuple[Cells, int]:
    """Columns of a table by their names, and how many rows it has."""
    if hasattr(X, "columns") and hasattr(X, "iloc"):  # a DataFrame, without importing pandas
        found: dict[str, Any] = {str(name): X.iloc[:, k] for k, name in enumerate(X.columns)}
        if len(found) != len(X.columns):
            raise InputError("two columns of the table have the same name: rename one")
        n_rows = len(X)
    elif isinstance(X, Mapping):
        found = {str(name): values for name, values in X.items()}
        n_rows = _equal_length(found)
    else:
        rows = _listed(X)
        found, n_rows = _columns_of(rows, names), len(rows)
    if not found:
        raise InputError("the table has no column")
    if len(found) > MOST_COLUMNS:
        raise InputError(f"the table has {len(found):,} columns: corate takes {MOST_COLUMNS:,}")
    return found, n_rows


def _listed(X: Any) -> list[Any]:
    if isinstance(X, (str, bytes)) or not isinstance(X, Iterable):
        raise InputError(f"{X!r:.60} is no table: give a DataFrame, a dict of columns or a list of rows")
    rows = X.tolist() if isinstance(X, np.ndarray) else list(X)
    if not rows:
        raise InputError("the table is empty: there is nothing to look at")
    return rows


def _equal_length(columns: Mapping[str, Sequence[Any]]) -> int:
    lengths = {}
    for name, values in columns.items():
        if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
            raise InputError(f"column {name!r}: {values!r:.60} is no list of values")
        lengths[name] = len(values)
    if len({*lengths.values()}) > 1:
        short, long = min(lengths, key=lengths.__getitem__), max(lengths, key=lengths.__getitem__)
        raise InputError(
            f"column {short!r} has {lengths[short]:,} values and {long!r} has {lengths[long]:,}: "
            "columns must have the same length"
        )
    return next(iter(lengths.values()), 0)


def _columns_of(rows: Sequence[Any], names: Sequence[str] | None) -> dict[str, Sequence[Any]]:
    if isinstance(rows[0], Mapping):
        for i, row in enumerate(rows):
            if not isinstance(row, Mapping):
                raise InputError(f"row {i + 1} is {row!r:.60} where others are dicts: give rows of one shape")
        keys = dict.fromkeys(str(key) for row in rows for key in row)
        return {key: [row.get(key) for row in rows] for key in keys}
    for i, row in enumerate(rows):
        if isinstance(row, (str, bytes, Mapping)) or not isinstance(row, Sequence):
            raise InputError(f"row {i + 1}, {row!r:.60}, is no row: give a tuple, a list or a dict of cells")
        if len(row) != len(rows[0]):
            raise InputError(
                f"row {i + 1} has {len(row)} cells where row 1 has {len(rows[0])}: rows must be equally long"
            )
    width = len(str(len(rows[0])))  # so that their order is that of the cells
    labels = [f"x{k + 1:0{width}}" for k in range(len(rows[0]))] if names is None else names
    if len(labels) != len(rows[0]):
        raise InputError(
            f"rows of {len(rows[0])} cells where the network has {len(labels)} columns: "
            "give dicts, or cells in the order of columns_"
        )
    return dict(zip(labels, map(list, zip(*rows, strict=True)), strict=True))


# Values ----------------------------------------------------------------------------------------------


def is_missing(value: Any) -> bool:
    """None, NaN (of whatever library) and the empty text."""
    if value is None:
        return True
    try:
        return bool(value == "" or value != value)
    except TypeError:  # pandas' NA has no truth
        return True


def text_of(value: Any) -> str:
    """A value as text: 3.0 is 3, as tables with gaps write whole numbers."""
    if isinstance(value, (float, np.floating)) and value == math.floor(value):
        return str(int(value))
    return str(value)


def _binned(numbers: Any, cells: Cells) -> Any:
    """For a column, whether its numbers are put into bins; None where numbers are refused."""
    if isinstance(numbers, str):
        return {"refuse": lambda name: None, "bin": lambda name: True}[numbers]
    return lambda name: name in numbers or None


def check_numbers(numbers: Any) -> None:
    names = isinstance(numbers, (tuple, list)) and all(isinstance(name, str) for name in numbers)
    if not names and not (isinstance(numbers, str) and numbers in NUMBERS):
        choices = ", ".join(map(repr, NUMBERS))
        raise InputError(f"numbers={numbers!r:.60}: choose from {choices}, or name the columns to bin")


def _encode(name: str, values: Any, binned: bool | None) -> Column:
    """Codes of a column's distinct values, as text; missing cells are ABSENT."""
    codes, distinct = _factorised(values)
    texts: dict[str, int] = {}
    place = np.empty(len(distinct), np.int32)
    for k, value in enumerate(distinct):
        text = ABSENT if is_missing(value) else _one_text(name, value, binned)
        place[k] = texts.setdefault(text, len(texts))
    return Column(place[codes], list(texts))


def _factorised(values: Any) -> tuple[Ids, Sequence[Any]]:
    """Distinct values and where each stands; a pandas column knows the quick way itself."""
    if hasattr(values, "factorize"):
        codes, distinct = values.factorize()
        found = list(distinct)
        if (np.asarray(codes) < 0).any():
            codes, found = np.where(codes < 0, len(found), codes), [*found, None]
        return np.asarray(codes, np.int32), found
    index: dict[Any, int] = {}
    try:
        codes = np.fromiter(
            (index.setdefault((type(v), v), len(index)) for v in values), np.int32, len(values)
        )
    except TypeError:
        bad = next(v for v in values if getattr(v, "__hash__", None) is None)
        raise InputError(f"the cell {bad!r:.60} is no value: give text, numbers or None") from None
    return codes, [value for _, value in index]


def _one_text(name: str, value: Any, binned: bool | None) -> str:
    if isinstance(value, (list, tuple, dict, set, bytes)):
        raise InputError(f"column {name!r}: the cell {value!r:.60} is no value: give text, numbers or None")
    text = (
        text_of(value) if not isinstance(value, (float, np.floating)) or math.isfinite(value) else str(value)
    )
    if "\0" in text:
        raise InputError(f"column {name!r}: {text!r:.60} has a NUL character: no text has it")
    if binned:
        number = number_of(text)
        return text if number is None else bin_number(number)
    return text


def number_of(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def check_columns(rows: Rows, names: Sequence[str]) -> None:
    """Refuse columns that a network cannot learn from."""
    for name in names:
        used = np.bincount(rows.columns[name].codes, minlength=len(rows.columns[name].values)) > 0
        values = [
            v for v, u in zip(rows.columns[name].values, used.tolist(), strict=True) if u and v != ABSENT
        ]
        if not values:
            raise InputError(f"column {name!r} has no value: leave it out")
        if len(values) == 1:
            raise InputError(
                f"column {name!r} is {values[0]!r:.40} in every row: leave it out, it tells nothing"
            )
        numbers = [number_of(value) for value in values]
        are_whole = all(number is not None and number == math.floor(number) for number in numbers)
        most = MOST_NUMBERS if are_whole else MOST_FRACTIONS
        if len(values) > most and all(number is not None for number in numbers):
            raise InputError(
                f"column {name!r} has {len(values):,} different numbers, such as {values[0]}, and categories "
                "are counted: numbers='bin' (--bin) puts them into bins; or leave it out"
            )
        if len(values) > MOST_VALUES:
            raise InputError(
                f"column {name!r} has {len(values):,} different values, such as {values[0]!r:.40}: a network "
                f"takes {MOST_VALUES:,}; leave it out, or group its values"
            )
