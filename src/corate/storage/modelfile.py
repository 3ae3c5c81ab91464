"""The model file: one zip archive of JSON and npy members, stored uncompressed, checked before it is used.

    manifest.json      format, version, the model's header, and the sha256 of every other member, by blocks
    word.json, y.json  vocabularies
    counts/*.npy       event tables
    (archive comment)  sha256 of all other bytes before it (archive.py)

Nothing is unpickled. Equal contents give equal bytes. A file is written beside its target, flushed to disk
and moved into place, so the target is always one whole model: the old or the new. Who writes holds a lock.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import math
import os
import re
import stat
import struct
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from corate.arrays import blocks, mapping_of
from corate.errors import ModelFileError
from corate.storage import locks
from corate.storage.archive import (
    ARCHIVE,
    DIGEST_LENGTH,
    FORMAT,
    LOCAL_HEADER,
    MANIFEST,
    VERSION,
    Archive,
    Bytes,
    InMemory,
    OpenFile,
    Source,
    block_size,
    digests,
    n_blocks,
    seal,
    spans_of,
)

DTYPES = {"<i4": np.int32, "<i8": np.int64, "<f8": np.float64}
# The header of an npy member, for arrays of one or two dimensions. NumPy's own reader would evaluate it.
NPY_BYTES = 128
NPY_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00\x76\x00\{'descr': '(?P<dtype><i4|<i8|<f8)', 'fortran_order': False, "
    rb"'shape': \((?P<shape>\d{1,18},|\d{1,18}, \d{1,2})\), \} *\n"
)
READ_ONLY = (
    "is read-only: make it writable first (chmod u+w); "
    "corate train --force and save(…, force=True) replace it all the same"
)
NOT_SEEKABLE = 8  # the flag of a member that zipfile writes in another way, if to seek has failed
ENTRY, END = 46, 22  # bytes of a member in the directory, besides its name; and of the directory's end
EPOCH = (1980, 1, 1, 0, 0, 0)  # a zip member needs a time; none would be true of equal contents

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Contents:
    header: Mapping[str, Any]
    texts: Mapping[str, list[str]]
    arrays: Mapping[str, Array]


# Writing ---------------------------------------------------------------------------------------------

Member = Iterable[bytes | memoryview]  # pieces that make up its bytes, as often as they are asked for


def write(
    path: Path, contents: Contents, check: Callable[[Contents], object] | None = None, force: bool = False
) -> None:
    """Write a model file, or leave what is there untouched; also where `check` raises an error for what is
    read back. `force` replaces a file that is read-only."""
    with replacing(path, force) as file:
        write_to(file, contents)
        if check is not None:
            file.flush()
            check(Opened(path, Archive(OpenFile(os.dup(file.fileno())))).whole())


def write_to(file: BinaryIO, contents: Contents) -> None:
    """The bytes of a model file; equal contents give equal ones."""
    write_archive(file, _members(contents, digests))


def size_of(contents: Contents) -> int:
    """The bytes that a model file has."""
    members = _members(contents, lambda pieces, block: n_blocks(_size(pieces), block) * DIGEST_LENGTH * "0")
    frame = LOCAL_HEADER + ENTRY
    of_members = sum(frame + 2 * len(name.encode()) + _size(pieces) for name, pieces in members.items())
    return of_members + END + DIGEST_LENGTH


def _members(contents: Contents, digests_of: Callable[[Member, int], str]) -> dict[str, Member]:
    """All members, the manifest first."""
    members: dict[str, Member] = {f"{name}.json": [_json(values)] for name, values in contents.texts.items()}
    members |= {f"{name}.npy": _npy(array) for name, array in contents.arrays.items()}
    members = dict(sorted(members.items()))
    block = block_size(sum(map(_size, members.values())))
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "header": contents.header,
        "block": block,
        "members": {name: {"sha256": digests_of(pieces, block)} for name, pieces in members.items()},
    }
    return {MANIFEST: [_json(manifest)], **members}


def _size(pieces: Member) -> int:
    return sum(map(len, pieces))


def to_bytes(contents: Contents) -> bytes:
    file = io.BytesIO()
    write_to(file, contents)
    return file.getvalue()


def write_archive(file: BinaryIO, members: Mapping[str, Member]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, pieces in members.items():
            info = zipfile.ZipInfo(name, EPOCH)
            info.file_size = _size(pieces)  # known: it is not written as a large one, as Pythons differ in
            with archive.open(info, "w") as member:
                for piece in pieces:
                    member.write(piece)
            if archive.filelist[-1].flag_bits & NOT_SEEKABLE:
                raise OSError(errno.ESPIPE, os.strerror(errno.ESPIPE))
        archive.comment = b"0" * DIGEST_LENGTH
    file.flush()
    source = InMemory(file.getvalue()) if isinstance(file, io.BytesIO) else OpenFile(os.dup(file.fileno()))
    sealed = seal(source, spans_of(source))
    file.seek(-DIGEST_LENGTH, io.SEEK_END)
    file.write(sealed)


def _json(value: Any) -> bytes:
    # NumPy's numbers and arrays are not JSON's: tolist() makes them Python's.
    return json.dumps(
        value, ensure_ascii=True, separators=(",", ":"), sort_keys=True, default=lambda array: array.tolist()
    ).encode()


class _Npy:
    """The bytes of an array, some at a time: one that is mapped from a file is never in memory as a whole."""

    def __init__(self, array: Array) -> None:
        self._array = array

    def __iter__(self) -> Iterator[bytes | memoryview]:
        buffer = io.BytesIO()
        kind = {"descr": self._array.dtype.newbyteorder("<").str, "fortran_order": False}
        np.lib.format.write_array_header_1_0(buffer, {**kind, "shape": self._array.shape})
        yield buffer.getvalue()
        whole = [self._array] if self._array.ndim == 0 else ()
        for block in whole or (blocks(self._array) if self._array.size else ()):
            little = np.ascontiguousarray(block.astype(block.dtype.newbyteorder("<"), copy=False))
            yield little.reshape(-1).data.cast("B")


def _npy(array: Array) -> Member:
    return _Npy(array)


def is_mapped(contents: Contents) -> bool:
    """Whether arrays are in files, since they may be larger than memory."""
    return any(mapping_of(array) is not None for array in contents.arrays.values())


@contextlib.contextmanager
def replacing(path: Path, force: bool = False) -> Iterator[BinaryIO]:
    """A file to write to that takes the place of `path` in one step, or not at all.

    It is a temporary file in the same folder; then fsync, rename, fsync of the folder. What writers that were
    killed have left there is removed.
    """
    try:
        path = path.resolve(strict=False)
    except (OSError, RuntimeError) as error:
        raise ModelFileError(f"{path}: cannot be written: a loop of links") from error
    if path.exists() and not path.is_file():
        kind = "a directory" if path.is_dir() else "not a regular file"
        raise ModelFileError(f"{path}: {kind}: give the name of a file to write the model to")
    if not force and is_read_only(path):
        raise ModelFileError(f"{path}: {READ_ONLY}")
    temporary: Path | None = None
    try:
        with locks.held(path):
            temporary, file = _temporary(path)
            with file:
                os.fchmod(file.fileno(), _mode(path))
                yield file
                file.flush()
                os.fsync(file.fileno())
                # Before it is closed, which ends the lock that tells it from what a killed writer has left.
                temporary.replace(path)
                locks.keep(path, file.fileno())
            _sync_folder(path.parent)
    except BaseException as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink()
        if isinstance(error, OSError):
            raise ModelFileError(f"{path}: cannot be written: {error.strerror}") from error
        raise


def is_read_only(path: Path) -> bool:
    """Whether nobody is to write to a file, though its folder may allow to replace it; root is told, too."""
    return path.exists() and not stat.S_IMODE(path.stat().st_mode) & 0o222


def _temporary(path: Path) -> tuple[Path, BinaryIO]:
    """A new file beside the one that it is to replace, locked; those that nobody has locked are removed."""
    prefix, suffix = f".{path.name[:40]}.", ".tmp"
    made = re.compile(rf"{re.escape(prefix)}[a-z0-9_]{{8}}{re.escape(suffix)}")  # as mkstemp names them
    with os.scandir(path.parent) as entries:
        left = [Path(entry.path) for entry in entries if made.fullmatch(entry.name)]
    for stray in left:
        locks.remove_unlocked(stray)
    while True:
        descriptor, name = tempfile.mkstemp(prefix=prefix, suffix=suffix, dir=path.parent)
        file = os.fdopen(descriptor, "w+b")
        locks.lock(descriptor)
        if os.fstat(descriptor).st_nlink:  # nobody took it for a stray before it was locked
            return Path(name), file
        file.close()


def _mode(path: Path) -> int:
    """The permissions of the file that is replaced, or those that any new file would get."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _sync_folder(folder: Path) -> None:
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # some folders may be written to and not read; the rename itself has happened
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some file systems cannot
            raise
    finally:
        os.close(descriptor)


# Reading ---------------------------------------------------------------------------------------------


def is_model(path: Path) -> bool:
    """Whether a file looks like a model of whatever version, sound or not."""
    with path.open("rb") as file:
        start = file.read(200)
    return start.startswith(ARCHIVE) and MANIFEST.encode() in start and FORMAT.encode() in start


def read(path: Path) -> Contents:
    """Read a model file; whatever is wrong with it is one `ModelFileError`."""
    return opened(path).whole()


def opened(path: Path) -> Opened:
    """A model file of which only what is asked for is read; the rest may be wrong."""
    try:
        source = _source(path)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise ModelFileError(f"{path}: cannot be read: {getattr(error, 'strerror', error)}") from error
    with _about(path):
        return Opened(path, Archive(source))


def _source(path: Path) -> Source:
    """A file on disk; or all that comes out of a pipe, if it is an archive: other things may have no end."""
    file = OpenFile(os.open(path, os.O_RDONLY))
    if file.is_regular:
        return file
    with file.stream() as stream:
        start = stream.read(len(ARCHIVE))
        return InMemory(start + stream.read() if start == ARCHIVE else b"")


@contextlib.contextmanager
def _about(path: Path) -> Iterator[None]:
    """Whatever goes wrong is said of a file."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from None
    except OSError as error:
        raise ModelFileError(f"{path}: cannot be read: {error.strerror}") from error
    except (
        zipfile.BadZipFile,
        struct.error,
        ValueError,
        KeyError,
        TypeError,
        EOFError,
        RecursionError,
        NotImplementedError,
    ) as error:
        raise ModelFileError(f"{path}: damaged: {error}") from error


class Opened:
    """An open model file, to be read in parts."""

    def __init__(self, path: Path, archive: Archive) -> None:
        self.path, self._archive, self.header = path, archive, archive.header
        self.texts = {n.removesuffix(".json") for n in archive.names if n.endswith(".json")}
        self.arrays = {n.removesuffix(".npy") for n in archive.names if n.endswith(".npy")}

    def with_header(self, header: dict[str, Any]) -> Opened:
        """The same file under another header."""
        made = copy(self)
        made.header = header
        return made

    def whole(self) -> Contents:
        """All that is in it, all of it checked."""
        texts = {name: self.text(name) for name in sorted(self.texts)}
        return Contents(self.header, texts, {name: self.array(name) for name in sorted(self.arrays)})

    def text(self, name: str) -> list[str]:
        with _about(self.path):
            return _texts(f"{name}.json", self._archive.whole(f"{name}.json"))

    def array(self, name: str) -> Array:
        with _about(self.path):
            return _array(f"{name}.npy", self._archive.whole(f"{name}.npy"))

    def rows(self, name: str) -> Rows:
        """An array to be read in parts."""
        with _about(self.path):
            return Rows(self.path, self._archive, f"{name}.npy")


class Rows:
    """An array in a file: rows that are asked for are read, and checked as far as digests go."""

    def __init__(self, path: Path, archive: Archive, name: str) -> None:
        self._path, self._archive, self._name = path, archive, name
        start = archive.part(name, 0, min(NPY_BYTES, archive.size(name)))
        self.dtype, self.shape = _kind(name, start, archive.size(name) - NPY_BYTES)
        self._row_bytes = self.dtype.itemsize * math.prod(self.shape[1:])

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> Array:
        first, last, _ = rows.indices(len(self))
        start, end = (NPY_BYTES + k * self._row_bytes for k in (first, max(first, last)))
        with _about(self._path):
            data = self._archive.part(self._name, start, end)
        # A copy: parts of blocks begin anywhere, and kernels need numbers aligned.
        return np.frombuffer(data.tobytes(), self.dtype).reshape(-1, *self.shape[1:])


def _texts(name: str, data: Bytes) -> list[str]:
    values = json.loads(data.tobytes())
    if not isinstance(values, list) or not {*map(type, values)} <= {str}:
        raise ModelFileError(f"damaged: member {name!r} is not a list of strings")
    return values


def _kind(name: str, start: Bytes, n_bytes: int) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """The dtype and shape of an npy member whose header says just what its other bytes can hold."""
    found = NPY_HEADER.fullmatch(start)
    if found is None:
        raise ModelFileError(f"damaged: member {name!r} has no header of an array that a model has")
    dtype, shape = found["dtype"].decode(), tuple(int(n) for n in found["shape"].split(b",") if n.strip())
    if np.dtype(dtype).itemsize * math.prod(shape) != n_bytes:
        raise ModelFileError(f"damaged: member {name!r} has {n_bytes} bytes, not those of its shape")
    return np.dtype(dtype), shape


def _array(name: str, data: Bytes) -> Array:
    dtype, shape = _kind(name, data[:NPY_BYTES], len(data) - NPY_BYTES)
    # Behind the header numbers are aligned, as kernels need them; where bytes are turned they are copied.
    return np.frombuffer(data[NPY_BYTES:], dtype).astype(DTYPES[dtype.str], copy=False).reshape(shape)
