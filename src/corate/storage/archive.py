"""The archive that a model file is: which bytes are whose, and whether they are as they were written.

    header, manifest.json │ header, member │ header, member │ … │ directory, sha256
    └──────── seal ───────┴─ seal ─┴ blocks┴─ seal ─┴ blocks┴───┴─ seal ──┘

Every byte is under one digest: members by blocks, whose digests the manifest has; all else under the seal,
with which the file ends. So a part of a member can be checked without the rest.

Members are read into memory of our own and used after their digests were found right. Nothing is mapped: a
file that is cut off while it is mapped kills its readers (SIGBUS), and one that is written to changes what
they have checked; read like this, either is an error. A file that is replaced stays the one that was opened.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import stat
import struct
import zipfile
from collections.abc import Iterable, Mapping
from typing import Any, BinaryIO, NamedTuple, Protocol

import numpy as np

from corate.errors import ModelFileError

FORMAT = "corate model"
VERSION = 4
MANIFEST = "manifest.json"
ARCHIVE = b"PK\x03\x04"  # what a zip archive begins with
DIGEST_LENGTH = 64  # hexadecimal digits of a sha256
LEAST_BLOCK, MOST_BLOCK = 1 << 14, 1 << 30  # bytes under one digest
MOST_BLOCKS = 1 << 16  # of a file, if blocks can be larger: the manifest is read as a whole
MOST_MANIFEST = 1 << 24  # bytes: the digests of four thousand features are two million
LOCAL_HEADER = 30  # bytes, which a member's name and an extra field follow

Bytes = memoryview
CUT_OFF = "damaged: the file ends too early, or was cut off while it was read"


class Source(Protocol):
    """Bytes to read from, anywhere."""

    size: int

    def read(self, start: int, end: int) -> Bytes: ...
    def stream(self) -> BinaryIO: ...


class OpenFile:
    """A file on disk; it is closed with the last who reads it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, status = descriptor, os.fstat(descriptor)
        self.size, self.is_regular = status.st_size, stat.S_ISREG(status.st_mode)

    def __del__(self) -> None:
        os.close(self._descriptor)

    def read(self, start: int, end: int) -> Bytes:
        data = rest = _room(end - start)
        while len(rest):
            n = os.preadv(self._descriptor, [rest], end - len(rest))
            if not n:
                raise ModelFileError(CUT_OFF)
            rest = rest[n:]
        return data

    def stream(self) -> BinaryIO:
        return os.fdopen(os.dup(self._descriptor), "rb")


class InMemory:
    """What has come through a pipe."""

    def __init__(self, data: bytes) -> None:
        self._data, self.size = data, len(data)

    def read(self, start: int, end: int) -> Bytes:
        if end > self.size:
            raise ModelFileError(CUT_OFF)
        data = _room(end - start)
        data[:] = self._data[start:end]
        return data

    def stream(self) -> BinaryIO:
        return io.BytesIO(self._data)


def _room(n_bytes: int) -> Bytes:
    """Memory to read into, aligned as the arrays in it have to be."""
    return np.empty(max(0, n_bytes), np.uint8).data


class Span(NamedTuple):
    """Where a member's bytes are, behind its local header."""

    header: int
    start: int
    end: int


# Digests ---------------------------------------------------------------------------------------------


def block_size(n_bytes: int) -> int:
    """Bytes under one digest, for a file of so many."""
    size = LEAST_BLOCK
    while size < MOST_BLOCK and size * MOST_BLOCKS < n_bytes:
        size *= 2
    return size


def n_blocks(n_bytes: int, size: int) -> int:
    """Of a member; an empty one has one, too."""
    return max(1, -(-n_bytes // size))


def digests(pieces: Iterable[bytes | Bytes], size: int) -> str:
    """The sha256 of each block of some bytes, end to end."""
    found, digest, free = [], hashlib.sha256(), size
    for piece in pieces:
        rest = memoryview(piece)
        while len(rest):
            if not free:
                found.append(digest.hexdigest())
                digest, free = hashlib.sha256(), size
            taken, rest = rest[:free], rest[free:]
            digest.update(taken)
            free -= len(taken)
    return "".join([*found, digest.hexdigest()])


def seal(source: Source, spans: Mapping[str, Span]) -> bytes:
    """The sha256 of all that is not under the digests of the manifest, in hexadecimal digits."""
    digest, place = hashlib.sha256(), 0
    for name, span in sorted(spans.items(), key=lambda item: item[1].start):
        if name != MANIFEST:
            digest.update(source.read(place, span.start))
            place = span.end
    digest.update(source.read(place, source.size - DIGEST_LENGTH))
    return digest.hexdigest().encode()


# Reading ---------------------------------------------------------------------------------------------


class Archive:
    """The members of a model file, each checked when it is read."""

    def __init__(self, source: Source) -> None:
        if source.size < len(ARCHIVE) or source.read(0, len(ARCHIVE)).tobytes() != ARCHIVE:
            raise ModelFileError("not a corate model file")
        self._source, self._spans = source, spans_of(source)
        manifest = self._manifest()
        listed, header, block = manifest.get("members"), manifest.get("header"), manifest.get("block")
        if not isinstance(listed, dict) or not isinstance(header, dict):
            raise ModelFileError("damaged: the manifest lacks its header or its list of members")
        if type(block) is not int or not 1 <= block <= MOST_BLOCK:
            raise ModelFileError(f"damaged: blocks of {block!r:.60} bytes")
        self.header: dict[str, Any] = header
        self._block, self._listed = block, listed
        self._check_list()
        if seal(source, self._spans) != source.read(source.size - DIGEST_LENGTH, source.size).tobytes():
            raise ModelFileError("damaged: the checksum of the file does not match")
        self._read: dict[tuple[str, int], Bytes] = {}

    @property
    def names(self) -> list[str]:
        return [name for name in self._spans if name != MANIFEST]

    def size(self, name: str) -> int:
        return self._spans[name].end - self._spans[name].start

    def whole(self, name: str) -> Bytes:
        """All bytes of a member."""
        data = self._source.read(self._spans[name].start, self._spans[name].end)
        self._check(name, 0, digests([data], self._block))
        return data

    def part(self, name: str, start: int, end: int) -> Bytes:
        """Some bytes of a member, of which no more than their blocks are read; these are kept."""
        first, last = start // self._block, max(start, end - 1) // self._block
        blocks = [self._one_block(name, k) for k in range(first, last + 1)]
        data = blocks[0] if len(blocks) == 1 else memoryview(b"".join(blocks))
        return data[start - first * self._block : end - first * self._block]

    def _one_block(self, name: str, k: int) -> Bytes:
        data = self._read.get((name, k))
        if data is None:
            span = self._spans[name]
            start = span.start + k * self._block
            data = self._source.read(start, min(span.end, start + self._block))
            self._check(name, k, hashlib.sha256(data).hexdigest())
            self._read[name, k] = data
        return data

    def _check(self, name: str, first_block: int, found: str) -> None:
        start = first_block * DIGEST_LENGTH
        if self._listed[name]["sha256"][start : start + len(found)] != found:
            raise ModelFileError(f"damaged: the checksum of member {name!r} does not match")

    def _manifest(self) -> dict[str, Any]:
        if MANIFEST not in self._spans:
            raise ModelFileError("not a corate model file")
        if self.size(MANIFEST) > MOST_MANIFEST:
            raise ModelFileError(f"damaged: the manifest has more than {MOST_MANIFEST:,} bytes")
        span = self._spans[MANIFEST]
        manifest = json.loads(self._source.read(span.start, span.end).tobytes())
        if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
            raise ModelFileError("not a corate model file")
        if manifest.get("version") != VERSION:
            raise ModelFileError(
                f"written in version {manifest.get('version')!r:.60} of the model format, where this corate "
                f"reads version {VERSION}: train again, or install the corate that wrote it"
            )
        return manifest

    def _check_list(self) -> None:
        """Each member is listed, with as many digests as it has blocks."""
        if {*self.names} != {*self._listed}:
            strangers = sorted({*self.names} ^ {*self._listed})
            raise ModelFileError(f"damaged: members {strangers!r:.200} are missing or not listed")
        for name, entry in self._listed.items():
            if not name.endswith((".json", ".npy")):
                raise ModelFileError(f"damaged: the member {name!r:.60} belongs to no model")
            length = n_blocks(self.size(name), self._block) * DIGEST_LENGTH
            found = entry.get("sha256") if isinstance(entry, dict) and len(entry) == 1 else None
            if not isinstance(found, str) or len(found) != length:
                raise ModelFileError(f"damaged: the checksum of member {name!r} does not match")


def spans_of(source: Source) -> dict[str, Span]:
    """Where each member is, in their order; no byte is in two: none is more than it looks."""
    try:
        with source.stream() as stream, zipfile.ZipFile(stream) as archive:
            infos = archive.infolist()
    except zipfile.BadZipFile:
        raise ModelFileError("damaged: the file ends too early or its directory is broken") from None
    spans: dict[str, Span] = {}
    ends = 0
    for info in sorted(infos, key=lambda info: info.header_offset):
        if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1:
            raise ModelFileError(f"damaged: member {info.filename!r} is not plainly stored")
        lengths = struct.unpack_from(
            "<HH", source.read(info.header_offset, info.header_offset + LOCAL_HEADER), LOCAL_HEADER - 4
        )
        start = info.header_offset + LOCAL_HEADER + sum(lengths)
        if info.header_offset < ends or start + info.file_size > source.size - DIGEST_LENGTH:
            raise ModelFileError(
                f"damaged: member {info.filename!r:.60} overlaps with another, or is cut off"
            )
        ends = start + info.file_size
        spans[info.filename] = Span(info.header_offset, start, ends)
    if len(spans) != len(infos):
        raise ModelFileError("damaged: a member is there twice")
    return spans
