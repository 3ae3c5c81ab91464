"""Text files on a cluster, in the formats of corate, cut between sentences.

    paths ──► files ──► lines, as Spark cuts files: at line ends, every so many bytes
                        └─ borders: lines up to the end of a sentence belong to the piece before

The driver lists the files and looks at the first lines of each, which tell its format. A file that is packed
is one piece. One whose bytes do not show where its lines end (UTF-16) is one row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from corate.counts.engines.spark.listing import WHERE, Listed, bytes_of_partition, head_of, session_for
from corate.counts.engines.spark.pieces import Batches, Piece, Place, Seen, Sentences, by_piece
from corate.counts.engines.spark.session import MisreadError, TaskError, plainly
from corate.errors import InputError
from corate.text.formats.base import Format
from corate.text.formats.by_name import open_format
from corate.text.formats.lines import GZIP_MAGIC, blocks_of, lines_of
from corate.text.formats.reader import MOST_LETTERS, Reader, corpora, first_lines, format_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CHUNK_TOKENS = 500_000
WORTH_STOPPING = 1 << 24  # bytes of a partition that are not read further: a new process is then started
PLAIN = ("ascii", "utf-8", "utf8", "latin", "iso8859", "iso-8859", "cp125", "windows-125", "koi8")


class Layout(NamedTuple):
    """How text is to be read; None: as it is found."""

    format: str | None = None
    label: str | None = None
    labelled: bool = True
    encoding: str = "utf-8"
    plain: bool = True  # whether it may be plain text


class TextFile(NamedTuple):
    number: int  # in the order of the corpus
    name: str  # as messages call it
    format: Format  # which has seen the first lines


class Border(NamedTuple):
    """What a piece of a file leaves to the one before it, and takes from the one behind it."""

    skipped: int = 0  # bytes
    lines: int = 0  # in them
    added: bytes = b""


Files = Mapping[str, TextFile]  # by their addresses
Borders = Mapping[Place, Border]


class Text(Sentences):
    """Sentences of text files, those of a directory or pattern sorted by name."""

    def __init__(
        self,
        spark: SparkSession,
        listed: Sequence[Listed],
        layout: Layout = Layout(),  # noqa: B008 - it never changes
        partitions: int | None = None,
    ) -> None:
        empty = next((file for file in listed if not file.size), None)
        if empty is not None:
            raise InputError("empty file", empty.name)
        with plainly():
            files = [_looked_at(spark, number, file, layout) for number, file in enumerate(listed)]
        self.files: Files = {file.uri: each for file, each in zip(listed, files, strict=True)}
        self.encoding = layout.encoding
        self._step = bytes_of_partition(spark, listed, partitions)
        self._in_lines = layout.encoding.lower().replace("_", "-").startswith(PLAIN)
        self._session = session_for(spark, self._step)
        self._paths = [file.path for file in listed]
        self.frame = self._lines(self._paths)
        long = [
            file.path
            for file, each in zip(listed, files, strict=True)
            if file.size > self._step and not each.format.line_by_line and not file.packed
        ]
        with self.errors():
            self.borders = self._find_borders(long) if long and self._in_lines else {}

    def _lines(self, paths: Sequence[str], *more: str) -> DataFrame:
        from pyspark.sql import functions as sql

        end = "\n" if self._in_lines else None
        text = self._session.read.text([*paths], wholetext=not self._in_lines, lineSep=end)
        return text.select(sql.col("value").cast("binary"), *more, *WHERE)

    def blocks(self) -> Callable[[Batches], Iterator[tuple[TextFile, Place, Iterator[list[str]]]]]:
        """How a task reads its lines: file, place and lines of every piece; it is sent to the cluster."""
        files, borders, encoding = self.files, self.borders, self.encoding
        numbers = {uri: file.number for uri, file in files.items()}
        by_number = {file.number: file for file in files.values()}
        end = b"\n" if self._in_lines else b""

        def read(batches: Batches) -> Iterator[tuple[TextFile, Place, Iterator[list[str]]]]:
            for place, rows in by_piece(batches, numbers):
                file = by_number[place[0]]
                data = _bordered((_joined(row.column(0), end) for row in rows), borders.get(place, Border()))
                yield file, place, lines_of(data, encoding, file.name, at_start=place[1] == 0)

        return read

    def reader(self) -> Callable[[Batches], Iterator[Piece]]:
        read = self.blocks()

        def pieces(batches: Batches) -> Iterator[Piece]:
            for file, place, lines in read(batches):
                parts = Reader(file.format, lines, file.name, whole=False).runs()
                yield Piece(place, corpora(parts, CHUNK_TOKENS))

        return pieces

    def check(self, seen: Sequence[Seen]) -> None:
        """As where files are read in turn: each has some token, and as many columns as the first."""
        n_tokens = dict.fromkeys((file.number for file in self.files.values()), 0)
        names = {file.number: file.name for file in self.files.values()}
        width, first = 0, ""
        for place, _, n, n_columns in seen:
            n_tokens[place[0]] += n
            if n and not width:
                width, first = n_columns, names[place[0]]
            if n and n_columns != width:
                message = f"{n_columns} observed columns where {first} has {width}"
                raise InputError(message, names[place[0]], 1)
        empty = next((number for number, n in n_tokens.items() if not n), None)
        if empty is not None:
            raise InputError("no sentence: nothing to learn from", names[empty])

    @contextmanager
    def errors(self) -> Iterator[None]:
        """A line that a task has counted from where its piece begins is counted from the file's beginning."""
        try:
            with plainly():
                yield
        except MisreadError as error:
            if error.line is None or error.source is None:
                raise InputError(error.message, error.source) from error
            with plainly():
                line = error.line + self._lines_before(error.place)
            raise InputError(error.message, error.source, line) from error

    def _lines_before(self, place: Place) -> int:
        if not place[1]:
            return 0
        from pyspark.sql import functions as sql

        path = self._paths[place[0]]
        before = self._lines([path]).where(sql.col("file_block_start") < place[1])
        return before.count() + self.borders.get(place, Border()).lines

    def _find_borders(self, paths: Sequence[str]) -> Borders:
        frame = self._lines(paths, "_metadata.file_block_length")
        if self._step < WORTH_STOPPING:
            frame = frame.coalesce(self._session.sparkContext.defaultParallelism)
        numbers = {uri: file.number for uri, file in self.files.items()}
        found = frame.mapInArrow(
            _beginning(numbers, self._step), "file int, begin long, head binary, whole boolean"
        )
        heads = sorted((row.file, row.begin, bytes(row.head), row.whole) for row in found.collect())
        borders: dict[Place, Border] = {}
        behind: bytes = b""  # what the piece before takes
        for (file, begin, head, whole), after in zip(
            reversed(heads), chain([None], reversed(heads)), strict=False
        ):
            if after is None or after[0] != file:
                behind = b""
            if not begin:
                borders[file, begin] = Border(added=behind)
                continue
            borders[file, begin] = Border(len(head), head.count(b"\n"), b"" if whole else behind)
            behind = head + behind if whole else head
        return borders


def _looked_at(spark: SparkSession, number: int, file: Listed, layout: Layout) -> TextFile:
    """A file of which the first lines tell how it is to be read."""
    head = head_of(spark, file)
    if head.startswith(GZIP_MAGIC) and not file.packed:
        raise InputError("a gzip file: Spark unpacks it only if its name ends in .gz", file.name)
    lines = first_lines(blocks_of(iter([head]), layout.encoding, file.name), file.name)
    if layout.format is None:
        found = format_of(file.name, lines, layout.label, layout.labelled, layout.plain)
    else:
        found = open_format(layout.format, layout.label, labelled=layout.labelled)
    found.begin_with(lines, file.name)
    return TextFile(number, file.name, found)


# What tasks do ---------------------------------------------------------------------------------------


def _joined(lines: pa.Array, end: bytes) -> bytes:
    """Rows of bytes, each with a line end."""
    every = pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines)
    text: bytes = pc.binary_join(every, end)[0].as_py()
    return text + end


def _bordered(blocks: Iterable[bytes], border: Border) -> Iterator[bytes]:
    left = border.skipped
    for block in blocks:
        if left < len(block):
            yield block[left:]
        left = max(0, left - len(block))
    if border.added:
        yield border.added


def _beginning(numbers: Mapping[str, int], step: int) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """The lines of a piece up to the first blank one, for all pieces; `whole`: there is no blank line."""

    def begin(batches: Batches) -> Iterator[pa.RecordBatch]:
        for place, rows in by_piece(batches, numbers):
            first = next(iter(rows))
            alone = step >= WORTH_STOPPING and first.column(1)[0].as_py() >= step
            head, whole = _until_blank(chain([first], rows), place) if place[1] else (b"", True)
            cells = [[place[0]], [place[1]], [head], [whole]]
            types = pa.int32(), pa.int64(), pa.binary(), pa.bool_()
            yield pa.RecordBatch.from_arrays(
                [pa.array(cell, kind) for cell, kind in zip(cells, types, strict=True)],
                ["file", "begin", "head", "whole"],
            )
            if alone:  # there is no other piece in the partition: the rest need not be read
                return

    return begin


def _until_blank(rows: Batches, place: Place) -> tuple[bytes, bool]:
    """Lines up to where a sentence ends, and whether none does: at the first blank line behind some text; if
    that has blanks, at the first one of its kin without."""
    lines: list[bytes] = []
    n_bytes = end = 0
    for row in rows:
        for line in row.column(0).to_pylist():
            is_blank = not line.strip(b" \t\r")
            if end and not is_blank:
                return b"".join(lines[:end]), False
            lines.append(line + b"\n")
            if is_blank and n_bytes:
                if not line:
                    return b"".join(lines), False
                end = end or len(lines)
            n_bytes += 0 if is_blank else len(line)
        if n_bytes > MOST_LETTERS:
            message = f"{n_bytes:,} bytes without a blank line: no text, or none between sentences"
            raise TaskError(message, None, None, place)
    return b"".join(lines[:end] if end else lines), not end
