"""Improved iterative scaling of chains: algorithms S and T (Lafferty et al. 2001; 004 §4.1 to §4.3).

Each step moves every weight by the δₖ that solves, all by itself,

    Ẽ[fₖ] = Σₜ aₖₜ exp(δₖ t) + 2 c2 (wₖ + δₖ)                                    004 eqns 61, 65

where aₖₜ is the expectation of fₖ over the chains x with T(x) = t, and T(x) = max_y f#(x, y) is the most
features that can fire in x. Algorithm T takes each chain's own T(x): a polynomial in exp δ. Algorithm S takes
S = max T(x) for all, as if a slack feature filled every chain up to S: without a penalty δ = log(Ẽ/E) / S.
The last term is that of the penalty c2 ‖w‖². Slow: kept for what it teaches, not for its speed.
"""

from __future__ import annotations

import numpy as np

from corate.arrays import Float, Int, dot
from corate.errors import InputError
from corate.lattice import decode
from corate.models.loglinear.chains import Chains
from corate.models.loglinear.expectations import expectations, lattice
from corate.models.loglinear.features import Features
from corate.models.loglinear.lbfgs import norm
from corate.models.loglinear.optimise import Search, follow

NEWTON_STEPS = 100
EXACT = 1e-13  # of the terms of the equation: what rounding leaves


def maximise(
    algorithm: str,
    features: Features,
    chains: Chains,
    seen: Float,
    c2: float,
    start: Float,
    search: Search,
    n_threads: int,
) -> Float:
    """Weights with the least penalised −log likelihood, by algorithm "iis-s" or "iis-t"."""
    if c2 == 0 and len(seen) and seen.min() == 0:
        raise InputError(
            f"{np.count_nonzero(seen == 0):,} features never fire, and without a penalty their weights fall "
            "for ever: give c2 above 0, or leave all_states and all_transitions out"
        )
    most = most_features(features, chains, n_threads)
    if algorithm == "iis-s":
        most = np.full(len(most), most.max(initial=0))
    groups = [(float(t), chains.select(np.flatnonzero(most == t))) for t in np.unique(most) if t]

    def run() -> bool:
        weights = start.copy()
        for _ in range(search.max_iterations + 1):
            value = c2 * dot(weights, weights) - dot(weights, seen)
            expected = []
            for _, group in groups:
                log_z, found = expectations(features, group, weights, n_threads)
                value += dot(group.times, log_z)
                expected.append(found)
            total = np.sum(expected, axis=0) if expected else np.zeros(len(seen))
            gradient = total - seen + 2 * c2 * weights
            if search.step(weights, value, norm(gradient)):
                return True
            weights = weights + solve([t for t, _ in groups], expected, seen, c2, weights)
        return False

    return follow(run, search, start, f"LinearChainCRF, {algorithm}")


def most_features(features: Features, chains: Chains, n_threads: int = 1) -> Int:
    """T(x) = max_y f#(x, y) of each chain: the best score when every weight is 1."""
    every = lattice(features, chains, np.ones(len(features)))
    return np.rint(decode.viterbi(every, n_threads).scores).astype(np.int64)


def solve(powers: list[float], expected: list[Float], seen: Float, c2: float, weights: Float) -> Float:
    """The δ of each feature, by Newton's method on g(δ) = Σₜ aₜ exp(δ t) + 2 c2 (w + δ) − Ẽ.

    g rises and is convex: from any point right of its root the steps fall towards it, and never beyond. Such
    a point is where the largest of the terms alone makes up for all.
    """
    lack = seen - 2 * c2 * weights  # Σ a exp(δ t) + 2 c2 δ = lack
    if not powers:
        return lack / (2 * c2) if c2 else np.zeros(len(seen))
    delta = np.full(len(seen), np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        for t, a in zip(powers, expected, strict=True):
            reach = np.log(np.where(lack > 0, lack, np.nan) / a) / t  # a exp(δ t) = lack
            delta = np.fmin(delta, np.where(a > 0, np.maximum(reach, 0.0), np.inf))
    if c2:  # 2 c2 δ ≤ lack wherever Σ a exp(δ t) ≥ 0
        delta = np.fmin(delta, np.maximum(lack / (2 * c2), 0.0))
    delta[~np.isfinite(delta)] = 0.0  # a feature that never fires, without a penalty, stays where it is
    for _ in range(NEWTON_STEPS):
        value, slope, size = 2 * c2 * delta - lack, np.full(len(seen), 2 * c2), np.abs(lack)
        for t, a in zip(powers, expected, strict=True):
            term = a * np.exp(delta * t)
            value, slope, size = value + term, slope + t * term, size + term
        step = np.divide(value, slope, out=np.zeros(len(seen)), where=slope > 0)
        delta = delta - step
        if (np.abs(value) <= EXACT * np.maximum(size, np.finfo(float).tiny)).all():
            break
    return delta
