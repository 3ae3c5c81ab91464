"""L-BFGS for objectives with an L1 penalty: most weights end at 0 (Andrew & Gao 2007, OWL-QN).

    F(w) = f(w) + c1 Σ |wᵢ|

f is smooth, |wᵢ| has a corner at 0. A step stays in the orthant where it began: there |wᵢ| = ξᵢ wᵢ is a line.

    ◇ᵢ = gᵢ + c1 sign(wᵢ);   at wᵢ = 0 whichever side leads down, gᵢ + c1 < 0 or gᵢ − c1 > 0, and else 0
    d  = −H ◇, without the parts that lead up;   ξᵢ = sign(wᵢ), at 0 sign(−◇ᵢ)
    w′ = w + t d, where the sign is still ξᵢ, and else 0;   t = 1, ½, ¼, … until F is lower
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator

import numpy as np

from corate.arrays import Float, dot
from corate.models.loglinear.lbfgs import MEMORIES, SLACK, Objective, Pair, Point, direction

LOWER = 1e-4  # of the fall that the slope promises, a step must have this part
MOST_HALVINGS = 40


def descend(objective: Objective, start: Point, c1: float) -> Iterator[Point]:
    """One point after another, each with F and ◇; it ends where no step leads further down."""
    point, pairs = start, deque[Pair](maxlen=MEMORIES)
    while True:
        slope = steepest(point, c1)
        yield Point(point.weights, total(point, c1), slope)
        found = step(objective, point, slope, pairs, c1)
        if found is None and pairs:  # what is remembered misleads: begin anew, downhill
            pairs.clear()
            found = step(objective, point, slope, pairs, c1)
        if found is None:
            return
        moved, change = found.weights - point.weights, found.gradient - point.gradient
        product = dot(moved, change)
        if product > SLACK * dot(change, change):
            pairs.append(Pair(moved, change, product))
        point = found


def total(point: Point, c1: float) -> float:
    """F(w)."""
    return point.value + c1 * float(np.add.reduce(np.abs(point.weights)))


def steepest(point: Point, c1: float) -> Float:
    """◇: the gradient of F, on the side of a corner that leads down."""
    corner = np.sign(point.gradient) * np.maximum(np.abs(point.gradient) - c1, 0.0)
    return np.where(point.weights == 0, corner, point.gradient + c1 * np.sign(point.weights))


def step(objective: Objective, point: Point, slope: Float, pairs: deque[Pair], c1: float) -> Point | None:
    """A lower point within the orthant, or None."""
    ahead = direction(slope, pairs)
    ahead = np.where(ahead * slope < 0, ahead, 0.0)
    orthant = np.where(point.weights == 0, -np.sign(slope), np.sign(point.weights))
    before, t = total(point, c1), 1.0
    for _ in range(MOST_HALVINGS):
        weights = point.weights + t * ahead
        weights = np.where(weights * orthant > 0, weights, 0.0)
        promised = dot(slope, weights - point.weights)
        if not promised < 0:
            return None
        found = Point(weights, *objective(weights))
        now = total(found, c1)
        if math.isfinite(now) and now < before and now <= before + LOWER * promised:
            return found
        t /= 2
    return None
