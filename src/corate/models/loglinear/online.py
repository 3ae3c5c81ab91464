"""Sentences one after another: what training that learns from each at once goes through.

Averaged perceptron and stochastic gradient (002 §II-C; perceptron.py, sgd.py) see a few sentences, change the
weights and go on. The order is drawn anew for every pass, the same on every machine.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from corate.arrays import Ids, Int
from corate.models.loglinear.chains import Chains
from corate.models.loglinear.features import Features, Firing

SEED = 0


@dataclass(frozen=True)
class Step:
    """A few sentences, their labels, and the features that fire in them: each, and how often."""

    chains: Chains
    labels: Ids
    fired: Int
    times: Int


def steps(features: Features, chains: Chains, labels: Ids, at_once: int = 1) -> list[Step]:
    """The sentences in order, so many a step; empty ones teach nothing."""
    firing = Firing(features)
    filled = np.flatnonzero(np.diff(chains.offsets))
    made = []
    for begin in range(0, len(filled), at_once):
        few = filled[begin : begin + at_once]
        some = chains.select(few)
        of_some = np.concatenate([labels[chains.offsets[s] : chains.offsets[s + 1]] for s in few])
        made.append(Step(some, of_some, *np.unique(firing(some, of_some), return_counts=True)))
    return made


def passes(made: list[Step]) -> Iterator[list[Step]]:
    """The same steps for ever, in another order each time."""
    rng, order = random.Random(SEED), list(range(len(made)))
    while True:
        rng.shuffle(order)
        yield [made[k] for k in order]
