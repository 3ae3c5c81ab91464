"""Counts that no sentences can have are refused, and those at the limit of what they can have are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from corate import InputError
from corate.counts import names
from corate.counts.counts import Counts
from corate.counts.events import count
from corate.counts.invariants import MOST, MOST_COUNTED, check, check_counts
from corate.counts.table import Table
from corate.text.tokens import as_corpus

TABLES = (
    names.LABEL,
    names.FIRST_LABEL,
    names.LAST_LABEL,
    names.LABEL_PAIR,
    names.LABEL_TRIPLE,
    names.WORD_LABEL,
    names.WORD_PAIR,
)
CORPUS = as_corpus([["a", "b", "a"], ["b"]], [["P", "Q", "P"], ["Q"]])


@pytest.fixture
def counts() -> Counts:
    return count(CORPUS, TABLES)


def changed(counts: Counts, name: str, row: int, by: int) -> Counts:
    """One row of a table counted more or less often."""
    n = counts.tables[name].n.copy()
    n[row] += by
    return replaced(counts, name, Table(counts.tables[name].ids, n))


def replaced(counts: Counts, name: str, table: Table) -> Counts:
    return Counts(counts.vocabularies, {**counts.tables, name: table}, counts.n_sentences)


def test_counts_of_sentences_pass(counts: Counts) -> None:
    check(counts)
    check(count(as_corpus([["a"]], [["P"]]), TABLES))


@pytest.mark.parametrize("n", [0, -1, 3, 1.0, True, "2", None])
def test_numbers_of_sentences(counts: Counts, n: Any) -> None:
    """Two sentences begin and end, and four tokens with two pairs make at most two."""
    with pytest.raises(ValueError, match="sentences"):
        check(Counts(counts.vocabularies, counts.tables, n))


@pytest.mark.parametrize(
    ("name", "row", "by", "message"),
    [
        (names.LABEL, 0, 1, "does not add up to the counts of the labels"),
        (names.LABEL, 0, -1, "does not add up to the counts of the labels"),
        (names.WORD_LABEL, 0, 1, "does not add up to the counts of the labels"),
        (names.WORD_LABEL, 0, -1, "does not add up to the counts of the labels"),
        (names.LABEL_PAIR, 0, 1, "more pairs of labels, first or last ones"),
        (names.FIRST_LABEL, 0, 1, "more pairs of labels, first or last ones"),
        (names.LAST_LABEL, 0, 1, "more pairs of labels, first or last ones"),
        (names.FIRST_LABEL, 0, -1, "holds a count below 1"),
        (names.LABEL_TRIPLE, 0, 1, "does not add up to what the others count"),
        (names.WORD_PAIR, 0, 1, "does not add up to what the others count"),
        (names.WORD_PAIR, 1, 1, "does not add up to what the others count"),
        (names.LABEL_PAIR, 0, MOST, "holds a count below 1"),
    ],
)
def test_a_count_too_many_or_too_few(counts: Counts, name: str, row: int, by: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check(changed(counts, name, row, by))


def test_less_is_possible_where_tokens_lack_a_label(counts: Counts) -> None:
    """A sentence whose ends have no label has no first and no last one; its pairs may be fewer."""
    cut = as_corpus([["x", "a", "b", "x"], ["a"]], [[None, "P", "Q", None], ["P"]])
    check(count(cut, TABLES))


def test_shapes_and_orders(counts: Counts) -> None:
    table = counts.tables[names.LABEL_PAIR]
    damaged: list[tuple[Any, Any, str]] = [
        (table.ids[::-1].copy(), table.n, "not sorted"),
        (table.ids[[0, 0]], table.n, "repeats a row"),
        (table.ids[:, :1].copy(), table.n, "2 fields are needed"),
        (table.ids.astype(np.int64), table.n, "2 fields are needed"),
        (table.ids, table.n[:1], "counts of shape"),
        (table.ids, table.n.astype(np.int32), "counts of shape"),
        (table.ids + np.int32(1), table.n, "points outside the vocabulary"),
        (table.ids - np.int32(1), table.n, "points outside the vocabulary"),
    ]
    for ids, n, message in damaged:
        with pytest.raises(ValueError, match=message):
            check(replaced(counts, names.LABEL_PAIR, Table(ids, n)))


@pytest.mark.parametrize(
    ("key", "values", "message"),
    [
        ("y", ["Q", "P"], "not sorted or repeats"),
        ("y", ["P", "P"], "not sorted or repeats"),
        ("y", ["P", "_"], "says that there is none"),
        ("y", ["P", "Q", "R"], "never occurs"),
        ("y", ["P", "\ud800"], "no valid text"),
        ("z", ["P"], "is missing, or belongs to no table"),
    ],
)
def test_vocabularies(counts: Counts, key: str, values: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check(Counts({**counts.vocabularies, key: values}, counts.tables, counts.n_sentences))


def test_an_event_is_counted_up_to_32_bits(counts: Counts) -> None:
    """The kernels hold as much, and no more."""
    assert np.iinfo(np.uint32).max == MOST_COUNTED
    check_counts(changed(counts, names.LABEL, 0, MOST_COUNTED - int(counts.tables[names.LABEL].n[0])))
    with pytest.raises(InputError, match="more than 4,294,967,295 times"):
        check_counts(changed(counts, names.LABEL, 0, MOST_COUNTED + 1 - int(counts.tables[names.LABEL].n[0])))
