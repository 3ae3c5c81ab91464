"""The loop around an optimiser: a record of every step, rules for when to stop, Ctrl-C that keeps the best.

Log-linear models are fitted by SciPy's L-BFGS-B. The rule to stop is CRFsuite's, so that times compare: less
than a hundred-thousandth gained over the last ten steps.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from corate.arrays import Float
from corate.errors import ConvergenceWarning, InputError
from corate.models.loglinear.expectations import Objective

PERIOD, TOLERANCE = 10, 1e-5  # less than this part gained over so many steps ends the search
SMALL_GRADIENT = 1e-5  # its norm over that of the weights (1 at least) at an optimum; less if asked for less
NEARLY_FLAT = 1e-3  # the same ratio, where the search cannot get further
LINE_SEARCH_FAILED = 2  # a status of SciPy's
MEMORIES = 6  # pairs of vectors that L-BFGS remembers, as CRFsuite's does

Report = Callable[[dict[str, Any]], object]  # told of every step


@dataclass
class Search:
    """Steps taken so far, and the best point among them."""

    max_iterations: int
    tolerance: float = TOLERANCE
    report: Report | None = None
    log: list[dict[str, Any]] = field(default_factory=list)
    best: Float | None = None
    objective: float = math.inf
    started: float = field(default_factory=time.perf_counter)

    def step(self, weights: Float, value: float, gradient_norm: float) -> bool:
        """Write down a step; whether it was the last that is needed."""
        entry = {
            "iteration": len(self.log),
            "objective": value,
            "gradient_norm": gradient_norm,
            "seconds": time.perf_counter() - self.started,
        }
        self.log.append(entry)
        if value <= self.objective:
            self.best, self.objective = weights.copy(), value
        if self.report is not None:
            self.report(entry)
        least = SMALL_GRADIENT * min(1.0, self.tolerance / TOLERANCE)
        if gradient_norm <= least * max(1.0, float(np.linalg.norm(weights))):
            return True
        if len(self.log) <= PERIOD:
            return False
        before = self.log[-1 - PERIOD]["objective"]
        return bool(before - value < self.tolerance * max(abs(value), np.finfo(float).tiny))


class _Done(Exception):  # noqa: N818 - no error
    """Raised out of SciPy's loop when the search may end."""


def minimise(objective: Objective, start: Float, search: Search, what: str) -> Float:
    """The weights with the least objective, by L-BFGS; `search` keeps the record."""
    from scipy.optimize import minimize

    last: tuple[Float, float, Float] | None = None

    def evaluate(weights: Float) -> tuple[float, Float]:
        nonlocal last
        value, gradient = objective(weights)
        last = weights.copy(), value, gradient
        return value, gradient

    def step(weights: Float) -> None:
        assert last is not None
        point = last if np.array_equal(last[0], weights) else (weights, *objective(weights))
        if search.step(point[0], point[1], float(np.linalg.norm(point[2]))):
            raise _Done

    def run() -> bool:
        with np.errstate(over="ignore", invalid="ignore"):
            value, gradient = evaluate(start)
        if not math.isfinite(value):
            raise InputError(f"{what}: the objective of the initial weights is {value}: give smaller ones")
        if search.step(start, value, float(np.linalg.norm(gradient))):
            return True
        # No rule of SciPy's own ends the search before ours does.
        options = {"maxiter": search.max_iterations, "maxfun": 20 * search.max_iterations, "maxcor": MEMORIES}
        found = minimize(
            evaluate,
            start,
            jac=True,
            method="L-BFGS-B",
            callback=step,
            options={**options, "ftol": 0.0, "gtol": 0.0},
        )
        # A line search that fails is one at the limit of what the digits tell, if the slope is small.
        slope = search.log[-1]["gradient_norm"] / max(1.0, float(np.linalg.norm(found.x)))
        return bool(found.success) or (found.status == LINE_SEARCH_FAILED and slope <= NEARLY_FLAT)

    return follow(run, search, start, what)


def follow(run: Callable[[], bool], search: Search, start: Float, what: str) -> Float:
    """Run a search to its end, to Ctrl-C or to its limit, and say which of them it was."""
    try:
        converged = run()
    except _Done:
        converged = True
    except KeyboardInterrupt:
        if search.best is None:
            raise
        converged = True
        warnings.warn(
            f"{what}: interrupted after {len(search.log) - 1} iterations; the best weights so far are kept",
            ConvergenceWarning,
            stacklevel=4,
        )
    if not converged:
        gain = search.log[-min(2, len(search.log))]["objective"] - search.log[-1]["objective"]
        warnings.warn(
            f"{what}: no convergence after {len(search.log) - 1} iterations (objective "
            f"{search.objective:.6g}, the last step gained {gain:.2g}): raise max_iterations",
            ConvergenceWarning,
            stacklevel=4,
        )
    return start if search.best is None else search.best
