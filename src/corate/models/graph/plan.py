"""Plan: which variables depend on which, and which tables have to be counted for it.

    P(x₁ … xₙ) = ∏ P(xᵢ | πᵢ)        πᵢ: the neighbours of xᵢ before it in a perfect order

On a chordal graph this is cliques over separators, and every {xᵢ} ∪ πᵢ lies within a clique. What is stored
of a plan needs no networkx to be used again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from corate.errors import InputError
from corate.models.graph.graphs import (
    Graph,
    cliques_of,
    conditioned,
    cutset,
    edges_of,
    is_chordal,
    parents_in,
    perfect_order,
    triangulated,
)

Clique = tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    parents: Mapping[str, Clique]  # of each variable, in the perfect order
    counted: tuple[Clique, ...]  # sets of two or more variables whose joint values are counted; sorted
    note: str = ""  # what was done about loops

    @classmethod
    def of(cls, graph: Graph, loops: str, sizes: Mapping[str, int]) -> Plan:
        """`sizes`: how many values each variable has."""
        if is_chordal(graph):
            whole, note = graph, ""
        elif loops == "condition":
            whole, held = conditioned(graph), cutset(graph)
            added = [e for e in edges_of(whole) if not graph.has_edge(*e)]
            note = f"loops are broken by conditioning on {', '.join(held)}: {_chords(added)}"
        else:
            whole = triangulated(graph, sizes)
            added = [e for e in edges_of(whole) if not graph.has_edge(*e)]
            note = f"loops are broken by chords: {_chords(added)}"
        counted = graph if loops == "ipf" else whole
        if loops == "ipf" and note:
            note = "loops stay; rates are fitted to the tables by iterative proportional fitting"
        cliques = tuple(clique for clique in cliques_of(counted) if len(clique) > 1)
        return cls(parents_in(whole, perfect_order(whole)), cliques, note)

    @property
    def columns(self) -> list[str]:
        return sorted(self.parents)

    @property
    def treewidth(self) -> int:
        return max(map(len, self.parents.values()))

    def home(self, name: str) -> Clique | None:
        """The counted clique that a variable lies in with its parents; None where there is none (IPF)."""
        wanted = {name, *self.parents[name]}
        fits = [clique for clique in self.counted if wanted <= {*clique}]
        return min(fits, key=lambda clique: (len(clique), clique), default=None)

    def describe(self, sizes: Mapping[str, int]) -> str:
        tables = sorted(((math.prod(sizes[n] for n in c), c) for c in self.counted), reverse=True)
        said = f"{len(self.parents)} columns, treewidth {self.treewidth}, {len(tables)} tables"
        if tables:
            cells, clique = tables[0]
            by = " × ".join(f"{name} ({sizes[name]:,})" for name in clique)
            said += f", the largest of {cells:,} cells: {by}"
        return f"{said}; {self.note}" if self.note else said

    def check_sizes(self, sizes: Mapping[str, int], most: int) -> None:
        """Refuse tables that are too large to be worked with."""
        for name, parents in self.parents.items():
            clique = sorted([name, *parents])
            cells = math.prod(sizes[each] + 1 for each in clique)
            if cells > most:
                by = " × ".join(f"{each} ({sizes[each]:,})" for each in clique)
                raise InputError(
                    f"the clique {by} has {cells:,} cells, and {most:,} are allowed: take an edge away, "
                    "group the values of its columns, or allow more with max_cells"
                )

    def to_json(self) -> dict[str, Any]:
        parents = [[name, *parents] for name, parents in self.parents.items()]
        return {"parents": parents, "counted": [list(clique) for clique in self.counted], "note": self.note}

    @classmethod
    def from_json(cls, found: Any) -> Plan:
        """What `to_json` gave, from outside; ValueError if it is no plan."""
        if not isinstance(found, dict) or {*found} != {"parents", "counted", "note"}:
            raise ValueError("there is no plan of the network")
        if not isinstance(found["note"], str) or not all(map(_are_names, found["parents"])):
            raise ValueError("the plan of the network is no plan")
        parents = {row[0]: tuple(row[1:]) for row in found["parents"]}
        counted = tuple(tuple(clique) for clique in found["counted"] if _are_names(clique))
        if not parents or len(parents) != len(found["parents"]) or len(counted) != len(found["counted"]):
            raise ValueError("the plan of the network repeats a column, or has none")
        place = {name: k for k, name in enumerate(parents)}
        for name, above in parents.items():
            places = [place.get(each, len(place)) for each in above]
            if places != sorted({*places}) or any(each >= place[name] for each in places):
                raise ValueError(f"the parents of {name!r:.60} are not columns before it")
            if above and not {*above[:-1]} <= {*parents[above[-1]]}:
                raise ValueError(f"the parents of {name!r:.60} are not neighbours of one another")
        for clique in counted:
            if list(clique) != sorted({*clique}) or len(clique) < 2 or not {*clique} <= {*parents}:
                raise ValueError(f"{clique!r:.60} is no set of columns")
        if list(counted) != sorted({*counted}):
            raise ValueError("the counted tables of the network repeat one, or are not sorted")
        return cls(parents, counted, found["note"])


def _are_names(row: Any) -> bool:
    return isinstance(row, list) and bool(row) and all(isinstance(name, str) for name in row)


def _chords(edges: Sequence[tuple[str, str]]) -> str:
    shown = ", ".join(f"{a}–{b}" for a, b in edges[:6]) + (", …" if len(edges) > 6 else "")
    return f"{len(edges)} more edge{'' if len(edges) == 1 else 's'} ({shown}), so larger tables are counted"
