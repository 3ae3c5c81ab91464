"""Parquet files with the lists `tokens` and `labels`, in the order of their names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from corate.counts.engines.spark.listing import WHERE, Listed, bytes_of_partition, session_for
from corate.counts.engines.spark.pieces import (
    LABELS,
    TOKENS,
    Batches,
    Make,
    Piece,
    Sentences,
    by_piece,
    check_columns,
    chunks_of,
    lists_of,
)
from corate.counts.engines.spark.session import plainly
from corate.errors import InputError
from corate.text.tokens import as_corpus

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def is_parquet(file: Listed) -> bool:
    return file.name.lower().endswith((".parquet", ".parq"))


class Parquet(Sentences):
    def __init__(
        self,
        spark: SparkSession,
        listed: Sequence[Listed],
        labels: str = LABELS,
        make: Make = as_corpus,
        partitions: int | None = None,
    ) -> None:
        other = next((file for file in listed if not is_parquet(file)), None)
        if other is not None:
            raise InputError("no Parquet file, where others are: give files of one kind", other.name)
        session = session_for(spark, bytes_of_partition(spark, listed, partitions))
        with plainly():
            frame = session.read.parquet(*(file.path for file in listed))
        check_columns(frame, TOKENS, labels)
        self.frame, self._make = frame.select(TOKENS, labels, *WHERE), make
        self._numbers = {file.uri: number for number, file in enumerate(listed)}

    def reader(self) -> Callable[[Batches], Iterator[Piece]]:
        numbers, make = self._numbers, self._make

        def pieces(batches: Batches) -> Iterator[Piece]:
            for place, rows in by_piece(batches, numbers):
                yield Piece(place, chunks_of(rows, lists_of, make))

        return pieces
