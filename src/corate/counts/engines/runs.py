"""Partial counts on disk, a file for each chunk: what the disk engine has when it is killed.

    FOLDER/lock          held (flock) while someone counts there
    FOLDER/task.json     what is counted, so that nothing else goes on with it
    FOLDER/00000017.run  a chunk's events, with ids of its own; its vocabularies, digests and fingerprint

A file is written beside its place, flushed to disk and moved there: it is whole, or not there. Ids of a chunk
are places in its own sorted vocabularies, so that rows stay sorted under the ids of all chunks together.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from corate.contexts.values import Vocabulary
from corate.counts.engines.base import Counted, Task
from corate.counts.ledger import NO_DIGESTS, Digests
from corate.errors import InputError
from corate.storage import locks
from corate.text.corpus import Column, Corpus

ANEW = "leave --resume out, to begin anew"
HEAD_BYTES = 8
LAYOUT = 1  # raised where what is in the folder changes


class Run:
    """The counts of one chunk, read when they are asked for."""

    def __init__(self, path: Path) -> None:
        self.path, self.n_bytes = path, path.stat().st_size
        with path.open("rb") as file:
            length = int.from_bytes(file.read(HEAD_BYTES), "little")
            self._members: dict[str, tuple[str, int, int]] = json.loads(file.read(length))
        self._begin = HEAD_BYTES + length
        self.n_sentences, self.n_tokens = self._array("numbers").tolist()
        self.fingerprint = self._array("fingerprint").tobytes()
        self.keys: list[str] = json.loads(self._array("keys").tobytes())  # of vocabularies

    def _array(self, name: str) -> npt.NDArray[Any]:
        dtype, place, n = self._members[name]
        return np.fromfile(self.path, np.dtype(dtype), n, offset=self._begin + place)

    def vocabulary(self, key: str) -> Vocabulary:
        values: Vocabulary = json.loads(self._array(f"vocabulary{self.keys.index(key)}").tobytes())
        return values

    def table(self, k: int, n_fields: int) -> tuple[list[npt.NDArray[Any]], npt.NDArray[Any]]:
        """The ids of each field, and how often each row occurred."""
        return [self._array(f"{k}.{f}") for f in range(n_fields)], self._array(f"{k}.n")

    def digests(self) -> Digests:
        return self._array("digests").view(NO_DIGESTS.dtype).reshape(-1)


def write_run(file: IO[bytes], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Where each array is, and then all of them."""
    ends = np.cumsum([0, *(array.nbytes for array in arrays.values())]).tolist()
    places = {
        name: (a.dtype.str, place, a.size) for (name, a), place in zip(arrays.items(), ends, strict=False)
    }
    head = json.dumps(places).encode()
    file.write(len(head).to_bytes(HEAD_BYTES, "little") + head)
    for array in arrays.values():
        file.write(np.ascontiguousarray(array).data)


class RunFolder:
    """The files of one training."""

    def __init__(self, folder: Path, task: Task, resume: bool) -> None:
        """Of a folder that is locked. Without `resume`, what a killed training has left there is removed."""
        self.folder = folder
        self._clear(resume)
        described = folder / "task.json"
        if not described.exists():
            self._clear(False)  # of whatever task they are
            _replace(described, json.dumps(_description(task)).encode())
        elif json.loads(described.read_bytes()) != _description(task):
            raise InputError(
                f"was begun with other parameters or columns: give the same ones, or {ANEW}", str(folder)
            )
        self.runs = [*self._from_the_first()]

    def _clear(self, resume: bool) -> None:
        for path in self.folder.iterdir():
            if path.name != "lock" and not (resume and (path.suffix == ".run" or path.name == "task.json")):
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    def _from_the_first(self) -> Iterator[Run]:
        """The runs up to the first one that is missing: who was killed removing them left any others."""
        is_whole = True
        for k, path in enumerate(sorted(self.folder.glob("*.run"))):
            is_whole = is_whole and path.name == _name(k)
            if is_whole:
                yield Run(path)
            else:
                path.unlink()

    def known(self, k: int, fingerprint: bytes) -> bool:
        """Whether the chunk was counted already; another one in its place is refused."""
        if k >= len(self.runs):
            return False
        if self.runs[k].fingerprint != fingerprint:
            raise InputError(
                f"chunk {k + 1} of the corpus is not the one that was counted: {ANEW}", str(self.folder)
            )
        return True

    def check_all_known(self, n_chunks: int) -> None:
        if n_chunks < len(self.runs):
            raise InputError(
                f"{len(self.runs)} chunks were counted, and the corpus has {n_chunks}: {ANEW}",
                str(self.folder),
            )

    def add(self, counted: Counted, fingerprint: bytes, n_tokens: int) -> None:
        path = self.folder / _name(len(self.runs))
        with _replacing(path) as file:
            write_run(file, _arrays(counted, fingerprint, n_tokens))
        self.runs.append(Run(path))


def _name(k: int) -> str:
    return f"{k:08}.run"


def fingerprint_of(chunk: Corpus) -> bytes:
    """Equal for equal sentences in the same order, labels and all, however their values are numbered."""
    digest = hashlib.blake2b(digest_size=16)
    columns = [_sorted(c) for c in (*chunk.columns, *([] if chunk.labels is None else [chunk.labels]))]
    digest.update(json.dumps([chunk.keys, [values for values, _ in columns]]).encode())
    for codes in (chunk.offsets, *(codes for _, codes in columns)):
        digest.update(np.ascontiguousarray(codes).data)
    return digest.digest()


def _sorted(column: Column) -> tuple[list[str], npt.NDArray[np.int64]]:
    """The values that occur, sorted, and the place of each token's among them."""
    used, codes = np.unique(column.codes, return_inverse=True)
    values = [column.values[k] for k in used.tolist()]
    order = sorted(range(len(values)), key=values.__getitem__)
    place = np.empty(len(values), np.int64)
    place[order] = np.arange(len(values))
    return [values[k] for k in order], place[codes.reshape(-1)]


def _arrays(counted: Counted, fingerprint: bytes, n_tokens: int) -> dict[str, npt.NDArray[Any]]:
    counts = counted.counts
    arrays: dict[str, npt.NDArray[Any]] = {
        "numbers": np.array([counts.n_sentences, n_tokens]),
        "fingerprint": np.frombuffer(fingerprint, np.uint8),
        "keys": _json([*counts.vocabularies]),
        "digests": counted.digests.view(np.uint8),
    }
    for k, values in enumerate(counts.vocabularies.values()):
        arrays[f"vocabulary{k}"] = _json(values)
    for k, table in enumerate(counts.tables.values()):
        for f in range(table.ids.shape[1]):
            arrays[f"{k}.{f}"] = _narrow(table.field(f))
        arrays[f"{k}.n"] = _narrow(table.n)
    return arrays


def _json(value: Any) -> npt.NDArray[np.uint8]:
    return np.frombuffer(json.dumps(value, separators=(",", ":")).encode(), np.uint8)


def _narrow(numbers: npt.NDArray[np.integer]) -> npt.NDArray[np.integer]:
    """In as few bytes as they need: disks are slower than this."""
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))


def _description(task: Task) -> dict[str, Any]:
    noted = None if task.noted is None else [*map(str, task.noted)]
    trees = None if task.heads_of is None else task.heads_of.__qualname__
    return {"layout": LAYOUT, "tables": [*task.tables], "noted": noted, "trees": trees}


def lock_folder(folder: Path) -> int:
    """A folder that nobody else uses, as long as the descriptor is open."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    if not locks.lock_at_once(descriptor):
        os.close(descriptor)
        raise InputError(
            "another training is counting here: wait for it, or give another --temp", str(folder)
        )
    return descriptor


def _replace(path: Path, data: bytes) -> None:
    with _replacing(path) as file:
        file.write(data)


@contextlib.contextmanager
def _replacing(path: Path) -> Iterator[Any]:
    beside = path.with_suffix(".part")
    with beside.open("wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
    descriptor = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
