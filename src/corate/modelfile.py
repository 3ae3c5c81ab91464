"""The model file: one zip archive of JSON and npy members, stored uncompressed, checked before it is used.

    manifest.json      format, version, the model's header, and size and sha256 of every other member
    word.json, y.json  vocabularies
    counts/*.npy       event tables
    (archive comment)  sha256 of all bytes before it

Nothing is unpickled. Equal contents give equal bytes. A file is written beside its target, flushed to disk
and moved into place, so the target is always one whole model: the old or the new.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import stat
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from corate.errors import ModelFileError

FORMAT = "corate model"
VERSION = 1
MANIFEST = "manifest.json"
DIGEST_LENGTH = 64  # hexadecimal digits of a sha256
DTYPES = {"<i4": np.int32, "<i8": np.int64, "<f8": np.float64}
EPOCH = (1980, 1, 1, 0, 0, 0)  # a zip member needs a time; none would be true of equal contents

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Contents:
    header: dict[str, Any]
    texts: dict[str, list[str]]
    arrays: dict[str, Array]


# Writing ---------------------------------------------------------------------------------------------


def write(
    path: Path, header: dict[str, Any], texts: Mapping[str, list[str]], arrays: Mapping[str, Array]
) -> None:
    """Write a model file, or leave what is there untouched."""
    members = {f"{name}.json": _json(values) for name, values in texts.items()}
    members |= {f"{name}.npy": _npy(array) for name, array in arrays.items()}
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "header": header,
        "members": {
            name: {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in sorted(members.items())
        },
    }
    replace_file(path, _archive({MANIFEST: _json(manifest), **dict(sorted(members.items()))}))


def _archive(members: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name, EPOCH), data)
        archive.comment = b"0" * DIGEST_LENGTH
    body = buffer.getvalue()[:-DIGEST_LENGTH]
    return body + hashlib.sha256(body).hexdigest().encode()


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), sort_keys=True).encode()


def _npy(array: Array) -> bytes:
    buffer = io.BytesIO()
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    np.lib.format.write_array(buffer, np.ascontiguousarray(little), allow_pickle=False)
    return buffer.getvalue()


def replace_file(path: Path, data: bytes) -> None:
    """Put data at path in one step: temporary file in the same folder, fsync, rename, fsync of the folder."""
    path = path.resolve()
    if path.exists() and not path.is_file():
        kind = "a directory" if path.is_dir() else "not a regular file"
        raise ModelFileError(f"{path}: {kind}: give the name of a file to write the model to")
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    except OSError as error:
        raise ModelFileError(f"{path}: cannot be written: {error.strerror}") from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, _mode(path))
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        Path(temporary).replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        if isinstance(error, OSError):
            raise ModelFileError(f"{path}: cannot be written: {error.strerror}") from error
        raise
    _sync_folder(path.parent)


def _mode(path: Path) -> int:
    """The permissions of the file that is replaced, or those that any new file would get."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):  # some file systems cannot; the rename itself has happened
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


# Reading ---------------------------------------------------------------------------------------------


def read(path: Path) -> Contents:
    """Read a model file; whatever is wrong with it is one `ModelFileError`."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModelFileError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        return _parse(data)
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from None
    except (
        zipfile.BadZipFile,
        ValueError,
        KeyError,
        TypeError,
        EOFError,
        RecursionError,
        NotImplementedError,
    ) as error:
        raise ModelFileError(f"{path}: damaged: {error}") from error


def _parse(data: bytes) -> Contents:
    if data[:4] != b"PK\x03\x04":
        raise ModelFileError("not a corate model file")
    members = _members(data)
    if MANIFEST not in members:
        raise ModelFileError("not a corate model file")
    manifest = json.loads(members.pop(MANIFEST))
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ModelFileError("not a corate model file")
    if manifest.get("version") != VERSION:
        raise ModelFileError(
            f"written in version {manifest.get('version')!r} of the model format, where this corate reads "
            f"version {VERSION}: train again, or install the corate that wrote it"
        )
    _check_members(members, manifest["members"])
    body, digest = data[:-DIGEST_LENGTH], data[-DIGEST_LENGTH:]
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise ModelFileError("damaged: the checksum of the file does not match")
    texts = {n.removesuffix(".json"): _texts(n, d) for n, d in members.items() if n.endswith(".json")}
    arrays = {n.removesuffix(".npy"): _array(n, d) for n, d in members.items() if n.endswith(".npy")}
    return Contents(manifest["header"], texts, arrays)


def _members(data: bytes) -> dict[str, bytes]:
    """All members. Only stored ones are read, so that no archive unpacks to more than its own size."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except zipfile.BadZipFile:
        raise ModelFileError("damaged: the file ends too early or its directory is broken") from None
    with archive:
        infos = archive.infolist()
        for info in infos:
            if info.compress_type != zipfile.ZIP_STORED or info.file_size > len(data) or info.flag_bits & 1:
                raise ModelFileError(f"damaged: member {info.filename!r} is not plainly stored")
        if len({info.filename for info in infos}) != len(infos) or sum(i.file_size for i in infos) > len(
            data
        ):
            raise ModelFileError("damaged: members overlap")
        return {info.filename: archive.read(info) for info in infos}


def _check_members(members: Mapping[str, bytes], listed: Mapping[str, Mapping[str, Any]]) -> None:
    if set(members) != set(listed):
        raise ModelFileError(
            f"damaged: members {sorted(set(members) ^ set(listed))} are missing or not listed"
        )
    for name, data in members.items():
        if hashlib.sha256(data).hexdigest() != listed[name]["sha256"]:
            raise ModelFileError(f"damaged: the checksum of member {name!r} does not match")


def _texts(name: str, data: bytes) -> list[str]:
    values = json.loads(data)
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ModelFileError(f"damaged: member {name!r} is not a list of strings")
    return values


def _array(name: str, data: bytes) -> Array:
    """An npy member whose header says just what its bytes can hold."""
    buffer = io.BytesIO(data)
    if np.lib.format.read_magic(buffer) != (1, 0):
        raise ModelFileError(f"damaged: member {name!r} is of another npy version")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(buffer)
    rest = data[buffer.tell() :]
    if dtype.str not in DTYPES or fortran or any(n < 0 for n in shape):
        raise ModelFileError(f"damaged: member {name!r} has dtype {dtype.str} or order that no model has")
    size = dtype.itemsize
    for n in shape:
        size *= n
    if size != len(rest):
        raise ModelFileError(f"damaged: member {name!r} has {len(rest)} bytes where its shape needs {size}")
    return np.frombuffer(rest, dtype).astype(DTYPES[dtype.str]).reshape(shape)
