"""Co-occurrence rates on graphs: what 003 says of trees, junction trees and loops, each claim as a check.

Distributions are drawn at random with the separations of a graph, in exact fractions. On trees and junction
trees the factors multiply to the joint probability. On a loop the product of P(x) and of CR(x; y) along its
edges does not: its sum over all values, Z, is not 1, and what it says diverges from the truth, the more the
stronger the edges are. Conditioning on one node of the loop makes it exact.
"""

from __future__ import annotations

import argparse
import math
import random
from fractions import Fraction
from itertools import product as combinations
from typing import Any

import networkx

from corate import InputError
from corate.graph import Derivation, Joint, Probability, Product, Rate, factorise
from lab import terminal
from lab.store import Record
from lab.tables import Table, figure

LENGTHS = (3, 4, 5, 6)
STRENGTHS = (2, 5, 20)  # how much more two neighbours like to be equal
N_GRAPHS = 15
EXACT = Fraction(1), 0.0  # Z, and the divergence
NOTES = """
Z: the sum of the product over all values, 1 if it is a distribution. Divergence: Kullback–Leibler, in bits,
of the joint distribution from the product, normalised. Checks are exact: a failure would be an error.
"""


def drawn(graph: Any, rng: random.Random, strength: int = 0) -> Joint:
    """A distribution with the graph's separations; `strength`: of equal neighbours, else all at random."""
    names = sorted(graph)
    cliques = [sorted(c) for c in (graph.edges if strength else networkx.find_cliques(graph))]
    cells = {}
    factors = []
    for clique in cliques:
        each = combinations("01", repeat=len(clique))
        factors.append({x: _weight(x, rng, strength) for x in each})
    tilt = {name: rng.randint(1, 3) for name in names}
    for x in combinations("01", repeat=len(names)):
        at = dict(zip(names, x, strict=True))
        weight = Fraction(math.prod(tilt[name] for name in names if at[name] == "1"))
        for clique, factor in zip(cliques, factors, strict=True):
            weight *= factor[tuple(at[name] for name in clique)]
        cells[x] = weight
    return Joint(names, cells)


def _weight(x: tuple[str, ...], rng: random.Random, strength: int) -> int:
    if not strength:
        return rng.randint(1, 9)
    return strength if len({*x}) == 1 else 1


def naive(graph: Any) -> Product:
    """∏ P(x) · ∏ CR(x; y), over nodes and edges."""
    factors: dict[Any, int] = {Probability((name,)): 1 for name in graph}
    return Product(factors | {Rate.of(*edge): 1 for edge in graph.edges})


def measures(product: Product, joint: Joint) -> tuple[Fraction, float]:
    """Z, and the divergence of the joint from the normalised product, in bits."""
    rows = [dict(zip(joint.names, x, strict=True)) for x in combinations("01", repeat=len(joint.names))]
    values = [Fraction(product.at(joint, row)) for row in rows]
    truth = [Fraction(joint.p(row)) for row in rows]
    total = sum(values, Fraction(0))
    return total, sum(float(p) * math.log2(p * total / q) for p, q in zip(truth, values, strict=True) if p)


def exact_everywhere(kind: str) -> dict[str, Any]:
    """The derivations of random graphs of a kind, every step held against the joint; how many, how large."""
    largest = 0
    for seed in range(N_GRAPHS):
        rng = random.Random(seed)
        n = rng.randint(3, 6)
        if kind == "tree":
            graph = networkx.random_labeled_tree(n, seed=seed)
        elif kind == "junction tree":
            graph, _ = networkx.complete_to_chordal_graph(networkx.gnp_random_graph(n, 0.5, seed=seed))
        else:
            graph = networkx.gnp_random_graph(n, 0.3, seed=seed)
            networkx.add_cycle(graph, range(n))
        graph = networkx.relabel_nodes(graph, {k: "abcdefg"[k] for k in graph})
        derivation = factorise(graph)
        joint = drawn(graph, rng)
        derivation.check(joint)
        if measures(derivation.product, joint) != EXACT:
            raise InputError(f"{kind} {seed}: the factors are no distribution")
        largest = max(largest, *(_size(factor) for factor in derivation.product.factors))
    return {"graphs": N_GRAPHS, "exact": True, "largest_factor": largest}


def _size(factor: Any) -> int:
    parts = factor.of if isinstance(factor, Probability) else [name for part in factor.parts for name in part]
    return len({*parts, *factor.given})


def loop(n: int, strength: int) -> dict[str, float]:
    """A ring: the naive product, and the ring conditioned on one of its nodes."""
    names = "abcdefgh"[:n]
    ring = networkx.relabel_nodes(networkx.cycle_graph(n), dict(enumerate(names)))
    joint = drawn(ring, random.Random(n), strength)
    z, bits = measures(naive(ring), joint)
    # A triangle is its own clique; the papers' conditioning takes it apart all the same.
    broken = Derivation(ring).condition("a").definition(list(names[1:]), "a")
    order = list(names[1:])
    while len(order) > 1:
        name = order.pop()
        broken.partition([name], [[each] for each in order], "a").single(name, "a")
        if len(order) > 1:
            broken.independence(Rate.of(name, order, given="a"), name, order[-1])
    broken.single(order, "a")
    broken.check(joint)
    exact = measures(broken.product, joint)
    if z == 1 or bits == 0 or exact != EXACT:
        raise InputError(f"a loop of {n}: Z = {z}, conditioned {exact[0]}")
    return {
        "n": n,
        "strength": strength,
        "z": float(z),
        "bits": bits,
        "z_conditioned": 1.0,
        "bits_conditioned": 0.0,
    }


def collect(options: argparse.Namespace) -> Record:
    return {
        "experiment": "graphs",
        "exact": {kind: exact_everywhere(kind) for kind in ("tree", "junction tree", "loops, conditioned")},
        "loops": [loop(n, strength) for strength in STRENGTHS for n in LENGTHS],
    }


def tables(found: Record) -> list[Table]:
    exact = [
        (kind, [figure(found, str, "exact", kind, key) for key in ("graphs", "exact", "largest_factor")])
        for kind in found["exact"]
    ]
    loops = [
        (
            f"{each['n']} nodes, ×{each['strength']}",
            [
                figure(found, "{:.4f}", "loops", k, key)
                for key in ("z", "bits", "z_conditioned", "bits_conditioned")
            ],
        )
        for k, each in enumerate(found["loops"])
    ]
    return [
        Table("Every step of a derivation, checked", ["", "graphs", "exact", "largest factor"], exact),
        Table(
            "Loops", ["", "Z", "divergence", "Z", "divergence"], loops,
            [("product of rates", 2), ("conditioned on a node", 2)],
        ),
    ]  # fmt: skip


def main() -> None:
    parser = terminal.arguments(__doc__, "experiments.graphs", data=terminal.OWN_DATA)
    terminal.show(parser, collect, tables, NOTES)


if __name__ == "__main__":
    terminal.run(main)
