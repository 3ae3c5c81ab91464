"""Stochastic gradient with an L2 penalty (002 §II-C): a step after every sentence, shorter and shorter ones.

    w ← w − η (E[f | x] − f(x, y) + λ w),   λ = 2 c2 / steps of a pass,   η = η₀ / (1 + λ η₀ t)

after t steps. The objective is that of L-BFGS, −Σ log P(y | x) + c2 ‖w‖², of which each step sees a part.
η₀ is the best of some on the first sentences. Where there are many features, a step looks at more than one
sentence: it costs as much as there are weights.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice

import numpy as np

from corate.arrays import Float, Ids, dot
from corate.errors import InputError
from corate.models.loglinear.chains import Chains
from corate.models.loglinear.expectations import expectations, penalised
from corate.models.loglinear.features import Features, observed
from corate.models.loglinear.lbfgs import norm
from corate.models.loglinear.online import Step, passes, steps
from corate.models.loglinear.optimise import Search, follow

WHAT = "LinearChainCRF, l2sgd"
WEIGHTS_A_SENTENCE = 1 << 16
FIRST_RATE, TIMES = 0.1, 2.0  # the first η₀ that is tried, and what lies between two
TRIALS, SAMPLE = 10, 250  # of η₀, on so many steps


class Descent:
    """Weights on their way, and what the steps of a pass have seen."""

    def __init__(self, features: Features, start: Float, decay: float, rate: float) -> None:
        self.features, self.weights = features, start.copy()
        self.decay, self.rate, self.taken = decay, rate, 0  # λ, η₀, t

    def go(self, order: Sequence[Step]) -> tuple[float, Float]:
        """Take these steps; −log likelihood and its gradient, each part as the weights were by then."""
        loss, slope = 0.0, np.zeros(len(self.weights))
        for step in order:
            log_z, gradient = expectations(self.features, step.chains, self.weights)
            gradient[step.fired] -= step.times
            loss += float(log_z.sum()) - dot(self.weights[step.fired], step.times.astype(np.float64))
            slope += gradient
            rate = self.rate / (1 + self.decay * self.rate * self.taken)
            self.weights *= 1 - rate * self.decay
            self.weights -= rate * gradient
            self.taken += 1
        return loss, slope


def minimise(
    features: Features, chains: Chains, labels: Ids, c2: float, start: Float, search: Search, n_threads: int
) -> Float:
    """The weights after the pass with the least objective, as the pass saw it."""
    made = steps(features, chains, labels, 1 + len(features) // WEIGHTS_A_SENTENCE)
    decay = 2 * c2 / max(1, len(made))
    exact = penalised(features, chains, observed(features, chains, labels), c2, n_threads)

    def run() -> bool:
        with np.errstate(over="ignore", invalid="ignore"):
            value, slope = exact(start)
        if not math.isfinite(value):
            raise InputError(f"{WHAT}: the objective of the initial weights is {value}: give smaller ones")
        if search.step(start, value, norm(slope)):
            return True
        way = Descent(features, start, decay, best_rate(features, made, start, decay))
        for order in islice(passes(made), search.max_iterations):
            value, slope = way.go(order)
            slope += 2 * c2 * way.weights
            if search.step(way.weights, value + c2 * dot(way.weights, way.weights), norm(slope)):
                return True
        return False

    weights = follow(run, search, start, WHAT)
    search.objective = exact(weights)[0]
    return weights


def best_rate(features: Features, made: Sequence[Step], start: Float, decay: float) -> float:
    """The η₀ whose steps over some sentences end lowest: larger ones while they help, or smaller ones."""
    sample = made[:SAMPLE]

    def loss(rate: float) -> float:
        way = Descent(features, start, decay, rate)
        with np.errstate(over="ignore", invalid="ignore"):
            way.go(sample)
            found = Descent(features, way.weights, 0.0, 0.0).go(sample)[0]
        found += decay / 2 * len(sample) * dot(way.weights, way.weights)
        return found if np.isfinite(found) else np.inf

    rates = {FIRST_RATE: loss(FIRST_RATE)}
    for times in (TIMES, 1 / TIMES):
        rate = FIRST_RATE
        for _ in range(TRIALS):
            rate *= times
            rates[rate] = loss(rate)
            if rates[rate] > rates[rate / times]:
                break
    return min(rates, key=rates.__getitem__)
