"""Graphs over variables: what users may give, loops and how they are taken away, perfect orders.

    given             edges, a networkx graph, "a–b–c" as a chain of names, {child: parent}
    chordal           every loop of four or more has a chord: cliques over separators is then exact
    triangulated      a graph with chords added; its cliques are what is counted
    conditioned       every loop is broken by nodes that are joined to all of it (003)
    perfect order     each variable's neighbours before it are neighbours of one another

networkx has the algorithms; nobody else imports it, and only when a graph is looked at.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any

from corate.errors import CorateError, InputError

Graph = Any  # networkx's, which has no types

LOOPS = ("triangulate", "condition", "ipf")
Edge = tuple[str, str]


def nx() -> Any:
    """networkx, which is an extra."""
    try:
        import networkx
    except ImportError:
        raise CorateError("graphs need networkx: pip install 'corate[graph]'") from None
    return networkx


def as_graph(given: Any, columns: Sequence[str] | None = None) -> Graph:
    """The graph that a user means; its nodes are `columns`, if those are known, or what edges name."""
    graph = nx().Graph()
    graph.add_nodes_from(columns or ())
    if given is None:
        return graph
    if isinstance(given, str):
        if given != "chain" or columns is None:
            raise InputError(f"graph={given!r:.60}: give edges, a networkx graph, parents or 'chain'")
        edges: list[Any] = [*pairwise(columns)]
    elif isinstance(given, Mapping):
        edges = _edges_of_parents(given)
    elif hasattr(given, "edges") and hasattr(given, "nodes"):
        if given.is_directed():
            raise InputError(
                "a directed graph: co-occurrence rates have no direction, give an undirected one"
            )
        if columns is None:
            graph.add_nodes_from(map(str, given.nodes))
        edges = list(given.edges)
        _check_known(map(str, given.nodes), columns)
    else:
        edges = _listed(given)
    for edge in edges:
        if isinstance(edge, str) or not isinstance(edge, Sequence) or len(edge) != 2:
            raise InputError(f"graph: {edge!r:.60} is no edge: give two columns each")
        a, b = map(str, edge)
        _check_known((a, b), columns)
        if a == b:
            raise InputError(f"graph: the edge {a!r}–{b!r} goes from a column to itself: leave it out")
        graph.add_edge(a, b)
    return graph


def _listed(given: Any) -> list[Any]:
    if not isinstance(given, Iterable):
        raise InputError(f"graph={given!r:.60}: give edges, a networkx graph, parents or 'chain'")
    return list(given)


def _check_known(names: Iterable[str], columns: Sequence[str] | None) -> None:
    if columns is None:
        return
    for name in names:
        if name not in columns:
            few = ", ".join(columns[:8]) + (", …" if len(columns) > 8 else "")
            raise InputError(f"graph: there is no column {name!r:.60}: the table has {few}")


def _edges_of_parents(parents: Mapping[Any, Any]) -> list[Edge]:
    """{child: parent}, None for a root; a cycle is no tree."""
    above = {str(child): None if parent is None else str(parent) for child, parent in parents.items()}
    for child in above:
        seen: list[str] = [child]
        step = above.get(child)
        while step is not None:
            if step in seen:
                around = " → ".join([*seen[seen.index(step) :], step])
                raise InputError(f"graph: the parents go round in a circle, {around}: a tree has none")
            seen.append(step)
            step = above.get(step)
    return [(child, parent) for child, parent in above.items() if parent is not None]


def edges_of(graph: Graph) -> tuple[Edge, ...]:
    """The one way to write edges."""
    return tuple(sorted((min(edge), max(edge)) for edge in graph.edges))


def is_chordal(graph: Graph) -> bool:
    return len(graph) < 4 or bool(nx().is_chordal(graph))


def cliques_of(graph: Graph) -> list[tuple[str, ...]]:
    """Maximal cliques, sorted."""
    return sorted(tuple(sorted(clique)) for clique in nx().find_cliques(graph))


def path_between(graph: Graph, one: Iterable[str], other: Iterable[str], without: Iterable[str]) -> list[str]:
    """A shortest path between two sets of nodes that avoids others; [] where there is none."""
    left = graph.subgraph({*graph} - {*without})
    ends = [(a, b) for a in sorted(one) for b in sorted(other) if a in left and b in left]
    paths = [list(nx().shortest_path(left, a, b)) for a, b in ends if nx().has_path(left, a, b)]
    return min(paths, key=len, default=[])


def cutset(graph: Graph) -> list[str]:
    """Nodes whose removal leaves a chordal graph: of each loop that has no chord, those of most edges."""
    held: list[str] = []
    for block in sorted(map(sorted, nx().biconnected_components(graph))):
        inside = graph.subgraph(block)
        while not is_chordal(inside):
            most = min(inside, key=lambda name: (-inside.degree(name), name))
            held.append(most)
            inside = inside.subgraph([name for name in inside if name != most])
    return sorted({*held})


def conditioned(graph: Graph) -> Graph:
    """Chordal: every block with a loop has its cut nodes joined to all of it (003)."""
    made = graph.copy()
    for block in map(sorted, nx().biconnected_components(graph)):
        held = cutset(graph.subgraph(block))
        made.add_edges_from((a, b) for a in held for b in block if a != b)
    return made


def triangulated(graph: Graph, sizes: Mapping[str, int]) -> Graph:
    """Chordal: with chords, found in two ways, of which the one with the smaller tables is taken."""
    if is_chordal(graph):
        return graph.copy()
    by_search, _ = nx().complete_to_chordal_graph(graph)
    _, bags = nx().approximation.treewidth_min_fill_in(graph)
    by_fill = graph.copy()
    by_fill.add_edges_from(edge for bag in bags for edge in combinations(sorted(bag), 2))
    return min((by_fill, by_search), key=lambda each: cells_of(cliques_of(each), sizes))


def cells_of(cliques: Iterable[Sequence[str]], sizes: Mapping[str, int]) -> int:
    return sum(math.prod(sizes[name] for name in clique) for clique in cliques)


def perfect_order(graph: Graph) -> list[str]:
    """Of a chordal graph: clique after clique along a junction tree, each clique's new variables by name."""
    cliques = cliques_of(graph)
    joined = nx().Graph()
    joined.add_nodes_from(range(len(cliques)))
    for (i, one), (j, other) in combinations(enumerate(cliques), 2):
        if common := len({*one} & {*other}):
            joined.add_edge(i, j, weight=common)
    tree = nx().maximum_spanning_tree(joined)
    order: dict[str, None] = {}
    for number in nx().dfs_preorder_nodes(tree) if len(tree) else ():
        order |= dict.fromkeys(cliques[number])
    for number in tree:  # nodes of other components, which the search above does not reach
        if not {*cliques[number]} <= {*order}:
            for further in nx().dfs_preorder_nodes(tree, number):
                order |= dict.fromkeys(cliques[further])
    return list(order)


def parents_in(graph: Graph, order: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Each variable's neighbours before it, in the order."""
    place = {name: k for k, name in enumerate(order)}
    return {
        name: tuple(sorted((n for n in graph[name] if place[n] < place[name]), key=place.__getitem__))
        for name in order
    }
