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

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from corate._native import HAS_KERNELS
from corate.attributes import Sparse
from corate.errors import InputError
from corate.lattice import MOST_LABELS, Float, Ids, Int, Lattice, offsets_of, ragged_arange

if HAS_KERNELS:
    from corate._native import kernels

Objective = Callable[[Float], tuple[float, Float]]  # value and gradient

MOST_FEATURES = 1 << 31  # a vector of as many weights is 16 GB


@dataclass(frozen=True)
class Chains:
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


@dataclass(frozen=True)
class Features:
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

    def arrays(self) -> tuple[Int, Ids, Ids, Ids, Int, Ids, Ids]:
        return (
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


def observed(features: Features, chains: Chains, labels: Ids) -> Float:
    """How often each feature fires in labelled chains."""
    n = features.n_labels
    keys = _Keys(chains, labels, n)
    known = (
        (features.state_attributes * n + features.state_labels, keys.state, keys.state_times),
        (features.left.astype(np.int64) * n + features.right, keys.edge, keys.edge_times),
        (
            features.pair_attributes * n**2 + features.pair_left.astype(np.int64) * n + features.pair_right,
            keys.pair,
            keys.pair_times,
        ),
    )
    parts = [_tally(*each) for each in known]
    return np.concatenate(parts)


def _tally(known: Int, keys: Int, times: Float) -> Float:
    if not len(known):
        return np.zeros(0)
    place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    there = known[place] == keys
    return np.bincount(place[there], weights=times[there], minlength=len(known)).astype(np.float64)


def expectations(
    features: Features, chains: Chains, weights: Float, n_threads: int = 1, kernel: str | None = None
) -> tuple[Float, Float]:
    """log Z of every chain; and how often each feature is expected to fire, over all chains."""
    log_z = np.zeros(chains.n_chains)
    if HAS_KERNELS and kernel != "numpy":
        found = np.empty(len(features))
        kernels.chain_expectations(
            chains.offsets,
            chains.states.offsets,
            chains.states.ids,
            chains.pairs.offsets,
            chains.pairs.ids,
            chains.times,
            chains.groups,
            chains.allowed.reshape(-1),
            *features.arrays(),
            features.n_labels,
            weights,
            log_z,
            found,
            n_threads,
        )
        return log_z, found
    total = np.zeros(len(features))
    for s in range(chains.n_chains):
        log_z[s] = _expect(features, chains, s, weights, total)
    return log_z, total


def penalised(features: Features, pieces: Chains, seen: Float, c2: float, n_threads: int) -> Objective:
    """Σ times · log Z − Σ w · observed + c2 ‖w‖², and its gradient: expected − observed + 2 c2 w."""

    if not HAS_KERNELS:
        warnings.warn(
            "corate's compiled kernels are missing: weights are fitted in NumPy, a hundred times slower",
            RuntimeWarning,
            stacklevel=4,
        )

    def objective(weights: Float) -> tuple[float, Float]:
        log_z, gradient = expectations(features, pieces, weights, n_threads)
        gradient -= seen
        gradient += (2 * c2) * weights
        value = float(pieces.times @ log_z) - float(weights @ seen) + c2 * float(weights @ weights)
        return value, gradient

    return objective


def _expect(features: Features, chains: Chains, s: int, weights: Float, total: Float) -> float:
    """The reference: α and β in logarithms, one chain."""
    begin, end = int(chains.offsets[s]), int(chains.offsets[s + 1])
    if begin == end:
        return 0.0
    n = features.n_labels
    states, edges = position_scores(features, chains, weights, begin, end)
    alpha, beta = [states[0]], [np.zeros(n)]
    for k in range(1, end - begin):
        alpha.append(states[k] + np.logaddexp.reduce(alpha[-1][:, None] + edges[k], axis=0))
    for k in range(end - begin - 1, 0, -1):
        beta.append(np.logaddexp.reduce(edges[k] + states[k] + beta[-1], axis=1))
    beta.reverse()
    log_z = float(np.logaddexp.reduce(alpha[-1]))
    state, transition, pair = features.split(total)
    for k in range(end - begin):
        p = chains.times[s] * np.exp(alpha[k] + beta[k] - log_z)
        for a in _row(chains.states, begin + k):
            own = slice(int(features.state_offsets[a]), int(features.state_offsets[a + 1]))
            state[own] += p[features.state_labels[own]]
        if k:
            both = alpha[k - 1][:, None] + edges[k] + states[k] + beta[k] - log_z
            joint = chains.times[s] * np.exp(both)
            transition += joint[features.left, features.right]
            for a in _row(chains.pairs, begin + k):
                own = slice(int(features.pair_offsets[a]), int(features.pair_offsets[a + 1]))
                pair[own] += joint[features.pair_left[own], features.pair_right[own]]
    return log_z


def position_scores(
    features: Features, chains: Chains, weights: Float, begin: int, end: int
) -> tuple[Float, Float]:
    """Scores of labels at positions begin … end − 1; and of label pairs at the edge into each."""
    n = features.n_labels
    state, transition, pair = features.split(weights)
    states, edges = np.zeros((end - begin, n)), np.zeros((end - begin, n, n))
    edges[:, features.left, features.right] = transition
    for k in range(end - begin):
        for a in _row(chains.states, begin + k):
            own = slice(int(features.state_offsets[a]), int(features.state_offsets[a + 1]))
            states[k, features.state_labels[own]] += state[own]
        for a in _row(chains.pairs, begin + k):
            own = slice(int(features.pair_offsets[a]), int(features.pair_offsets[a + 1]))
            edges[k, features.pair_left[own], features.pair_right[own]] += pair[own]
        if len(chains.groups):
            states[k, chains.allowed[chains.groups[begin + k]] == 0] = -np.inf
    return states, edges


def _row(sparse: Sparse, position: int) -> list[int]:
    ids: list[int] = sparse.ids[sparse.offsets[position] : sparse.offsets[position + 1]].tolist()
    return ids


def state_scores(features: Features, states: Sparse, weights: Float) -> Float:
    """Positions × labels: Σ weights of the state features that fire."""
    n, n_positions = features.n_labels, len(states.offsets) - 1
    lengths = np.diff(features.state_offsets)[states.ids]
    rows = ragged_arange(features.state_offsets[:-1][states.ids], lengths)
    cells = np.repeat(states.owners, lengths) * n + features.state_labels[rows]
    found = np.bincount(cells, weights=weights[rows], minlength=n_positions * n)
    return found.astype(np.float64).reshape(n_positions, n)


def transition_scores(features: Features, weights: Float) -> Float:
    scores = np.zeros((features.n_labels, features.n_labels))
    scores[features.left, features.right] = features.split(weights)[1]
    return scores


def lattice(features: Features, chains: Chains, weights: Float) -> Lattice:
    """Every label at every position, with its scores."""
    n, n_positions = features.n_labels, chains.n_positions
    transitions = transition_scores(features, weights)
    sizes = np.zeros(n_positions, np.int64)
    right = chains.edges()
    own = right[np.diff(chains.pairs.offsets)[right] > 0]
    sizes[own] = n * n
    edges = offsets_of(sizes)
    blocks: Float = np.tile(transitions.reshape(-1), len(own))
    if len(own):
        pairs = chains.pairs.select(own)
        lengths = np.diff(features.pair_offsets)[pairs.ids]
        rows = ragged_arange(features.pair_offsets[:-1][pairs.ids], lengths)
        cells = np.repeat(pairs.owners, lengths) * n * n
        cells += features.pair_left[rows].astype(np.int64) * n + features.pair_right[rows]
        weight = features.split(weights)[2][rows]
        blocks += np.bincount(cells, weights=weight, minlength=len(blocks))
    return Lattice(
        chains.offsets,
        np.arange(n_positions + 1, dtype=np.int64) * n,
        np.tile(np.arange(n, dtype=np.int32), n_positions),
        state_scores(features, chains.states, weights).reshape(-1),
        transitions,
        edges,
        blocks,
    )
