"""The model file: one zip archive of JSON and npy members, stored uncompressed, checked before it is used.

    manifest.json      format, version, the model's header, and the sha256 of every other member
    word.json, y.json  vocabularies
    counts/*.npy       event tables
    (archive comment)  sha256 of all bytes before it

Nothing is unpickled. Equal contents give equal bytes. A file is written beside its target, flushed to disk
and moved into place, so the target is always one whole model: the old or the new. Who writes holds a lock.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
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
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from corate.arrays import blocks, mapping_of
from corate.errors import ModelFileError
from corate.storage import locks

FORMAT = "corate model"
VERSION = 3
MANIFEST = "manifest.json"
ARCHIVE = b"PK\x03\x04"  # what a zip archive begins with
DIGEST_LENGTH = 64  # hexadecimal digits of a sha256
BLOCK_BYTES = 1 << 20
MOST_MANIFEST = 1 << 24  # bytes: the digests of four thousand features are two million
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
            file.seek(0)
            check(_parse(file.read()))


def write_to(file: BinaryIO, contents: Contents) -> None:
    """The bytes of a model file; equal contents give equal ones."""
    members: dict[str, Member] = {f"{name}.json": [_json(values)] for name, values in contents.texts.items()}
    members |= {f"{name}.npy": _npy(array) for name, array in contents.arrays.items()}
    members = dict(sorted(members.items()))
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "header": contents.header,
        "members": {name: {"sha256": _digest(pieces)} for name, pieces in members.items()},
    }
    write_archive(file, {MANIFEST: [_json(manifest)], **members})


def to_bytes(contents: Contents) -> bytes:
    file = io.BytesIO()
    write_to(file, contents)
    return file.getvalue()


def write_archive(file: BinaryIO, members: Mapping[str, Member]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, pieces in members.items():
            info = zipfile.ZipInfo(name, EPOCH)
            info.file_size = sum(
                map(len, pieces)
            )  # known: it is not written as a large one, as Pythons differ in
            with archive.open(info, "w") as member:
                for piece in pieces:
                    member.write(piece)
            if archive.filelist[-1].flag_bits & NOT_SEEKABLE:
                raise OSError(errno.ESPIPE, os.strerror(errno.ESPIPE))
        archive.comment = b"0" * DIGEST_LENGTH
    end = file.seek(-DIGEST_LENGTH, io.SEEK_END)
    file.seek(0)
    digest = hashlib.sha256()
    while end > 0:
        block = file.read(min(end, BLOCK_BYTES))
        digest.update(block)
        end -= len(block)
    file.write(digest.hexdigest().encode())


def _digest(pieces: Member) -> str:
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()


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
        for block in blocks(self._array) if self._array.size else ():
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
    try:
        with path.open("rb") as file:
            # What is no archive is not read to its end: it may have none, as devices have.
            start = file.read(len(ARCHIVE))
            data = start + file.read() if start == ARCHIVE else b""
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise ModelFileError(f"{path}: cannot be read: {getattr(error, 'strerror', error)}") from error
    try:
        return _parse(data)
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from None
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


def _parse(data: bytes) -> Contents:
    if data[:4] != ARCHIVE:
        raise ModelFileError("not a corate model file")
    members = _members(data)
    if MANIFEST not in members:
        raise ModelFileError("not a corate model file")
    if len(members[MANIFEST]) > MOST_MANIFEST:
        raise ModelFileError(f"damaged: the manifest has more than {MOST_MANIFEST:,} bytes")
    manifest = json.loads(bytes(members.pop(MANIFEST)))
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ModelFileError("not a corate model file")
    if manifest.get("version") != VERSION:
        raise ModelFileError(
            f"written in version {manifest.get('version')!r} of the model format, where this corate reads "
            f"version {VERSION}: train again, or install the corate that wrote it"
        )
    listed, header = manifest.get("members"), manifest.get("header")
    if not isinstance(listed, dict) or not isinstance(header, dict):
        raise ModelFileError("damaged: the manifest lacks its header or its list of members")
    _check_members(members, listed)
    whole = memoryview(data)
    if hashlib.sha256(whole[:-DIGEST_LENGTH]).hexdigest().encode() != whole[-DIGEST_LENGTH:]:
        raise ModelFileError("damaged: the checksum of the file does not match")
    texts = {n.removesuffix(".json"): _texts(n, d) for n, d in members.items() if n.endswith(".json")}
    arrays = {n.removesuffix(".npy"): _array(n, d) for n, d in members.items() if n.endswith(".npy")}
    return Contents(header, texts, arrays)


def _members(data: bytes) -> dict[str, memoryview]:
    """All members, as parts of the file's bytes, each byte in one of them: none is more than it looks."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = archive.infolist()
    except zipfile.BadZipFile:
        raise ModelFileError("damaged: the file ends too early or its directory is broken") from None
    members: dict[str, memoryview] = {}
    ends = 0
    for info in sorted(infos, key=lambda info: info.header_offset):
        if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1:
            raise ModelFileError(f"damaged: member {info.filename!r} is not plainly stored")
        # A member's bytes follow its local header: 30 bytes, the name, and an extra field.
        lengths = struct.unpack_from("<HH", data, info.header_offset + 26)
        start = info.header_offset + 30 + sum(lengths)
        if info.header_offset < ends or start + info.file_size > len(data):
            raise ModelFileError(
                f"damaged: member {info.filename!r:.60} overlaps with another, or is cut off"
            )
        ends = start + info.file_size
        members[info.filename] = memoryview(data)[start : start + info.file_size]
    if len(members) != len(infos):
        raise ModelFileError("damaged: a member is there twice")
    return members


def _check_members(members: Mapping[str, memoryview], listed: Mapping[str, Any]) -> None:
    if set(members) != set(listed):
        strangers = sorted(set(members) ^ set(listed))
        raise ModelFileError(f"damaged: members {strangers!r:.200} are missing or not listed")
    for name, data in members.items():
        if not name.endswith((".json", ".npy")):
            raise ModelFileError(f"damaged: the member {name!r:.60} belongs to no model")
        if listed[name] != {"sha256": hashlib.sha256(data).hexdigest()}:
            raise ModelFileError(f"damaged: the checksum of member {name!r} does not match")


def _texts(name: str, data: memoryview) -> list[str]:
    values = json.loads(bytes(data))
    if not isinstance(values, list) or not {*map(type, values)} <= {str}:
        raise ModelFileError(f"damaged: member {name!r} is not a list of strings")
    return values


def _array(name: str, data: memoryview) -> Array:
    """An npy member whose header says just what its bytes can hold."""
    found = NPY_HEADER.fullmatch(data[:NPY_BYTES])
    if found is None:
        raise ModelFileError(f"damaged: member {name!r} has no header of an array that a model has")
    dtype, shape = found["dtype"].decode(), tuple(int(n) for n in found["shape"].split(b",") if n.strip())
    rest = data[NPY_BYTES:]
    if np.dtype(dtype).itemsize * math.prod(shape) != len(rest):
        raise ModelFileError(f"damaged: member {name!r} has {len(rest)} bytes, not those of its shape")
    # A copy: in the file, numbers begin at whatever byte they do, and kernels need them aligned.
    return np.frombuffer(rest, dtype).astype(DTYPES[dtype]).reshape(shape)
