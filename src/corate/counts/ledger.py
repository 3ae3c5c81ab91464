"""The ledger: what a model has learned, as a multiset of digests that adds and subtracts as counts do.

    digest of a sentence = BLAKE2b(v₁₁ … v₁ₖ l₁ v₂₁ …),    v, l = BLAKE2b of a column's value and of a label

Digests are sorted, and a sentence that was learned twice is there twice: equal ledgers are equal bytes. A
sentence cannot be read off its digest; whoever has a sentence can tell whether it was learned.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress, pairwise

import numpy as np
import numpy.typing as npt

from corate.errors import InputError
from corate.text.corpus import Column, Corpus

Digests = npt.NDArray[np.bytes_]
Mask = npt.NDArray[np.bool_]

DIGEST_BYTES = 16
DIGEST = np.dtype(f"S{DIGEST_BYTES}")
BLOCK_BYTES = 1 << 24  # of digests of values that are put together at a time
NO_DIGESTS = np.empty(0, DIGEST)


@dataclass(frozen=True)
class Ledger:
    """Digests of sentences, sorted."""

    digests: Digests

    @classmethod
    def of(cls, digests: Digests) -> Ledger:
        return cls(np.sort(digests))

    @classmethod
    def from_array(cls, array: npt.NDArray[np.int64]) -> Ledger:
        """What `array` gave, from outside; ValueError if it is no ledger."""
        if array.dtype != np.int64 or array.ndim != 2 or array.shape[1] != DIGEST_BYTES // 8:
            raise ValueError(f"the ledger has shape {array.shape}")
        digests = np.ascontiguousarray(array.astype("<i8")).view(DIGEST).reshape(-1)
        if (digests[1:] < digests[:-1]).any():
            raise ValueError("the ledger is not sorted")
        return cls(digests)

    def array(self) -> npt.NDArray[np.int64]:
        """Sentences × 2 integers, for the model file."""
        return self.digests.view("<i8").astype(np.int64).reshape(-1, DIGEST_BYTES // 8)

    def __len__(self) -> int:
        return len(self.digests)

    def __add__(self, other: Ledger) -> Ledger:
        return Ledger.of(np.concatenate([self.digests, other.digests]))

    def __sub__(self, other: Ledger) -> Ledger:
        """The digests of `other` taken away, all of which must be here."""
        taken = other.known(self.digests)
        if np.count_nonzero(taken) != len(other):
            raise InputError("the ledger has no such sentence: it was never learned")
        return Ledger(self.digests[~taken])

    def known(self, digests: Digests) -> Mask:
        """Which of the digests are here; of equal ones, no more than are here."""
        order = np.argsort(digests, kind="stable")
        asked = digests[order]
        nth = np.arange(len(asked)) - np.searchsorted(asked, asked)  # among its equals
        here = np.searchsorted(self.digests, asked, "right") - np.searchsorted(self.digests, asked)
        known = np.empty(len(asked), bool)
        known[order] = nth < here
        return known

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ledger) and np.array_equal(self.digests, other.digests)


def digests_of(corpus: Corpus, columns: Sequence[Column]) -> Digests:
    """Digests of the sentences that have a label somewhere, by these columns."""
    assert corpus.labels is not None
    counted = corpus.labelled()
    parts = [(column.codes, _values(column)) for column in (*columns, corpus.labels)]
    width = len(parts) * DIGEST_BYTES

    def sentences() -> Iterator[bytes]:
        n_tokens = max(1, BLOCK_BYTES // width)
        targets = np.arange(n_tokens, corpus.n_tokens, n_tokens)
        blocks = [0, *np.searchsorted(corpus.offsets, targets).tolist(), corpus.n_sentences]
        for first, last in pairwise(blocks):
            a, b = int(corpus.offsets[first]), int(corpus.offsets[last])
            data = np.concatenate([values[codes[a:b]] for codes, values in parts], axis=1).tobytes()
            bounds = ((corpus.offsets[first : last + 1] - a) * width).tolist()
            yield from (data[c:d] for (c, d) in compress(pairwise(bounds), counted[first:last].tolist()))

    return _digests(sentences())


def _values(column: Column) -> npt.NDArray[np.int64]:
    """The digest of each distinct value, as integers: NumPy copies them quicker than bytes."""
    digests = _digests(value.encode("utf-8", "surrogatepass") for value in column.values)
    return digests.view(np.int64).reshape(-1, DIGEST_BYTES // 8)


def _digests(texts: Iterable[bytes]) -> Digests:
    joined = b"".join([hashlib.blake2b(text, digest_size=DIGEST_BYTES).digest() for text in texts])
    return np.frombuffer(joined, DIGEST)
