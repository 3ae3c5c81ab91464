"""The loop around an optimiser: a record of every step, rules for when to stop, Ctrl-C that keeps the best.

Log-linear models are fitted by L-BFGS. The rule to stop is CRFsuite's, so that times compare: less than a
hundred-thousandth gained over the last ten steps.
"""

from __future__ import annotations

import logging
import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from corate.arrays import Float
from corate.errors import ConvergenceWarning, InputError
from corate.models.loglinear import orthant
from corate.models.loglinear.lbfgs import Objective, Point, descend, norm

PERIOD, TOLERANCE = 10, 1e-5  # less than this part gained over so many steps ends the search
SMALL_GRADIENT = 1e-5  # its norm over that of the weights (1 at least) at an optimum; less if asked for less
NEARLY_FLAT = 1e-3  # the same ratio, where the search cannot get further

PATIENCE = 10  # steps without a better score of the development set that end the search

CONVERGED, LIMIT, INTERRUPTED = "converged", "limit", "interrupted"  # how a search ends

LOG = logging.getLogger("corate")
Report = Callable[[dict[str, Any]], object]  # told of every step


@dataclass
class Search:
    """Steps taken so far, and the best point among them."""

    max_iterations: int
    tolerance: float = TOLERANCE
    report: Report | None = None
    dev_score: Callable[[Float], float] | None = None  # of weights; the best point is that with the highest
    patience: int = PATIENCE
    log: list[dict[str, Any]] = field(default_factory=list)
    best: Float | None = None
    objective: float = math.inf
    started: float = field(default_factory=time.perf_counter)
    best_score: float = -math.inf
    best_step: int = 0
    ended: str = CONVERGED

    def step(self, weights: Float, value: float, gradient_norm: float) -> bool:
        """Write down a step; whether it was the last that is needed."""
        entry: dict[str, Any] = {
            "iteration": len(self.log),
            "objective": value,
            "gradient_norm": gradient_norm,
            "seconds": time.perf_counter() - self.started,
        }
        self.log.append(entry)
        better = value <= self.objective
        if self.dev_score is not None:
            entry["dev_score"] = score = self.dev_score(weights)
            better = score > self.best_score
            self.best_score = max(score, self.best_score)
        if better:
            self.best, self.objective, self.best_step = weights.copy(), value, len(self.log) - 1
        LOG.info(step_line(entry))
        if self.report is not None:
            self.report(entry)
        if self.dev_score is not None and len(self.log) - 1 - self.best_step >= self.patience:
            return True
        least = SMALL_GRADIENT * min(1.0, self.tolerance / TOLERANCE)
        if gradient_norm <= least * max(1.0, norm(weights)):
            return True
        if len(self.log) <= PERIOD:
            return False
        before = self.log[-1 - PERIOD]["objective"]
        return bool(before - value < self.tolerance * max(abs(value), np.finfo(float).tiny))


def step_line(entry: dict[str, Any]) -> str:
    """A step in words, as logs and progress have it; whatever else is known of it stands before the time."""
    known = {"iteration", "objective", "gradient_norm", "seconds", "factor"}
    more = [f"{name.replace('_', ' ')} {value:.6g}" for name, value in entry.items() if name not in known]
    factor = f"{entry['factor']} factor, " if "factor" in entry else ""
    numbers = f"objective {entry['objective']:,.4f}, gradient norm {entry['gradient_norm']:.4g}"
    return f"{factor}iteration {entry['iteration']}: {', '.join([numbers, *more])}, {entry['seconds']:.1f} s"


def minimise(objective: Objective, start: Float, search: Search, what: str, c1: float = 0.0) -> Float:
    """The weights with the least objective + c1 Σ |w|, by L-BFGS; `search` keeps the record."""

    def run() -> bool:
        with np.errstate(over="ignore", invalid="ignore"):
            value, gradient = objective(start)
        if not math.isfinite(value):
            raise InputError(f"{what}: the objective of the initial weights is {value}: give smaller ones")
        first = Point(start, value, gradient)
        for point in orthant.descend(objective, first, c1) if c1 else descend(objective, first):
            if search.step(point.weights, point.value, norm(point.gradient)):
                return True
            if len(search.log) > search.max_iterations:
                return False
        # A line search that fails is one at the limit of what the digits tell, if the slope is small.
        return norm(point.gradient) <= NEARLY_FLAT * max(1.0, norm(point.weights))

    return follow(run, search, start, what)


def follow(run: Callable[[], bool], search: Search, start: Float, what: str) -> Float:
    """Run a search to its end, to Ctrl-C or to its limit, and say which of them it was."""
    LOG.info("%s: %s weights to fit", what, f"{len(start):,}")
    try:
        converged = run()
    except KeyboardInterrupt:
        if search.best is None:
            raise
        converged, search.ended = True, INTERRUPTED
        warnings.warn(
            f"{what}: interrupted after {len(search.log) - 1} iterations; the best weights so far are kept",
            ConvergenceWarning,
            stacklevel=4,
        )
    if not converged:
        search.ended = LIMIT
        gain = search.log[-min(2, len(search.log))]["objective"] - search.log[-1]["objective"]
        warnings.warn(
            f"{what}: no convergence after {len(search.log) - 1} iterations (objective "
            f"{search.objective:.6g}, the last step gained {gain:.2g}): raise max_iterations",
            ConvergenceWarning,
            stacklevel=4,
        )
    return start if search.best is None else search.best
