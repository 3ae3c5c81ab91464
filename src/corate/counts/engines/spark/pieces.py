"""Sentences on a cluster: a DataFrame, and how a task reads its partition of it, piece by piece.

A piece is a stretch of the corpus that one task reads in order: a part of a file, or a partition. Its place
says where it stands among the others, so that the corpus has one order, whoever reads what.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from corate.counts.engines.spark.session import TaskError, plainly
from corate.errors import CorateError, InputError
from corate.text.corpus import Corpus
from corate.text.tokens import as_corpus

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

CHUNK_SENTENCES = 20_000  # of a DataFrame, which are counted at a time
TOKENS, LABELS = "tokens", "labels"

Place = tuple[int, int]  # number of the file, and where in it; number of the partition, and 0
Batches = Iterable[pa.RecordBatch]
Make = Callable[[Any, Any], Corpus]
Lists = Callable[[pa.RecordBatch], tuple[list[Any], list[Any]]]  # tokens and labels of rows


class Piece(NamedTuple):
    place: Place
    chunks: Iterator[Corpus]


class Seen(NamedTuple):
    """What was found in a piece."""

    place: Place
    n_sentences: int
    n_tokens: int
    n_columns: int


class Sentences:
    """Labelled sentences on a cluster."""

    frame: DataFrame

    def reader(self) -> Callable[[Batches], Iterator[Piece]]:
        """How a task reads the rows of its partition; it is sent to the cluster."""
        raise NotImplementedError

    def errors(self) -> AbstractContextManager[None]:
        """What is wrong with the sentences, as one line."""
        return plainly()

    def check(self, seen: Sequence[Seen]) -> None:
        """Refuse what no piece could see by itself."""


class Rows(Sentences):
    """Of a DataFrame with the lists `tokens` and `labels`, or of an RDD of pairs of them. They are read more
    than once, and have to be the same each time."""

    def __init__(self, data: Any, labels: str = LABELS, make: Make = as_corpus) -> None:
        self._make = make
        if hasattr(data, "mapInArrow"):
            check_columns(data, TOKENS, labels)
            self.frame, self._lists = data.select(TOKENS, labels), lists_of
        elif hasattr(data, "mapPartitions"):
            from pyspark.sql import SparkSession

            pairs = data.map(lambda pair: (pickle.dumps(tuple(pair)),))
            self.frame = SparkSession.builder.getOrCreate().createDataFrame(pairs, "pair binary")
            self._lists = _of_pairs
        else:
            raise TypeError(f"{data!r:.60}: give a DataFrame, or an RDD of pairs of tokens and labels")

    def reader(self) -> Callable[[Batches], Iterator[Piece]]:
        make, lists = self._make, self._lists

        def pieces(batches: Batches) -> Iterator[Piece]:
            yield Piece((partition_number(), 0), chunks_of(batches, lists, make))

        return pieces


def chunks_of(batches: Batches, lists: Lists, make: Make) -> Iterator[Corpus]:
    """Rows as corpora."""
    X: list[Any] = []
    y: list[Any] = []
    for batch in batches:
        tokens, labels = lists(batch)
        X += tokens
        y += labels
        if len(X) >= CHUNK_SENTENCES:
            yield make(X, y)
            X, y = [], []
    if X:
        yield make(X, y)


def partition_number() -> int:
    """Of the task that asks."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return context.partitionId()


def by_piece(batches: Batches, numbers: Mapping[str, int]) -> Iterator[tuple[Place, Batches]]:
    """Rows whose last columns are a file's address and where in it a part begins, part by part; files by
    their numbers."""
    runs = (run for batch in batches for run in _runs(batch))
    for (uri, begin), rows in groupby(
        runs, lambda run: (run.column(-2)[0].as_py(), run.column(-1)[0].as_py())
    ):
        yield (numbers[same_uri(uri)], begin), rows


def same_uri(uri: str) -> str:
    """Versions of Spark differ in how many slashes there are in the address of a local file."""
    return re.sub("^file:/+", "file:/", uri)


def _runs(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Rows of one part of a file each."""
    files = batch.column(-2).dictionary_encode().indices.to_numpy()
    begins = batch.column(-1).to_numpy()
    new = np.flatnonzero((files[1:] != files[:-1]) | (begins[1:] != begins[:-1])) + 1
    for first, last in pairwise([0, *new.tolist(), len(batch)]):
        if first < last:
            yield batch.slice(first, last - first)


def telling(chunks: Iterator[Corpus], place: Place) -> Iterator[Corpus]:
    """The same; what is wrong with them tells where."""
    try:
        yield from chunks
    except CorateError as error:
        raise TaskError.of(error, place) from None
    except (TypeError, ValueError) as error:  # what `as_corpus` says of tokens
        raise TaskError(str(error), None, None, place) from None


def check_columns(frame: DataFrame, *names: str) -> None:
    for name in names:
        if name not in frame.columns:
            there = ", ".join(map(repr, frame.columns))
            raise InputError(f"the DataFrame has no column {name!r}: it has {there}")


def lists_of(batch: pa.RecordBatch) -> tuple[list[Any], list[Any]]:
    return token_lists(batch.column(0)), _lists("labels", batch.column(1)).to_pylist()


def _of_pairs(batch: pa.RecordBatch) -> tuple[list[Any], list[Any]]:
    pairs = [pickle.loads(value) for value in batch.column(0).to_pylist()]
    for pair in pairs:
        if len(pair) != 2:
            raise InputError(f"{pair!r:.60} in the RDD: give pairs, tokens and labels")
    return [tokens for tokens, _ in pairs], [labels for _, labels in pairs]


def token_lists(column: pa.Array) -> list[Any]:
    """Tokens as Python has them: strings; tuples for lists, which are columns; dicts for maps, features."""
    kind = _lists("tokens", column).type.value_type
    sentences: list[Any] = column.to_pylist()
    if pa.types.is_map(kind):
        return [[dict(token) for token in tokens] for tokens in sentences]
    return [[tuple(token) for token in tokens] for tokens in sentences] if _is_list(kind) else sentences


def _lists(name: str, column: pa.Array) -> pa.Array:
    if not _is_list(column.type):
        raise InputError(
            f"the column of {name} has the type {column.type}: give lists, one for each sentence"
        )
    if column.null_count:
        raise InputError(f"the column of {name} has rows without a list: leave them out, or give empty lists")
    return column


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))
