"""Iterative proportional fitting: the maximum likelihood estimate of a graph with loops.

    q(x) ← q(x) · P̃(x_C) / q(x_C)      for every clique C of the graph, until all margins are those counted

q is kept as factors of a chordal graph around it, so that its margins are exact (junction.py). α is a number
of rows in which all columns are independent, added to those counted: margins still are those of one table.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping

import numpy as np

from corate.arrays import Float
from corate.counts.counts import Counts
from corate.errors import ConvergenceWarning, InputError
from corate.models.graph.conditionals import (
    Conditional,
    alone,
    conditional,
    dense,
    margin,
    sizes_of,
    table_name,
)
from corate.models.graph.junction import Junction
from corate.models.graph.plan import Clique, Plan

LOG = logging.getLogger("corate")
SWEEPS = 300
TOLERANCE = 1e-11
TINY = 1e-100  # a margin that is as good as none


def fitted(counts: Counts, plan: Plan, alpha: float) -> dict[str, Conditional]:
    """P(x | π) of the distribution that fits all counted tables."""
    sizes = sizes_of(counts, plan.columns)
    single = {name: dense(counts.tables[table_name((name,))], (sizes[name] + 1,)) for name in plan.columns}
    cliques = [*plan.counted, *((name,) for name in plan.columns if not any(name in c for c in plan.counted))]
    targets = {clique: _target(counts, clique, sizes, single, alpha) for clique in cliques}
    place = {name: k for k, name in enumerate(plan.parents)}
    homes = {clique: max(clique, key=place.__getitem__) for clique in cliques}  # has the others as parents
    factors = {
        name: np.ones([sizes[each] + 1 for each in (*parents, name)])
        for name, parents in plan.parents.items()
    }
    far = np.inf
    for sweep in range(1, SWEEPS + 1):
        far = 0.0
        for clique, target in targets.items():
            home = homes[clique]
            axes = (*plan.parents[home], home)
            belief = _beliefs(plan, factors)[place[home]]
            found = _onto(belief, axes, clique)
            far = max(far, float(np.abs(found - target).max()))
            ratio = np.divide(target, found, out=np.zeros_like(target), where=found > TINY)
            made = factors[home] * _spread(ratio, clique, axes)
            factors[home] = made / made.max() if made.max() > 0 else made
        LOG.info("sweep %d of at most %d: %.3g away from the counted tables", sweep, SWEEPS, far)
        if far < TOLERANCE:
            break
    else:
        warnings.warn(
            f"iterative proportional fitting ended {far:.1g} away from the counted tables after {SWEEPS} "
            "sweeps: with missing cells no table may fit them all",
            ConvergenceWarning,
            stacklevel=2,
        )
    beliefs = _beliefs(plan, factors)
    return {
        name: conditional(beliefs[place[name]], plan.parents[name], single[name], 0.0)
        for name in plan.parents
    }


def _beliefs(plan: Plan, factors: Mapping[str, Float]) -> list[Float]:
    """The joint of each variable with its parents; InputError where tables do not fit one another."""
    with np.errstate(all="ignore"):
        found = Junction(plan.parents, [*factors.values()]).beliefs()
    if not all(belief.any() and np.isfinite(belief).all() for belief in found):
        raise InputError("the counted tables contradict one another: loops='triangulate' takes them")
    return found


def _target(
    counts: Counts, clique: Clique, sizes: Mapping[str, int], single: Mapping[str, Float], alpha: float
) -> Float:
    """P̃ of a clique's values, with α rows of independent columns."""
    times = margin(counts, clique, clique, sizes)
    by_chance: Float = np.ones(())
    for name in clique:
        by_chance = by_chance[..., None] * alone(single[name], alpha)
    return np.asarray((times + alpha * by_chance) / (times.sum() + alpha))


def _onto(belief: Float, axes: Clique, clique: Clique) -> Float:
    """The margin of some axes, in the clique's order."""
    gone = tuple(k for k, name in enumerate(axes) if name not in clique)
    left = [name for name in axes if name in clique]
    return np.transpose(belief.sum(axis=gone), [left.index(name) for name in clique])


def _spread(ratio: Float, clique: Clique, axes: Clique) -> Float:
    left = [name for name in axes if name in clique]
    turned = np.transpose(ratio, [clique.index(name) for name in left])
    shape = [turned.shape[left.index(name)] if name in left else 1 for name in axes]
    return turned.reshape(shape)
