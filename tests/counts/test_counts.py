"""Counts against plain Python counting; adding and subtracting are exact."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corate.arrays import pack, unpack
from corate.counts.counts import Counts
from corate.counts.engines.base import Task
from corate.counts.engines.memory import count_chunks
from corate.counts.events import count
from corate.counts.names import LABEL_PAIR, WORD_LABEL, WORD_PAIR
from corate.counts.table import Table
from corate.errors import CorateError
from corate.text.corpus import Corpus
from corate.text.tokens import as_corpus
from shared import KERNELS, as_counter, by

TABLES = (WORD_LABEL, LABEL_PAIR, WORD_PAIR, "suffix1.y")

Labelled = list[list[tuple[str, str]]]
token = st.tuples(st.sampled_from(["a", "b", "cc", "é", "日本", ""]), st.sampled_from(["X", "Y", "Z"]))
sentences = st.lists(st.lists(token, max_size=5), max_size=6)


def corpus(data: Labelled) -> Corpus:
    return as_corpus([[w for w, _ in s] for s in data], [[y for _, y in s] for s in data])


@given(sentences)
def test_counts_equal_a_python_counter(data: Labelled) -> None:
    counts = count(corpus(data), TABLES)
    pairs = [(a, b) for s in data for a, b in pairwise(s)]
    assert as_counter(counts, WORD_LABEL) == Counter(t for s in data for t in s)
    assert as_counter(counts, LABEL_PAIR) == Counter((a[1], b[1]) for a, b in pairs)
    assert as_counter(counts, WORD_PAIR) == Counter((a[0], b[0], a[1], b[1]) for a, b in pairs)
    assert counts.n_sentences == sum(map(bool, data))


@given(sentences, sentences)
def test_counts_are_a_group(a: Labelled, b: Labelled) -> None:
    both = count(corpus(a + b), TABLES)
    of_a, of_b = count(corpus(a), TABLES), count(corpus(b), TABLES)
    assert of_a + of_b == both == of_b + of_a
    assert both - of_b == of_a
    assert Counts.empty(TABLES) + of_a == of_a == of_a - Counts.empty(TABLES)


@settings(deadline=None)
@given(st.lists(sentences, max_size=9))
def test_chunks_equal_the_whole(chunks: list[Labelled]) -> None:
    whole = count(corpus([s for chunk in chunks for s in chunk]), TABLES)
    assert count_chunks(map(corpus, chunks), Task(TABLES)).counts == whole


def test_what_was_never_counted_cannot_be_subtracted() -> None:
    a, b = count(corpus([[("a", "X")]]), TABLES), count(corpus([[("b", "X")]]), TABLES)
    with pytest.raises(CorateError, match="never counted"):
        a - b


def test_keys_wider_than_an_integer() -> None:
    """Four fields of 31 bits do not fit into 63: rows must still be told apart and sorted."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (500, 4)) * (2**31 - 2)
    rows[:, 2] += rng.integers(0, 2, 500)
    table = Table.of(list(rows.astype(np.int32).T))
    expected = sorted(Counter(map(tuple, rows.tolist())).items())
    assert [(tuple(r), n) for r, n in zip(table.ids.tolist(), table.n.tolist(), strict=True)] == expected


@given(st.lists(st.tuples(*[st.integers(0, 2**20 - 1)] * 3), max_size=30))
def test_packing_kernels(rows: list[tuple[int, int, int]]) -> None:
    """Keys order as rows do, come apart again, and are the same with and without the kernels."""
    columns = [np.array([row[k] for row in rows], np.int32) for k in range(3)]
    keys = pack(columns, [20, 21, 20])
    assert np.array_equal(keys, by("numpy", pack, columns, [20, 21, 20]))
    assert np.argsort(keys, kind="stable").tolist() == sorted(range(len(rows)), key=rows.__getitem__)
    for kernel in KERNELS:
        ids = np.empty((len(rows), 3), np.int32)
        by(kernel, unpack, keys, [20, 21, 20], ids)
        assert [tuple(row) for row in ids.tolist()] == rows


@given(rows=st.lists(st.tuples(st.integers(-1, 2), st.integers(0, 3)), max_size=5), in_order=st.booleans())
def test_rows_are_checked_by_the_kernel_as_without_it(rows: list[tuple[int, int]], in_order: bool) -> None:
    rows = sorted({*rows}) if in_order else rows
    table = Table(np.array(rows, np.int32).reshape(-1, 2), np.ones(len(rows), np.int64))
    expected = all(a < b for a, b in pairwise(rows)), by("numpy", table.check)[1]
    assert table.check() == by("numpy", table.check) == expected
    if in_order:
        assert table.n_values == len({row[:-1] for row in rows})
