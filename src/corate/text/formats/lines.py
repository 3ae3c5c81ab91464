"""Lines of a text file, in the order of the steps:

    path ──► raw blocks ──► gunzip ──► decode ──► lists of lines

A block is what one read call delivers, so that a pipe is read as its data arrives. Lines end at "\\n" alone:
U+2028, U+0085 and the like are text, and the "\\r" of a CRLF line end stays in the line.
"""

from __future__ import annotations

import codecs
import io
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import cast

from corate.errors import InputError

Progress = Callable[[int], object]

BLOCK_BYTES = 1 << 16
MOST_UNPACKED = (
    1 << 20
)  # bytes of a compressed block that are unpacked at a time: it may hold a thousand as many
MOST_LETTERS = 10_000_000  # of a line
GZIP_MAGIC = b"\x1f\x8b"
ZIP_MAGIC = b"PK\x03\x04"
GZIP_WINDOW = 16 + zlib.MAX_WBITS  # tells zlib to expect the gzip header and checksum


def open_lines(path: str | Path, encoding: str = "utf-8", progress: Progress | None = None) -> Iterator[str]:
    """Lines of a file without their "\\n"; `-` is standard input.

    Gzip is unpacked, a byte order mark is dropped, and `progress` is called with the number of bytes of every
    block that was read. A file that cannot be read raises `InputError`, with the line where there is one; an
    empty file has no lines.
    """
    return chain.from_iterable(open_blocks(path, encoding, progress))


def open_blocks(
    path: str | Path, encoding: str = "utf-8", progress: Progress | None = None, strict: bool = True
) -> Iterator[list[str]]:
    """As `open_lines`, in lists of the lines that arrived together. Where it is not `strict`, what is no text
    stays in the lines: bytes as halves of surrogate pairs, NULs and returns as they are."""
    source = source_name(path)
    blocks = _raw_blocks(path, source)
    if progress is not None:
        blocks = _reported(blocks, progress)
    return blocks_of(blocks, encoding, source, strict)


def blocks_of(
    blocks: Iterator[bytes], encoding: str, source: str, strict: bool = True
) -> Iterator[list[str]]:
    """The same of bytes that were read already."""
    return lines_of(_unpacked(_no_archive(blocks, source), source), encoding, source, strict)


def lines_of(
    blocks: Iterable[bytes], encoding: str, source: str, strict: bool = True, at_start: bool = True
) -> Iterator[list[str]]:
    """The same of bytes that are not packed; `at_start`: of those that a file begins with."""
    return _split(_decoded(blocks, encoding, source, strict, at_start), source, strict)


def _no_archive(blocks: Iterator[bytes], source: str) -> Iterator[bytes]:
    for k, block in enumerate(blocks):
        if k == 0 and block.startswith(ZIP_MAGIC):
            raise InputError("a corate model, or another zip archive: give text here", source)
        yield block


def source_name(path: str | Path) -> str:
    """How error messages call a file."""
    return "<stdin>" if str(path) == "-" else str(path)


def _raw_blocks(path: str | Path, source: str) -> Iterator[bytes]:
    try:
        with _block_reader(path) as read:
            while block := read(BLOCK_BYTES):
                yield block
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path, a closed standard input
        raise InputError(_reason(error), source) from error


@contextmanager
def _block_reader(path: str | Path) -> Iterator[Callable[[int], bytes]]:
    if str(path) != "-":
        with Path(path).open("rb", buffering=0) as file:
            yield file.read
    elif sys.stdin is None:
        raise ValueError("standard input is closed")
    else:
        yield cast(io.BufferedReader, sys.stdin.buffer).read1


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file"
    if isinstance(error, IsADirectoryError):
        return "is a directory: give a file"
    if isinstance(error, PermissionError):
        return "no permission to read this file"
    return f"cannot be read: {getattr(error, 'strerror', None) or error}"


def _reported(blocks: Iterable[bytes], progress: Progress) -> Iterator[bytes]:
    for block in blocks:
        progress(len(block))
        yield block


def _unpacked(blocks: Iterator[bytes], source: str) -> Iterator[bytes]:
    head = next(blocks, b"")
    while len(head) < len(GZIP_MAGIC) and GZIP_MAGIC.startswith(head) and (more := next(blocks, b"")):
        head += more
    everything = chain([head], blocks)
    if head.startswith(GZIP_MAGIC):
        return _gunzipped(everything, source)
    if head and source.lower().endswith(".gz"):
        raise InputError("not a gzip file, although its name ends in .gz", source)
    return everything


def _gunzipped(blocks: Iterable[bytes], source: str) -> Iterator[bytes]:
    """A gzip file is one compressed member after another, perhaps with zeros after the last."""
    member, inside = zlib.decompressobj(GZIP_WINDOW), False
    for block in blocks:
        rest = block
        while rest := rest if inside else rest.lstrip(b"\0"):
            try:
                yield member.decompress(rest, MOST_UNPACKED)
            except zlib.error as error:
                raise InputError(f"corrupt gzip file: {error}", source) from error
            rest, inside = member.unconsumed_tail or member.unused_data, not member.eof
            if not inside:
                member = zlib.decompressobj(GZIP_WINDOW)
    if inside:
        raise InputError("truncated gzip file: its end is missing", source)


def _decoded(
    blocks: Iterable[bytes], encoding: str, source: str, strict: bool, at_start: bool
) -> Iterator[str]:
    decoder = _decoder(encoding, source, "strict" if strict else "surrogateescape")
    line = 1
    for block, final in chain(((block, False) for block in blocks), [(b"", True)]):
        state = decoder.getstate()
        try:
            text = decoder.decode(block, final)
        except UnicodeDecodeError as error:
            decoder.setstate(state)
            before = decoder.decode(block[: max(0, error.start - len(state[0]))])
            raise _undecodable(error, encoding, source, line + before.count("\n")) from error
        except UnicodeError as error:  # a codec that says no more, such as UTF-16 without its mark
            raise InputError(f"not {encoding}: {error}", source, line) from error
        if at_start and text:
            text, at_start = text.removeprefix("\ufeff"), False
        if strict and "\0" in text:
            message = f"NUL character: no text file, or not in {encoding} (try --encoding utf-16)"
            raise InputError(message, source, line + text[: text.index("\0")].count("\n"))
        line += text.count("\n")
        yield text


def _decoder(encoding: str, source: str, errors: str = "strict") -> codecs.IncrementalDecoder:
    try:
        "a".encode(encoding)  # refuses codecs that are not for text, such as hex
        return codecs.getincrementaldecoder(encoding)(errors)
    except (LookupError, ValueError) as error:
        raise InputError(f"unknown encoding {encoding!r}: give e.g. utf-8 or latin-1", source) from error


def _undecodable(error: UnicodeDecodeError, encoding: str, source: str, line: int) -> InputError:
    bad = error.object[error.start :]
    hint = "utf-16" if bad.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "latin-1"
    return InputError(f"byte 0x{bad[0]:02x} is not {encoding}: try --encoding {hint}", source, line)


def _split(texts: Iterable[str], source: str, strict: bool = True) -> Iterator[list[str]]:
    unfinished: list[str] = []  # pieces of the last line, joined once it is complete
    n_lines = n_letters = 0
    for text in texts:
        lines = text.split("\n")
        unfinished.append(lines[0])
        n_letters += len(lines[0])
        if n_letters > MOST_LETTERS:
            message = f"a line of more than {MOST_LETTERS:,} characters: break it into sentences"
            raise InputError(message, source, n_lines + 1)
        if len(lines) > 1:
            lines[0] = "".join(unfinished)
            unfinished = [lines.pop()]
            n_letters = len(unfinished[0])
            yield check_returns(lines, source, n_lines) if strict else lines
            n_lines += len(lines)
    if last := "".join(unfinished):
        yield check_returns([last], source, n_lines) if strict else [last]


def check_returns(lines: list[str], source: str, before: int) -> list[str]:
    """A return that ends no line is not text: the file has the line ends of old Macs, or is damaged."""
    if "\r" in "".join(lines):
        for number, line in enumerate(lines, before + 1):
            if "\r" in line[:-1]:
                raise InputError(
                    "a carriage return inside a line: end lines with \\n or \\r\\n", source, number
                )
    return lines
