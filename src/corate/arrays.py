"""The toolbox below everything: names of array types, offsets and owners, ragged ranges, packed keys.

lengths     2        1     2          offsets_of → 0 2 3 5       where each run begins, and the end
owners      0   0    1     2   2      the run that each entry belongs to
"""

from __future__ import annotations

import math
import mmap
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from corate._native import kernels, native
from corate.errors import RoomError

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
Ids = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]

KEY_BITS = 63  # of a packed key: all but the sign
ROUNDED_BITS = 16  # of the largest of some fitted weights
MOST_LABELS = 1 << 13  # models have a number for every pair of labels: half a GB of them
MOST_NUMBERS = 1 << 26  # of one array: as many
BLOCK_BYTES = 1 << 24  # of an array that are looked at together


def blocks(array: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
    """An array some rows at a time; of one that is mapped from a file, none of them stays in memory."""
    step = max(1, BLOCK_BYTES // max(1, array.nbytes // max(1, len(array))))
    for first in range(0, len(array), step):
        yield array[first : first + step]
        if (mapping := mapping_of(array)) is not None:
            mapping.madvise(mmap.MADV_DONTNEED)


def mapping_of(array: npt.NDArray[Any]) -> mmap.mmap | None:
    """The file that an array is mapped from; None for one in memory."""
    return getattr(array, "_mmap", None)


def check_room(n_numbers: int, what: str) -> None:
    """Refuse an array before it is made, if it would take more memory than any machine may have."""
    if n_numbers > MOST_NUMBERS:
        raise RoomError(
            f"{what}: {n_numbers:,} numbers, {n_numbers * 8 / 1e9:,.1f} GB; corate takes {MOST_NUMBERS:,}"
        )


def ragged_arange(starts: Int, lengths: Int) -> Int:
    """starts[0], starts[0] + 1, … (lengths[0] of them), starts[1], …"""
    ends = np.cumsum(lengths)
    places: Int = np.repeat(starts - (ends - lengths), lengths)
    return places + np.arange(len(places))


def offsets_of(lengths: Int) -> Int:
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def owners(positions: Int) -> Int:
    """The position of each candidate."""
    return np.repeat(np.arange(len(positions) - 1), np.diff(positions))


def pack(columns: Iterable[npt.NDArray[np.integer]], widths: Sequence[int]) -> Int:
    """Several ids in one integer each; it orders as the rows do."""
    each = list(columns)
    plain = bool(each) and all(column.dtype == np.int32 and column.flags.c_contiguous for column in each)
    if native() and plain and max(widths) < 32:
        keys = np.empty(len(each[0]), np.int64)
        kernels.pack(cast(list[Ids], each), list(widths), keys)
        return keys
    fields = zip((column.astype(np.int64) for column in each), widths, strict=True)
    return reduce(lambda key, field: (key << field[1]) | field[0], fields, np.int64(0))


def unpack(keys: Int, widths: Sequence[int], ids: Ids) -> None:
    """The ids that `pack` has put into each key, into a row of `ids`."""
    if native() and max(widths) < 32:
        kernels.unpack(keys, list(widths), ids)
        return
    for k in range(len(widths) - 1, -1, -1):
        ids[:, k] = keys & ((1 << widths[k]) - 1)
        keys = keys >> widths[k]


def dot(a: Float, b: Float) -> float:
    """Σ a b, summed in the same order on every machine; that of `a @ b` is the CPU's."""
    return float(np.add.reduce(a * b))


def rounded(weights: Float) -> Float:
    """Fitted weights without the digits that are the machine's: multiples of 2⁻¹⁶ of the largest one's size.

    Sums by BLAS, exponentials and logarithms differ in their last digit from CPU to CPU, and a Tagger's
    weights, after thirty steps, by up to 1e-12 where the largest is 1/2 to 1. Of 4,000 weights one lies that
    near to a boundary between two multiples with a probability of 4,000 · 2 · 1e-12 / 2⁻¹⁶ < 1e-3.
    """
    exponent = math.frexp(float(np.abs(weights).max(initial=0.0)))[1] - ROUNDED_BITS
    return np.ldexp(np.rint(np.ldexp(weights, -exponent)), exponent) + 0.0  # + 0.0: no -0.0


def starts_of_runs(keys: Int) -> Int:
    """Where each run of equal keys begins."""
    begins = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=begins[1:])
    return np.flatnonzero(begins)


def places_among(keys: npt.NDArray[Any], wanted: npt.NDArray[Any]) -> Int:
    """The place of each wanted one among sorted keys, −1 where it is not there."""
    if not len(keys):
        return np.full(len(wanted), -1)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, place, -1)
