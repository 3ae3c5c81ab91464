"""Chains: positions with attributes, and how often each chain counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from corate._native import Mirrored, kernels
from corate.arrays import Float, Ids, Int, offsets_of, ragged_arange
from corate.models.loglinear.attributes import Sparse


@dataclass(frozen=True)
class Chains(Mirrored):
    """Positions with attributes, in chains."""

    offsets: Int  # first position of each chain
    states: Sparse  # attributes of each position
    pairs: Sparse  # pair attributes of the edge into each position
    times: Float  # how often each chain counts
    groups: Ids  # of each position, a row of `allowed`; empty where every label is allowed everywhere
    allowed: npt.NDArray[np.uint8]  # groups × labels

    @classmethod
    def of(cls, offsets: Int, states: Sparse, pairs: Sparse | None = None) -> Chains:
        return cls(
            offsets,
            states,
            Sparse.none(len(states.offsets) - 1) if pairs is None else pairs,
            np.ones(len(offsets) - 1),
            np.empty(0, np.int32),
            np.empty((0, 0), np.uint8),
        )

    @cached_property
    def native(self) -> kernels.Chains:
        states, pairs = self.states, self.pairs
        return kernels.Chains(
            *(self.offsets, states.offsets, states.ids, pairs.offsets, pairs.ids),
            *(self.times, self.groups, self.allowed),
        )

    @property
    def n_chains(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_positions(self) -> int:
        return int(self.offsets[-1])

    def edges(self) -> Int:
        """Positions that have one before them in their chain."""
        inner = np.ones(self.n_positions + 1, bool)
        inner[self.offsets] = False
        return np.flatnonzero(inner[:-1])

    def counting(self, times: Float) -> Chains:
        return replace(self, times=times)

    def select(self, chains: Int) -> Chains:
        lengths = np.diff(self.offsets)[chains]
        positions = ragged_arange(self.offsets[:-1][chains], lengths)
        return replace(
            self,
            offsets=offsets_of(lengths),
            states=self.states.select(positions),
            pairs=self.pairs.select(positions),
            times=self.times[chains],
            groups=self.groups[positions] if len(self.groups) else self.groups,
        )
