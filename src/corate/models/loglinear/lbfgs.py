"""L-BFGS that takes the same steps on every machine.

    d = −H g,   H from the last pairs s = w′ − w, y = g′ − g by two loops      Nocedal & Wright 2006, alg. 7.4
    w′ = w + t d,   t where the slope φ′(t) = d · g(w + t d) has become flatter, and φ is lower

SciPy's L-BFGS-B takes the same steps but sums by BLAS, in an order that is the CPU's. Every step makes such a
difference larger by a third, and a search that ends before the optimum, as ours and CRFsuite's do, keeps it:
after a hundred steps the weights of a CRF differed by 0.007 between core types. Here sums have one order.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from corate.arrays import Float, dot

Objective = Callable[[Float], tuple[float, Float]]  # value and gradient

MEMORIES = 6  # pairs of vectors that are remembered, as CRFsuite's
LOWER, FLATTER = 1e-3, 0.9  # Wolfe's conditions
NEAREST, FARTHEST, LONGEST = 1.1, 4.0, 1e10  # how far a step goes beyond the last one, and at most
NARROW = 0.1  # an interval of this part of its end tells no more
MOST_TRIALS = 20  # of one line search
SLACK = 4 * np.finfo(float).eps  # a pair with less curvature than this tells nothing of it


class Point(NamedTuple):
    """A vector of weights, its objective and its gradient."""

    weights: Float
    value: float
    gradient: Float


class Pair(NamedTuple):
    """What a step has told of the curvature: s, y and s · y."""

    moved: Float
    change: Float
    product: float


def descend(objective: Objective, start: Point) -> Iterator[Point]:
    """One point after another, from `start` on; it ends where no step leads further down."""
    point, pairs = start, deque[Pair](maxlen=MEMORIES)
    while True:
        yield point
        ahead = direction(point.gradient, pairs)
        found = line_search(objective, point, ahead)
        if found is None and pairs:  # what is remembered misleads: begin anew, downhill
            pairs.clear()
            found = line_search(objective, point, direction(point.gradient, pairs))
        if found is None:
            return
        moved, change = found.weights - point.weights, found.gradient - point.gradient
        product = dot(moved, change)
        if product > SLACK * dot(change, change):
            pairs.append(Pair(moved, change, product))
        if not found.value < point.value:
            yield found
            return
        point = found


def direction(gradient: Float, pairs: deque[Pair]) -> Float:
    """−H g; without a pair, a step of length 1 downhill."""
    if not pairs:
        return -gradient / max(norm(gradient), 1.0)
    ahead = -gradient
    shares = []
    for moved, change, product in reversed(pairs):
        shares.append(dot(moved, ahead) / product)
        ahead -= shares[-1] * change
    ahead *= pairs[-1].product / dot(pairs[-1].change, pairs[-1].change)
    for (moved, change, product), share in zip(pairs, reversed(shares), strict=True):
        ahead += (share - dot(change, ahead) / product) * moved
    return ahead


class Trial(NamedTuple):
    """A step along a direction: the objective there, and its slope."""

    t: float
    value: float
    slope: float

    def tilted(self, slope: float) -> Trial:
        return Trial(self.t, self.value - self.t * slope, self.slope - slope)


def line_search(objective: Objective, point: Point, ahead: Float) -> Point | None:
    """A point along `ahead` that satisfies Wolfe's conditions, or the best if no digit tells more; or None.

    Moré and Thuente's search (1994) with the constants of MINPACK-2's dcsrch, which is L-BFGS-B's too: the
    next trial is where a cubic through values and slopes is least, or where a line through two slopes is 0.
    """
    start = Trial(0.0, point.value, dot(point.gradient, ahead))
    required = LOWER * start.slope
    best = other = start
    bracketed, lower_seen = False, False
    least, most, width, before = 0.0, 1.0 + FARTHEST, LONGEST, 2 * LONGEST
    t = 1.0
    for _ in range(MOST_TRIALS if start.slope < 0 else 0):
        weights = point.weights + t * ahead
        value, gradient = objective(weights)
        if not math.isfinite(value):
            t = 0.5 * (best.t + t)
            continue
        here = Trial(t, value, dot(gradient, ahead))
        sufficient = value <= point.value + t * required
        at_the_end = bracketed and (not least < t < most or most - least <= NARROW * most)
        if (sufficient and abs(here.slope) <= -FLATTER * start.slope) or (at_the_end and t > 0):
            return Point(weights, value, gradient)
        lower_seen = lower_seen or (sufficient and here.slope >= 0)
        # Until a step is low enough, the line that says what is enough stands for the ground.
        tilt = required if not lower_seen and not sufficient and value <= best.value else 0.0
        tilted = best.tilted(tilt), other.tilted(tilt), here.tilted(tilt)
        t, bracketed = next_step(*tilted, bracketed, least, most)
        if tilted[2].value > tilted[0].value:
            other = here
        else:
            other = best if tilted[2].slope * tilted[0].slope < 0 else other
            best = here
        if bracketed:
            least, most = sorted((best.t, other.t))
            if most - least >= 0.66 * before:
                t = best.t + 0.5 * (other.t - best.t)
            before, width = width, most - least
        else:
            least, most = (t + far * (t - best.t) for far in (NEAREST, FARTHEST))
        t = min(t, LONGEST)
        if bracketed and (not least < t < most or most - least <= NARROW * most):
            t = best.t
        if not math.isfinite(t):
            return None
    return None


def next_step(
    best: Trial, other: Trial, here: Trial, bracketed: bool, least: float, most: float
) -> tuple[float, bool]:
    """The next trial, and whether a minimum is now known to lie between two (dcstep's four cases)."""
    if here.value > best.value:  # a minimum lies between
        t, line = cubic(best, here), parabola(best, here)
        return (t if abs(t - best.t) <= abs(line - best.t) else t + (line - t) / 2), True
    if here.slope * best.slope < 0:  # lower, and a minimum lies between
        t, line = cubic(here, best), secant(here, best)
        return (t if abs(t - here.t) > abs(line - here.t) else line), True
    bound = most if here.t > best.t else least
    if abs(here.slope) < abs(best.slope):  # lower and flatter
        t, line = cubic(here, best), secant(here, best)
        if not (t - here.t) * (best.t - here.t) < 0:
            t = bound
        if bracketed:
            t = t if abs(t - here.t) < abs(line - here.t) else line
            limit = here.t + 0.66 * (other.t - here.t)
            return (min(limit, t) if here.t > best.t else max(limit, t)), True
        t = t if abs(t - here.t) > abs(line - here.t) else line
        return min(max(t, least), most), False
    return (cubic(here, other) if bracketed else bound), bracketed  # lower and steeper


def cubic(a: Trial, b: Trial) -> float:
    """Where the cubic through two values and slopes is least, or nan."""
    theta = 3 * (a.value - b.value) / (b.t - a.t) + a.slope + b.slope
    s = max(abs(theta), abs(a.slope), abs(b.slope))
    gamma = s * math.sqrt(max(0.0, (theta / s) ** 2 - (a.slope / s) * (b.slope / s)))
    if not gamma:
        return math.nan
    gamma = gamma if b.t > a.t else -gamma
    q = ((gamma - a.slope) + gamma) + b.slope
    return a.t + ((gamma - a.slope) + theta) / q * (b.t - a.t) if q else math.nan


def parabola(a: Trial, b: Trial) -> float:
    """Where the parabola through two values and the slope at a is least."""
    return a.t + a.slope / ((a.value - b.value) / (b.t - a.t) + a.slope) / 2 * (b.t - a.t)


def secant(a: Trial, b: Trial) -> float:
    """Where the line through two slopes is 0."""
    return a.t + a.slope / (a.slope - b.slope) * (b.t - a.t)


def norm(vector: Float) -> float:
    return math.sqrt(dot(vector, vector))
