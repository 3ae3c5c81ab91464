"""A text in a temporary file, chunk by chunk, as it was read: what is learned from it later asks by place.

The file has no name, and ends with the process that made it, however that ends.
"""

from __future__ import annotations

import io
import json
import tempfile
import weakref
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from corate.errors import InputError
from corate.text.corpus import ABSENT, Column, Corpus


class Spool:
    """Chunks of labelled sentences, one of `Passages`. Chunks of features get columns for the keys of all."""

    def __init__(self, folder: str | None = None) -> None:
        self._folder = folder
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - it lives as long as this does
        weakref.finalize(self, self._file.close)
        self._places = [0]  # where each chunk begins in the file, and the last one ends
        self._sentences, self._tokens = [0], [0]  # before each chunk, and in all
        self._values: dict[str, set[str]] = {}  # of features
        self._labels: set[str] = set()

    @property
    def n_sentences(self) -> int:
        return self._sentences[-1]

    @property
    def n_tokens(self) -> int:
        return self._tokens[-1]

    def n_values(self, key: str | None) -> int:
        return len(self._labels if key is None else self._values[key])

    def add(self, chunk: Corpus) -> None:
        try:
            self._file.seek(self._places[-1])
            self._file.write(packed(chunk))
            self._file.flush()
        except OSError as error:
            folder = tempfile.gettempdir() if self._folder is None else self._folder
            raise InputError(f"a temporary file cannot be written: {error.strerror}", folder) from error
        self._places.append(self._file.tell())
        if chunk.keys:
            self._note_values(chunk)
        self._sentences.append(self.n_sentences + chunk.n_sentences)
        self._tokens.append(self.n_tokens + chunk.n_tokens)

    def _note_values(self, chunk: Corpus) -> None:
        """Of features; what is not there in all chunks is absent somewhere."""
        some = {ABSENT} if self.n_tokens else set()
        for key in {*chunk.keys} - {*self._values}:
            self._values[key] = set(some)
        for key, values in self._values.items():
            values.update(chunk.columns[chunk.keys.index(key)].values if key in chunk.keys else [ABSENT])
        self._labels.update(() if chunk.labels is None else chunk.labels.values)

    def kept(self, chunks: Iterable[Corpus]) -> Iterator[Corpus]:
        """Chunks on their way to somewhere else."""
        for chunk in chunks:
            self.add(chunk)
            yield chunk

    def sentences(self, first: int, last: int) -> Iterator[Corpus]:
        """Sentences first … last − 1, a piece of each chunk."""
        for k in _within(self._sentences, first, last):
            chunk, before = self._chunk(k), self._sentences[k]
            yield from chunk.sentences(max(0, first - before), min(last - before, chunk.n_sentences))

    def covering(self, begin: int, end: int) -> tuple[Corpus, int]:
        """The sentences that have one of the tokens begin … end − 1, and the number of their first token."""
        pieces, place = [], begin
        for k in _within(self._tokens, begin, end):
            before = self._tokens[k]
            piece, first = self._chunk(k).covering(max(0, begin - before), end - before)
            place = min(place, before + first)
            pieces.append(piece)
        return Corpus.join(pieces), place

    def _chunk(self, k: int) -> Corpus:
        self._file.seek(self._places[k])
        data = self._file.read(self._places[k + 1] - self._places[k])
        return unpacked(data).with_keys(sorted(self._values))


def _within(bounds: list[int], first: int, last: int) -> range:
    """The chunks, with bounds between them, that have something of first … last − 1."""
    if first >= min(last, bounds[-1]):
        return range(0)
    return range(bisect_right(bounds, first) - 1, bisect_right(bounds, min(last, bounds[-1]) - 1))


def packed(corpus: Corpus) -> bytes:
    """A corpus as bytes, on its way to a file or to another process."""
    buffer = io.BytesIO()
    np.savez(buffer, **_arrays(corpus))
    return buffer.getvalue()


def unpacked(data: bytes) -> Corpus:
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return _corpus(arrays)


def _arrays(corpus: Corpus) -> dict[str, Any]:
    """The corpus in few bytes: codes as narrow as they can be, strings as JSON, which knows all of them."""
    columns = [*corpus.columns, *([] if corpus.labels is None else [corpus.labels])]
    strings = {"keys": corpus.keys, "values": [column.values for column in columns]}
    codes = {f"codes{k}": c.codes.astype(np.min_scalar_type(len(c.values))) for k, c in enumerate(columns)}
    text = np.frombuffer(json.dumps(strings, separators=(",", ":")).encode(), np.uint8)
    lengths = np.diff(corpus.offsets)
    return {"strings": text, "lengths": lengths, "labelled": np.array(corpus.labels is not None), **codes}


def _corpus(arrays: Any) -> Corpus:
    strings = json.loads(arrays["strings"].tobytes())
    columns = [
        Column(arrays[f"codes{k}"].astype(np.int32), values) for k, values in enumerate(strings["values"])
    ]
    labels = columns.pop() if arrays["labelled"] else None
    offsets = np.append(0, np.cumsum(arrays["lengths"])).astype(np.int64)
    return Corpus(tuple(columns), labels, offsets, tuple(strings["keys"]))
