"""The averaged perceptron (Collins 2002; 002 §II-C): decode a sentence, learn from what was wrong.

    w ← w + f(x, y) − f(x, ŷ),   ŷ = argmax w · f(x, ·)          for one sentence after another
    the weights are the mean of all w on the way

No probability is fitted and nothing is penalised: scores tell which labels are best, not how sure they are.
"""

from __future__ import annotations

import math
from itertools import islice

import numpy as np

from corate.arrays import Float, Ids
from corate.lattice import decode
from corate.models.loglinear.chains import Chains
from corate.models.loglinear.expectations import lattice
from corate.models.loglinear.features import Features, Firing
from corate.models.loglinear.lbfgs import norm
from corate.models.loglinear.online import Step, passes, steps
from corate.models.loglinear.optimise import Search, follow


def learn(features: Features, chains: Chains, labels: Ids, start: Float, search: Search) -> Float:
    """The mean of the weights; the objective of a pass is how many labels were wrong in it."""
    made, firing = steps(features, chains, labels), Firing(features)

    def decoded(step: Step, weights: Float) -> Ids:
        scored = lattice(features, step.chains, weights)
        return decode.viterbi(scored).labels(scored)

    def run() -> bool:
        weights, lag, age = start.copy(), np.zeros(len(start)), 0  # mean = weights − lag / age
        wrong = sum(int(np.count_nonzero(decoded(step, start) != step.labels)) for step in made)
        if search.step(start, float(wrong), math.inf if wrong else 0.0):
            return True
        for order in islice(passes(made), search.max_iterations):
            before, wrong = weights.copy(), 0
            for step in order:
                found = decoded(step, weights)
                missed = int(np.count_nonzero(found != step.labels))
                if missed:
                    wrong += missed
                    weights[step.fired] += step.times
                    lag[step.fired] += age * step.times
                    fired, times = np.unique(firing(step.chains, found), return_counts=True)
                    weights[fired] -= times
                    lag[fired] -= age * times
                age += 1
            if search.step(weights - lag / age, float(wrong), norm(weights - before)):
                return True
        return False

    return follow(run, search, start, "LinearChainCRF, ap")
