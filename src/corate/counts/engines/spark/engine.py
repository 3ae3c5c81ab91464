"""Count on a cluster.

    partitions ──count in memory──► rows (table, key, n) ──GROUP BY SUM──► rows, each once ──► Counts

Nothing is counted on the side: a task that is tried again, or twice at a time, hands its rows on once. What
is asked for by its place in the corpus (sentences to fit weights on) is fetched by jobs of their own, of the
partitions that hold it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, chain
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from corate.counts.counts import Counts, add_up
from corate.counts.engines.base import Counted, Task
from corate.counts.engines.memory import count_chunks
from corate.counts.engines.spark import rows
from corate.counts.engines.spark.jobs import run
from corate.counts.engines.spark.pieces import (
    Batches,
    Piece,
    Place,
    Seen,
    Sentences,
    partition_number,
    telling,
)
from corate.counts.ledger import NO_DIGESTS
from corate.counts.names import atoms_of
from corate.text.corpus import ABSENT, Corpus
from corate.text.spool import packed, unpacked
from corate.text.tokens import as_corpus

Read = Callable[[Batches], Iterator[Piece]]
Job = Callable[[Batches], Iterator[pa.RecordBatch]]
FOUND = "first long, packed binary"  # sentences that were asked for, and the number of their first token
VALUES = "key binary, value binary"  # of features, and of labels; without a key, what a task says
SHOWN = 100  # sentences


class Span(NamedTuple):
    """A piece that was read, and by whom."""

    seen: Seen
    partition: int
    begin: int = 0  # the number of its first token in the corpus


class Cluster:
    """Sentences on a cluster, which count themselves and are found by place: `Source` and `Passages`."""

    def __init__(self, sentences: Sentences, prepare: Callable[[Corpus], Corpus] = as_corpus) -> None:
        """`prepare`: what a model does to a chunk before it is counted; it is sent to the cluster."""
        self._sentences, self._prepare = sentences, prepare
        self._spans: list[Span] = []  # in the order of the corpus, as soon as they are known
        self._keys: list[str] = []  # of features
        self._n_values: Mapping[bytes, int] = {}

    # A source ----------------------------------------------------------------------------------------

    def first(self) -> Corpus:
        with self._sentences.errors():
            shown = self._sentences.frame.mapInArrow(_showing(self._reader()), FOUND).take(1)
        return unpacked(bytes(shown[0].packed)).with_keys(self._keys) if shown else Corpus.join([])

    def count(self, task: Task, keep: bool = False) -> Counted:
        from pyspark.sql import functions as sql

        tables = tuple(task.tables)
        count = _counting(self._reader(), task._replace(tables=tables, least=0))
        counted = self._sentences.frame.mapInArrow(count, rows.ddl_of(tables))
        summed = counted.groupBy("table", *rows.key_names(tables)).agg(sql.sum("n").alias("n"))
        if task.least:
            of_contexts = [number for number, name in enumerate(tables) if atoms_of(name)]
            summed = summed.where((sql.col("n") >= task.least) | ~sql.col("table").isin(of_contexts))
        reports: list[rows.Report] = []
        digests = [NO_DIGESTS]

        def parts() -> Iterator[Counts]:
            for row in run(summed.mapInArrow(rows.packed, "packed binary")):
                part = rows.from_rows(rows.unpacked(bytes(row.packed)), tables)
                reports.extend(part.reports)
                digests.append(part.digests)
                yield part.counts

        with self._sentences.errors():
            counts = add_up(chain([Counts.empty(tables)], parts()))
        self._note(reports)
        counts = replace(counts, n_sentences=sum(report["labelled"] for report in reports))
        if self._keys:  # as where features are counted in memory: there are no words
            counts = replace(
                counts, vocabularies={k: v for k, v in counts.vocabularies.items() if k != "word"}
            )
        return Counted(counts.at_least(task.least) if task.least else counts, np.concatenate(digests))

    def text(self) -> Cluster:
        if not self._spans:
            self._survey()
        return self

    def _survey(self) -> None:
        """Read everything, to see what is where, and which values features have."""
        survey = _surveying(self._reader())
        with self._sentences.errors():
            found = self._sentences.frame.mapInArrow(survey, VALUES).distinct()
            said = [(row.key, bytes(row.value)) for row in run(found)]
        reports = [json.loads(value) for key, value in said if key is None]
        self._note(reports)
        values: dict[bytes, set[bytes]] = {}
        for key, value in said:
            if key is not None:
                values.setdefault(bytes(key), set()).add(value)
        for key in self._keys:  # what is not there in all partitions is absent somewhere
            if any(key not in report["keys"] for report in reports if report["pieces"]):
                values[_name(key)].add(ABSENT.encode())
        self._n_values = {key: len(each) for key, each in values.items()}

    def _note(self, reports: Sequence[rows.Report]) -> None:
        """What tasks say of the pieces that they have read."""
        spans = [
            Span(Seen((file, begin), *sizes), report["partition"])
            for report in reports
            for file, begin, *sizes in report["pieces"]
        ]
        spans.sort(key=lambda span: span.seen.place)
        begins = accumulate((span.seen.n_tokens for span in spans), initial=0)
        self._spans = [span._replace(begin=begin) for span, begin in zip(spans, begins, strict=False)]
        self._keys = sorted({key for report in reports for key in report["keys"]})
        self._sentences.check([span.seen for span in self._spans])

    def _reader(self) -> Read:
        read, prepare = self._sentences.reader(), self._prepare

        def pieces(batches: Batches) -> Iterator[Piece]:
            for piece in read(batches):
                yield Piece(piece.place, telling(map(prepare, piece.chunks), piece.place))

        return pieces

    # Passages ----------------------------------------------------------------------------------------

    @property
    def n_sentences(self) -> int:
        return sum(span.seen.n_sentences for span in self._spans)

    @property
    def n_tokens(self) -> int:
        return sum(span.seen.n_tokens for span in self._spans)

    def n_values(self, key: str | None) -> int:
        return self._n_values[_name(key)]

    def sentences(self, first: int, last: int) -> Iterator[Corpus]:
        """A piece of the corpus at a time."""
        before = 0
        for span in self._spans:
            n = span.seen.n_sentences
            if before < last and before + n > first and span.seen.n_tokens:
                corpus, _ = self._fetched(span.begin, span.begin + span.seen.n_tokens)
                yield from corpus.sentences(max(0, first - before), min(last - before, n))
            before += n

    def covering(self, begin: int, end: int) -> tuple[Corpus, int]:
        return self._fetched(begin, end)

    def _fetched(self, begin: int, end: int) -> tuple[Corpus, int]:
        spans = [s for s in self._spans if s.begin < end and begin < s.begin + s.seen.n_tokens]
        fetch = _fetching(self._reader(), {s.seen.place: s.begin for s in spans}, begin, end)
        partitions = sorted({span.partition for span in spans})
        with self._sentences.errors():
            found = [*run(self._sentences.frame.mapInArrow(fetch, FOUND), partitions)]
        found.sort(key=lambda row: row.first)
        parts = [unpacked(bytes(row.packed)).with_keys(self._keys) for row in found]
        return Corpus.join(parts), found[0].first if found else begin


# What tasks do ---------------------------------------------------------------------------------------


class _Notes:
    """What a task says of the pieces that it reads."""

    def __init__(self) -> None:
        self.pieces: list[list[int]] = []
        self.keys: set[str] = set()

    def noted(self, pieces: Iterator[Piece]) -> Iterator[Corpus]:
        for piece in pieces:
            seen = [*piece.place, 0, 0, 0]
            for chunk in piece.chunks:
                seen[2] += chunk.n_sentences
                seen[3] += chunk.n_tokens
                seen[4] = seen[4] or len(chunk.columns)
                self.keys.update(chunk.keys)
                yield chunk
            self.pieces.append(seen)

    def report(self, labelled: int = 0) -> rows.Report:
        return {
            "partition": partition_number(),
            "pieces": self.pieces,
            "keys": sorted(self.keys),
            "labelled": labelled,
        }


def _counting(read: Read, task: Task) -> Job:
    def count(batches: Batches) -> Iterator[pa.RecordBatch]:
        notes = _Notes()
        counted = count_chunks(notes.noted(read(batches)), task)
        yield from rows.to_rows(counted, task.tables, notes.report(counted.counts.n_sentences))

    return count


def _showing(read: Read) -> Job:
    def show(batches: Batches) -> Iterator[pa.RecordBatch]:
        for piece in read(batches):
            for chunk in piece.chunks:
                if chunk.n_tokens:
                    yield _found(0, chunk.select(0, min(chunk.n_sentences, SHOWN)))
                    return

    return show


def _fetching(read: Read, begins: Mapping[Place, int], begin: int, end: int) -> Job:
    """`begins`: the number of the first token of each piece that has some of the tokens begin … end − 1."""

    def fetch(batches: Batches) -> Iterator[pa.RecordBatch]:
        for piece in read(batches):
            before = begins.get(piece.place, end)
            for chunk in piece.chunks if before < end else ():
                if begin < before + chunk.n_tokens and before < end:
                    found, first = chunk.covering(max(0, begin - before), end - before)
                    yield _found(before + first, found)
                before += chunk.n_tokens
                if before >= end:
                    break

    return fetch


def _found(first: int, corpus: Corpus) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [pa.array([first], pa.int64()), pa.array([packed(corpus)], pa.binary())], ["first", "packed"]
    )


def _surveying(read: Read) -> Job:
    def survey(batches: Batches) -> Iterator[pa.RecordBatch]:
        notes, values, n_chunks = _Notes(), dict[bytes, set[str]](), 0
        times = Counter[str]()
        for chunk in notes.noted(read(batches)):
            n_chunks += 1
            times.update(chunk.keys)
            if chunk.keys and chunk.labels is not None:
                values.setdefault(_name(None), set()).update(chunk.labels.values)
            for key, column in zip(chunk.keys, chunk.columns, strict=False):
                values.setdefault(_name(key), set()).update(column.values)
        for key, n in times.items():
            values[_name(key)].update([ABSENT] if n < n_chunks else [])
        yield _pairs([None], [json.dumps(notes.report()).encode()])
        for name, each in values.items():
            yield _pairs([name] * len(each), [value.encode("utf-8", "surrogatepass") for value in each])

    return survey


def _pairs(keys: Sequence[bytes | None], values: Sequence[bytes]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [pa.array(keys, pa.binary()), pa.array(values, pa.binary())], ["key", "value"]
    )


def _name(key: str | None) -> bytes:
    """Of a feature among those whose values are told; None: of the labels."""
    return b"" if key is None else b"=" + key.encode("utf-8", "surrogatepass")
