"""Why a cell has its value: the counts behind it, in words.

log P(row) = Σ over columns of [ log P(x) + Σₖ log CR(x; pₖ | p₁ … pₖ₋₁) ]
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from corate.contexts.template import quote
from corate.counts.counts import Counts
from corate.models.explanation import Explanation, Explanations, Reason, times
from corate.models.graph.conditionals import Conditional
from corate.models.graph.junction import NOT_GIVEN, Junction, States

UNSEEN = "(never seen)"


def explain_row(
    junction: Junction, conditionals: Mapping[str, Conditional], counts: Counts, states: States
) -> list[Explanation]:
    """One explanation a column, those with parents behind their parents."""
    names = junction.names
    whole, _ = junction.best(states[None])
    filled = np.where(states == NOT_GIVEN, whole[0], states)
    asked = np.repeat(filled[None], len(names), axis=0)
    np.fill_diagonal(asked, NOT_GIVEN)
    found, _ = junction.marginals(asked)
    vocabularies = {name: [*counts.vocabularies[quote(name)], UNSEEN] for name in names}
    said = {name: vocabularies[name][filled[k]] for k, name in enumerate(names)}
    explanations = []
    for k, name in enumerate(names):
        p = found[k][k].tolist()
        others = sorted(((q, -x) for x, q in enumerate(p) if x != filled[k] and q > 0), reverse=True)
        runner_up = (vocabularies[name][-others[0][1]], others[0][0]) if others else None
        value = said[name] + (" (filled in)" if states[k] == NOT_GIVEN else "")
        reasons = _reasons(name, conditionals[name], {n: int(filled[i]) for i, n in enumerate(names)}, said)
        explanations.append(Explanation(name, value, p[filled[k]], runner_up, reasons))
    return Explanations(explanations)


def _reasons(
    name: str, conditional: Conditional, place: Mapping[str, int], said: Mapping[str, str]
) -> list[Reason]:
    reasons, before = [], 0.0
    for k, (level, counted) in enumerate(zip(conditional.levels, conditional.counts, strict=True)):
        parents = conditional.ranked[:k]
        cell = tuple(place[each] for each in (*parents, name))
        p = float(level[cell])
        log_p = math.log(p) if p > 0 else -math.inf
        n, total = float(counted[cell]), float(counted[cell[:-1]].sum())
        of = (
            times(round(n), round(total)) if total >= 1 or not total else f"{n / total:.1%}"
        )  # IPF's are shares
        if not k:
            text = f"{name}={said[name]} in {of}"
        else:
            rate = math.exp(log_p - before) if math.isfinite(log_p - before) else 0.0
            given = " ".join(f"{each}={said[each]}" for each in parents)
            than = "its usual rate" if k == 1 else f"its rate without {parents[-1]}"
            text = f"{name}={said[name]} with {given} {of}, {rate:.2g}× {than}"
        reasons.append(Reason(text, log_p - before if math.isfinite(before) else 0.0))
        before = log_p
    return reasons
