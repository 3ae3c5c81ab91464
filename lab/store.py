"""Results that are kept: one JSON file a measurement, found again by the content that it depends on."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import sys
import tempfile
import zlib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import corate
from corate import InputError
from lab import peers
from lab.machine import version_of

Record = dict[str, Any]


class Store:
    """A folder of measurements; None keeps nothing."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)

    def find(self, name: str, *content: str) -> Record | None:
        path = self._path(name, content)
        if path is None or not path.exists():
            return None
        try:
            found: Record = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            print(f"{path}: damaged, measured again", file=sys.stderr)
            return None
        return found

    def keep(self, record: Record, name: str, *content: str) -> None:
        path = self._path(name, content)
        if path is not None:
            write_json(path, record)

    def _path(self, name: str, content: Iterable[str]) -> Path | None:
        plain = "".join(c if c.isalnum() else "-" for c in name)
        return None if self.folder is None else self.folder / "cache" / f"{plain}-{digest(content)}.json"


def digest(texts: Iterable[str]) -> str:
    state = hashlib.sha256()
    for text in texts:
        state.update(text.encode("utf-8", "surrogatepass") + b"\0")
    return state.hexdigest()[:16]


@cache
def sources_of(package: str) -> str:
    """What a package's results depend on: our sources, or another's version and how we call it."""
    if package == corate.__name__:
        folder = Path(corate.__file__).parent
        files = sorted(path for end in ("py", "cpp", "h", "json") for path in folder.rglob(f"*.{end}"))
        return digest(path.read_text(encoding="utf-8") for path in files)
    version = version_of(package)
    if version is None:
        raise InputError(f"{package} is not installed: pip install 'corate[peers]'")
    return f"{package} {version} {Path(peers.__file__).read_text(encoding='utf-8')}"


def write_json(path: Path, record: Mapping[str, Any]) -> None:
    """The whole file or none of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def pack(values: npt.NDArray[Any]) -> Record:
    """An array of small numbers as text, with its type and shape."""
    is_bits = values.dtype == np.bool_
    data = np.packbits(values) if is_bits else values.astype("<u2")
    text = base64.b64encode(zlib.compress(data.tobytes(), 9)).decode("ascii")
    return {"kind": "bits" if is_bits else "<u2", "shape": list(values.shape), "data": text}


def unpack(packed: Mapping[str, Any]) -> npt.NDArray[Any]:
    data = zlib.decompress(base64.b64decode(packed["data"]))
    shape = tuple(packed["shape"])
    if packed["kind"] == "bits":
        return np.unpackbits(np.frombuffer(data, np.uint8), count=shape[0]).astype(np.bool_)
    return np.frombuffer(data, packed["kind"]).astype(np.int64).reshape(shape)
