"""Which columns belong together: trees, and more edges while rows that were not counted gain by them.

tree          the maximum spanning tree of Σ P(x, y) log CR(x; y), which is mutual information (Chow–Liu)
treewidth k   a column gets a further parent, a neighbour of all the parents that it has, as long as the
              log-likelihood of held-out parts grows; their counts are subtracted from those of all rows
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from corate.arrays import Float, Ids, Int
from corate.models.graph.conditionals import conditional, mutual_information
from corate.models.graph.graphs import Graph, nx, parents_in

N_FOLDS = 5
STRUCTURES = ("tree", "independent")

Progress = Callable[[float], object]  # told which part of the work is done


class Codes:
    """Columns of a table as codes, 0 … values − 1, or −1 for a missing cell."""

    def __init__(self, names: Sequence[str], codes: Sequence[Ids], sizes: Sequence[int]) -> None:
        self.names, self.codes, self.sizes = list(names), list(codes), list(sizes)
        self.n_rows = len(codes[0])
        self.has_gaps = [bool((column < 0).any()) for column in codes]
        self.folds = [slice(k, None, N_FOLDS) for k in range(N_FOLDS)]  # tables are often sorted by something

    def key(self, columns: Sequence[int], extra: int = 0) -> tuple[Int, tuple[int, ...]]:
        """The cell of each row in the table of some columns, −1 where one is missing; and its shape."""
        shape = tuple(self.sizes[k] + extra for k in columns)
        key = self.codes[columns[0]].astype(np.int64)
        for k in columns[1:]:
            key *= self.sizes[k] + extra
            key += self.codes[k]
        gaps = [self.codes[k] < 0 for k in columns if self.has_gaps[k]]
        if gaps:
            key[np.logical_or.reduce(gaps)] = -1
        return key, shape

    def count(self, columns: Sequence[int]) -> Float:
        key, shape = self.key(columns)
        kept = key[key >= 0] if any(self.has_gaps[k] for k in columns) else key
        return np.bincount(kept, minlength=int(np.prod(shape))).astype(np.float64).reshape(shape)


def chow_liu(codes: Codes, progress: Progress | None = None) -> Graph:
    """The tree of columns with the largest sum of mutual information."""
    graph = nx().Graph()
    graph.add_nodes_from(codes.names)
    pairs = list(combinations(range(len(codes.names)), 2))
    for done, (a, b) in enumerate(pairs):
        weight = mutual_information(codes.count((a, b)))
        graph.add_edge(codes.names[a], codes.names[b], weight=weight)
        if progress is not None:
            progress((done + 1) / len(pairs))
    return nx().maximum_spanning_tree(graph)


def grown(
    tree: Graph, codes: Codes, treewidth: int, alpha: float, most: int, progress: Progress | None = None
) -> Graph:
    """The tree with further parents, up to a treewidth."""
    place = {name: k for k, name in enumerate(codes.names)}
    made = nx().Graph()
    order: list[str] = []
    for component in sorted(map(sorted, nx().connected_components(tree))):
        order += nx().dfs_preorder_nodes(tree, _centre(tree, component))
    first = parents_in(tree, order)
    for done, name in enumerate(order):
        made.add_node(name)
        parents = list(first[name])
        score = _held_out(codes, place[name], [place[p] for p in parents], alpha)
        if parents:  # an edge that does not pay is no edge
            without = _held_out(codes, place[name], [], alpha)
            if without >= score:
                parents, score = [], without
        while parents and len(parents) < treewidth:
            common = set.intersection(*({*made[p]} for p in parents)) - {name}
            tried = []
            for further in sorted(common):
                columns = [place[p] for p in (*parents, further)]
                if np.prod([codes.sizes[k] + 1 for k in (*columns, place[name])], dtype=float) <= most:
                    tried.append((_held_out(codes, place[name], columns, alpha), further))
            best = max(tried, default=None)
            if best is None or best[0] <= score:
                break
            score = best[0]
            parents.append(best[1])
        made.add_edges_from((name, parent) for parent in parents)
        if progress is not None:
            progress((done + 1) / len(order))
    return made


def _centre(tree: Graph, component: Sequence[str]) -> str:
    """The column with the most neighbours: what hangs on it can have it as a parent."""
    return min(component, key=lambda name: (-tree.degree(name), name))


def _held_out(codes: Codes, x: int, parents: Sequence[int], alpha: float) -> float:
    """Σ log P(x | parents) of all rows, each part of them seen by the counts of the rest."""
    columns = (*parents, x)
    key, shape = codes.key(columns, 1)
    alone, _ = codes.key((x,), 1)
    cells, values = int(np.prod(shape)), codes.sizes[x] + 1
    gaps = any(codes.has_gaps[k] for k in columns)
    parts = [key[fold][key[fold] >= 0] if gaps else key[fold] for fold in codes.folds]
    of_x = [alone[fold][alone[fold] >= 0] if gaps else alone[fold] for fold in codes.folds]
    counts = [np.bincount(part, minlength=cells).astype(np.float64) for part in parts]
    singles = [np.bincount(part, minlength=values).astype(np.float64) for part in of_x]
    whole, whole_singles = np.sum(counts, axis=0), np.sum(singles, axis=0)
    names = tuple(codes.names[k] for k in parents)
    score = 0.0
    for here, own in zip(counts, singles, strict=True):
        rest = (whole - here).reshape(shape)
        p = conditional(rest, names, whole_singles - own, alpha).p.ravel()
        used = here > 0
        with np.errstate(divide="ignore"):
            score += float(here[used] @ np.log(p[used]))
    return score
