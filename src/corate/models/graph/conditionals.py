"""Conditionals: P(x | π) of each variable, smoothed along back-off as rates are (rates/smoothed.py).

    P(x | p₁ … pₖ) = (#(p₁ … pₖ, x) + a · P(x | p₁ … pₖ₋₁)) / (#(p₁ … pₖ) + a),    a = α · (values seen)
    P(x)           = (#(x) + a / (values + 1)) / (# + a)

Parents are dropped the least informative one first. Every variable has one value more than training saw,
which stands for all others: it is never counted, so that α = 0 gives it nothing, and as a parent it says no
more than what is left when it is dropped. α = 0 is the closed form: cliques over separators.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from corate.arrays import Float
from corate.counts.counts import Counts
from corate.counts.table import Table
from corate.models.graph.plan import Clique, Plan


def table_name(columns: Sequence[str]) -> str:
    """The counts' table of some columns: `"age"."smoker".y`."""
    from corate.contexts.template import quote

    return ".".join([*map(quote, columns), "y"])


def sizes_of(counts: Counts, columns: Sequence[str]) -> dict[str, int]:
    """How many values of each column were counted."""
    from corate.contexts.template import quote

    return {name: len(counts.vocabularies[quote(name)]) for name in columns}


def dense(table: Table, shape: Sequence[int]) -> Float:
    """A table of counts as an array; the last place of each axis, that of unseen values, is empty."""
    key = np.ravel_multi_index(tuple(table.ids[:, : len(shape)].T), tuple(shape)) if len(table.n) else []
    cells = int(np.prod(shape))
    return np.bincount(np.asarray(key, np.int64), table.n, cells).astype(np.float64).reshape(shape)


@dataclass(frozen=True)
class Conditional:
    """P(x | parents) as an array, and what explains it."""

    parents: Clique
    p: Float  # parents' values × values of x
    ranked: Clique  # parents, the most informative one first
    levels: list[Float]  # P(x | the first k of `ranked`), k = 0 …
    counts: list[Float]  # the counts behind each


def smooth(times: Float, towards: Float, alpha: float) -> Float:
    """(# + a P) / (Σ # + a) along the last axis, a = α · (values seen); P where nothing was seen."""
    total = times.sum(axis=-1, keepdims=True)
    extra = alpha * np.count_nonzero(times, axis=-1, keepdims=True)
    seen = total > 0
    below = np.where(seen, total + extra, 1.0)
    return np.asarray(np.where(seen, (times + extra * towards) / below, towards))


def alone(times: Float, alpha: float) -> Float:
    """P(x) of one variable's counts."""
    return smooth(times, np.full(len(times), 1 / len(times)), alpha)


def conditional(times: Float, parents: Clique, singles: Float, alpha: float) -> Conditional:
    """From #(parents …, x), and #(x) over all rows that have x."""
    n = len(parents)
    information = [mutual_information(times.sum(axis=tuple(j for j in range(n) if j != k))) for k in range(n)]
    order = sorted(range(n), key=lambda k: (-information[k], parents[k]))
    levels, counts = [alone(singles, alpha)], [singles]
    turned = np.transpose(times, [*order, n])
    for k in range(1, n + 1):
        part = turned.sum(axis=tuple(range(k, n)))
        levels.append(smooth(part, levels[-1][..., None, :], alpha))
        counts.append(part)
    p = np.ascontiguousarray(np.transpose(levels[-1], [*np.argsort(order).tolist(), n]))
    return Conditional(parents, p, tuple(parents[k] for k in order), levels, counts)


def mutual_information(times: Float) -> float:
    """Σ P(x, y) log CR(x; y), in nats, of a table of counts."""
    total = times.sum()
    if not total:
        return 0.0
    expected = times.sum(axis=1, keepdims=True) * times.sum(axis=0, keepdims=True) / total
    here = times > 0
    return float((times[here] * np.log(times[here] / expected[here])).sum() / total)


def conditionals(counts: Counts, plan: Plan, alpha: float) -> dict[str, Conditional]:
    """Of a plan whose cliques hold every variable with its parents."""
    sizes = sizes_of(counts, plan.columns)
    made = {}
    for name, parents in plan.parents.items():
        home = plan.home(name) or (name,)
        times = margin(counts, home, (*parents, name), sizes)
        singles = dense(counts.tables[table_name((name,))], (sizes[name] + 1,))
        made[name] = conditional(times, parents, singles, alpha)
    return made


def margin(counts: Counts, clique: Clique, wanted: Clique, sizes: Mapping[str, int]) -> Float:
    """#(wanted …) from the table of a clique that has them, in their order."""
    table = counts.tables[table_name(clique)]
    places = [clique.index(name) for name in wanted]
    part = Table(table.ids[:, places], table.n)
    return dense(part, [sizes[name] + 1 for name in wanted])
