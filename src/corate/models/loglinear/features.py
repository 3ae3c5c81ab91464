"""Log-linear chains: features with weights, partition functions, expectations.

    P(y | x) = exp(Σₖ wₖ fₖ(x, y)) / Z(x)                                        004 eqns 35, 36

    state        f = 1 where attribute a is at position i and yᵢ = y             weights in this order
    transition   f = 1 where yᵢ₋₁ = y and yᵢ = y′
    pair         f = 1 where pair attribute a is at the edge into i, yᵢ₋₁ = y, yᵢ = y′

A chain of one position is a maximum entropy classifier, one of two positions a piece of piecewise training
or a pair factor: all models of this kind differ in the chains that they are trained on, and in nothing else.
Equal chains are looked at once and count `times`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from corate._native import Mirrored, kernels
from corate.arrays import MOST_LABELS, Float, Ids, Int, places_among
from corate.errors import InputError
from corate.models.loglinear.chains import Chains

MOST_FEATURES = 1 << 31  # a vector of as many weights is 16 GB


@dataclass(frozen=True)
class Features(Mirrored):
    """Which (attribute, label), (label, label) and (pair attribute, label, label) have a weight."""

    n_labels: int
    state_offsets: Int  # by attribute
    state_labels: Ids
    left: Ids
    right: Ids
    pair_offsets: Int  # by pair attribute
    pair_left: Ids
    pair_right: Ids

    @property
    def sizes(self) -> tuple[int, int, int]:
        return len(self.state_labels), len(self.left), len(self.pair_left)

    def __len__(self) -> int:
        return sum(self.sizes)

    def split(self, vector: Float) -> tuple[Float, Float, Float]:
        """A vector of weights (or counts) in its three parts."""
        a, b, _ = self.sizes
        return vector[:a], vector[a : a + b], vector[a + b :]

    @property
    def state_attributes(self) -> Int:
        return np.repeat(np.arange(len(self.state_offsets) - 1), np.diff(self.state_offsets))

    @property
    def pair_attributes(self) -> Int:
        return np.repeat(np.arange(len(self.pair_offsets) - 1), np.diff(self.pair_offsets))

    @cached_property
    def native(self) -> kernels.Features:
        return kernels.Features(
            self.n_labels,
            self.state_offsets,
            self.state_labels,
            self.left,
            self.right,
            self.pair_offsets,
            self.pair_left,
            self.pair_right,
        )

    def check(self) -> None:
        """Check features that come from outside, or raise ValueError."""
        n = self.n_labels
        if n > MOST_LABELS:
            raise ValueError(f"{n:,} labels where a model has {MOST_LABELS:,} at most")
        fields = (self.state_offsets, self.state_labels, self.left, self.right)
        if any(array.ndim != 1 for array in (*fields, self.pair_offsets, self.pair_left, self.pair_right)):
            raise ValueError("features are not in rows")
        for offsets, length in (
            (self.state_offsets, len(self.state_labels)),
            (self.pair_offsets, len(self.pair_left)),
        ):
            if offsets.dtype != np.int64 or not len(offsets) or offsets[0] or offsets[-1] != length:
                raise ValueError("features do not fit their attributes")
            if (np.diff(offsets) < 0).any():
                raise ValueError("offsets of features decrease")
        for labels in (self.state_labels, self.left, self.right, self.pair_left, self.pair_right):
            if labels.dtype != np.int32 or (len(labels) and not 0 <= labels.min() <= labels.max() < n):
                raise ValueError("a feature has a label that is not there")
        if len(self.left) != len(self.right) or len(self.pair_left) != len(self.pair_right):
            raise ValueError("a pair of labels lacks one")
        if (np.diff(self.left.astype(np.int64) * n + self.right) <= 0).any():
            raise ValueError("transitions are not sorted")


def seen_features(
    chains: Chains,
    labels: Ids,
    n_labels: int,
    n_attributes: int,
    n_pair_attributes: int = 0,
    *,
    transitions: bool = True,
    all_states: bool = False,
    all_transitions: bool = False,
) -> Features:
    """The features that fire in labelled chains; on request those of all labels with the same attributes."""
    if not 0 < n_labels <= MOST_LABELS:
        raise InputError(f"{n_labels} labels: this model takes 1 to {MOST_LABELS}")
    keys = _Keys(chains, labels, n_labels)
    n_pairs = n_labels**2
    n_features = (n_attributes * n_labels if all_states else 0) + (
        (1 + n_pair_attributes) * n_pairs if all_transitions else 0
    )
    if n_features > MOST_FEATURES:
        raise InputError(f"{n_features:,} features: take those that occur (all_states, all_transitions)")
    state = np.arange(n_attributes * n_labels) if all_states else np.unique(keys.state)
    pair = np.arange(n_pair_attributes * n_pairs) if all_transitions else np.unique(keys.pair)
    edge = np.arange(n_pairs) if all_transitions else np.unique(keys.edge)
    edge = edge if transitions else edge[:0]
    return Features(
        n_labels,
        np.searchsorted(state, np.arange(n_attributes + 1) * n_labels),
        (state % n_labels).astype(np.int32),
        (edge // n_labels).astype(np.int32),
        (edge % n_labels).astype(np.int32),
        np.searchsorted(pair, np.arange(n_pair_attributes + 1) * n_pairs),
        (pair % n_pairs // n_labels).astype(np.int32),
        (pair % n_labels).astype(np.int32),
    )


class _Keys:
    """What fires in labelled chains, as integers, and how often each counts."""

    def __init__(self, chains: Chains, labels: Ids, n_labels: int) -> None:
        y = labels.astype(np.int64)
        times = np.repeat(chains.times, np.diff(chains.offsets))
        right = chains.edges()
        both = np.zeros(len(y), np.int64)
        both[right] = y[right - 1] * n_labels + y[right]
        place = chains.states.owners
        self.state, self.state_times = chains.states.ids * np.int64(n_labels) + y[place], times[place]
        self.edge, self.edge_times = both[right], times[right]
        inner = np.zeros(len(y), bool)
        inner[right] = True
        place = chains.pairs.owners
        kept = inner[place]
        self.pair = (chains.pairs.ids * np.int64(n_labels**2) + both[place])[kept]
        self.pair_times = times[place][kept]


class Firing:
    """Which features fire in labelled chains, by number."""

    def __init__(self, features: Features) -> None:
        n = self.n_labels = features.n_labels
        pair = features.pair_left.astype(np.int64) * n + features.pair_right
        self._known = (
            features.state_attributes * n + features.state_labels,
            features.left.astype(np.int64) * n + features.right,
            features.pair_attributes * n**2 + pair,
        )
        self._first = np.cumsum([0, *features.sizes])

    def __call__(self, chains: Chains, labels: Ids) -> Int:
        """Each as often as it fires; how often its chain counts is not looked at."""
        return self.weighed(chains, labels)[0]

    def weighed(self, chains: Chains, labels: Ids) -> tuple[Int, Float]:
        """The same, and how often the chain of each counts."""
        keys = _Keys(chains, labels, self.n_labels)
        wanted = (
            (keys.state, keys.state_times), (keys.edge, keys.edge_times), (keys.pair, keys.pair_times)
        )  # fmt: skip
        found, times = [], []
        for known, first, (key, weight) in zip(self._known, self._first, wanted, strict=False):
            place = places_among(known, key)
            there = place >= 0
            found.append(place[there] + first)
            times.append(weight[there])
        return np.concatenate(found), np.concatenate(times)


def observed(features: Features, chains: Chains, labels: Ids) -> Float:
    """How often each feature fires in labelled chains."""
    fired, times = Firing(features).weighed(chains, labels)
    return np.bincount(fired, weights=times, minlength=len(features)).astype(np.float64)
