"""A maximum entropy model of label pairs that looks at nothing else: its weights follow from counts.

    v(y, y′) = exp(w(y, y′)) / Z,   #(y, y′) = N v(y, y′) + 2 c2 w(y, y′)              at the optimum

Every edge has the same partition function Z. Given Z, each weight is a function of its pair's count alone,
and Z is the one number at which they sum to it: no pass over the data. Without a penalty v is P̃(y, y′), and a
pair that was never seen vanishes.
"""

from __future__ import annotations

import math

import numpy as np

from corate.arrays import Float, dot

VANISHING = (
    30.0  # by how much, in logarithms, an unseen pair lies below one seen once where nothing is penalised
)
NEWTON_STEPS = 60


def weights_of(counts: Float, n_unseen: int, c2: float) -> tuple[Float, float]:
    """Weights of the pairs that were seen, by their counts, and the objective; other pairs have weight 0."""
    total = float(counts.sum())
    if not total:
        return np.zeros(len(counts)), 0.0
    if c2 == 0:
        weights = np.log(counts) + VANISHING
        return weights, -dot(counts, np.log(counts / total))
    distinct, which, times = np.unique(counts, return_inverse=True, return_counts=True)

    def log_sum(z: float) -> float:
        """log Σ exp(w) over all pairs, for weights that follow from log Z = z."""
        sums = np.append(_solved(distinct, total, z, c2), 0.0)
        return float(np.logaddexp.reduce(sums + np.log(np.append(times, max(n_unseen, 1e-300)))))

    from scipy.optimize import brentq

    low = math.log(len(counts) + n_unseen)  # log Z of zeros; weights are positive, and so is what they add
    high = low + 1.0
    while log_sum(high) > high:
        high += high - low
    z = brentq(lambda z: log_sum(z) - z, low, high, xtol=1e-13) if log_sum(low) > low else low
    weights = _solved(distinct, total, z, c2)[which.reshape(-1)]
    return weights, total * z - dot(weights, counts) + c2 * dot(weights, weights)


def _solved(counts: Float, total: float, z: float, c2: float) -> Float:
    """The w of each count n: N exp(w − z) + 2 c2 w = n, by Newton's method from the right of the root."""
    w = np.minimum(counts / (2 * c2), np.maximum(np.log(counts / total) + z, 0.0))
    for _ in range(NEWTON_STEPS):
        share = total * np.exp(w - z)
        step = (share + 2 * c2 * w - counts) / (share + 2 * c2)
        w = w - step
        if np.abs(step).max() <= 1e-14 * max(1.0, float(np.abs(w).max())):
            break
    return w
