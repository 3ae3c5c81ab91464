"""Filled tables: missing cells get values, and everything else stays as it came."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from corate.arrays import Ids
from corate.models.graph.junction import NOT_GIVEN, States
from corate.models.graph.rows import Rows, is_missing, text_of

Filled = Mapping[str, tuple[Ids, Sequence[str]]]  # the state of each row, and the values of the states


def filled(X: Any, states: States, order: Sequence[str], columns: Filled, names: Sequence[str]) -> Any:
    """A copy of X, in its shape, in which the missing cells of these columns have values."""
    gaps = {name: np.flatnonzero(states[:, k] == NOT_GIVEN).tolist() for k, name in enumerate(order)}

    def of(name: str, given: Sequence[Any]) -> list[Any]:
        made = list(given)
        found, values = columns[name]
        back = _typed(given, values)
        for i in gaps[name]:
            made[i] = back[int(found[i])]
        return made

    if hasattr(X, "columns") and hasattr(X, "iloc"):
        copy = X.copy()
        for label in X.columns:
            if str(label) in columns and gaps[str(label)]:
                copy[label] = of(str(label), X[label].tolist())
        return copy
    if isinstance(X, Rows):
        return {name: of(name, [v or None for v in X.columns[name].strings()]) for name in X.columns}
    if isinstance(X, Mapping):
        return {name: of(str(name), values) if str(name) in columns else values for name, values in X.items()}
    rows = list(X)
    if isinstance(rows[0], Mapping):
        made = [dict(row) for row in rows]
        for name in columns:
            for i, value in enumerate(of(name, [row.get(name) for row in rows])):
                if name in rows[i] or i in {*gaps[name]}:
                    made[i][name] = value
        return made
    by_name = {name: of(name, [row[k] for row in rows]) for k, name in enumerate(names)}
    return [type(row)(by_name[name][i] for name in names) for i, row in enumerate(rows)]


def _typed(given: Sequence[Any], values: Sequence[str]) -> list[Any]:
    """The values as the column has them: whole numbers where it has whole numbers, and so on."""
    seen = {text_of(value): value for value in given if not is_missing(value)}
    kinds = {type(value) for value in seen.values()}
    kind = kinds.pop() if len(kinds) == 1 else str
    made = []
    for value in values:
        if value in seen:
            made.append(seen[value])
        else:
            try:
                made.append(kind(value) if kind in (int, float, np.int64, np.float64) else value)
            except ValueError:
                made.append(value)
    return made
