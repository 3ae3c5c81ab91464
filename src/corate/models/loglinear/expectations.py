"""Partition functions and expectations of log-linear chains, and the lattices that they score.

log Z(x) = log Σ_y exp(Σₖ wₖ fₖ(x, y)),   E[fₖ] = ∂ log Z / ∂wₖ                 004 eqns 36, 39
"""

from __future__ import annotations

import numpy as np

from corate._native import kernels, native
from corate.arrays import Float, check_room, dot, offsets_of, ragged_arange
from corate.lattice.lattice import Lattice
from corate.models.loglinear.attributes import Sparse
from corate.models.loglinear.chains import Chains
from corate.models.loglinear.features import Features
from corate.models.loglinear.lbfgs import Objective


def expectations(
    features: Features, chains: Chains, weights: Float, n_threads: int = 1
) -> tuple[Float, Float]:
    """log Z of every chain; and how often each feature is expected to fire, over all chains."""
    if native():
        return kernels.chain_expectations(features.native, chains.native, weights, n_threads)
    log_z = np.zeros(chains.n_chains)
    total = np.zeros(len(features))
    for s in range(chains.n_chains):
        log_z[s] = _expect(features, chains, s, weights, total)
    return log_z, total


def penalised(features: Features, pieces: Chains, seen: Float, c2: float, n_threads: int) -> Objective:
    """Σ times · log Z − Σ w · observed + c2 ‖w‖², and its gradient: expected − observed + 2 c2 w."""

    def objective(weights: Float) -> tuple[float, Float]:
        log_z, gradient = expectations(features, pieces, weights, n_threads)
        gradient -= seen
        gradient += (2 * c2) * weights
        value = dot(pieces.times, log_z) - dot(weights, seen) + c2 * dot(weights, weights)
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
    check_room(n_positions * n + len(own) * n * n, f"{n:,} labels, or pairs of them, at every token")
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
