"""Random graphs, of which a good part has loops without chords."""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

import networkx


def random_graph(rng: random.Random, most: int, least: int = 1) -> Any:
    """Nodes a, b, …; edges at random, or a ring with a few more."""
    names = list("abcdefghij"[: rng.randint(least, most)])
    graph = networkx.Graph()
    graph.add_nodes_from(names)
    density = rng.random()
    if len(names) > 3 and rng.random() < 0.5:
        ring = rng.sample(names, rng.randint(4, len(names)))
        networkx.add_cycle(graph, ring)
        density = 0.1
    graph.add_edges_from(edge for edge in combinations(names, 2) if rng.random() < density)
    return graph
