"""RateNetwork against enumeration in exact fractions, on random graphs with and without loops."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import combinations, pairwise, product
from typing import Any

import networkx
import numpy as np
import pytest

from corate import RateNetwork
from corate.models.graph.graphs import LOOPS
from random_graphs import random_graph

Row = tuple[str, ...]
N_GRAPHS = 1000
MOST_STATES = 200  # of all columns together, to be enumerated


def random_table(rng: random.Random) -> tuple[Any, dict[str, list[str]], list[Row]]:
    """A graph of up to 7 nodes, the values of each, and rows in which every value occurs."""
    graph = random_graph(rng, 7, 2)
    names = sorted(graph)
    domains = {name: ["0", "1"] for name in names}
    for name in names:
        if math.prod(map(len, domains.values())) * 1.5 <= MOST_STATES and rng.random() < 0.3:
            domains[name] = ["0", "1", "2"]
    rows: list[Row] = []
    for _ in range(rng.randint(6, 40)):
        base = rng.random()
        rows.append(tuple(values[int(len(values) * rng.random() * base)] for values in domains.values()))
    rows += [tuple(values[k % len(values)] for values in domains.values()) for k in range(3)]
    return graph, domains, rows


def cliques_over_separators(
    graph: Any, domains: dict[str, list[str]], rows: list[Row]
) -> dict[Row, Fraction]:
    """P(x) = ∏ P̃(clique) / ∏ P̃(separator), by networkx's junction tree."""
    names = list(domains)
    tree = networkx.junction_tree(graph)

    def p(nodes: tuple[str, ...], x: Row) -> Fraction:
        places = [names.index(node) for node in nodes]
        return Fraction(sum(all(row[k] == x[k] for k in places) for row in rows), len(rows))

    made = {}
    for x in product(*domains.values()):
        value = Fraction(1)
        for nodes, data in tree.nodes(data=True):
            if data["type"] == "clique":
                value *= p(nodes, x)
        if value:
            for nodes, data in tree.nodes(data=True):
                if data["type"] == "sepset":
                    value /= p(nodes, x) ** (tree.degree(nodes) - 1)  # one node for equal separators
        made[x] = value
    return made


def counted_graph(network: RateNetwork) -> Any:
    graph = networkx.Graph()
    graph.add_nodes_from(network.columns_)
    for clique in network.plan_.counted:
        graph.add_edges_from(combinations(clique, 2))
    return graph


@pytest.mark.parametrize("part", range(4))
def test_against_enumeration(part: int) -> None:
    """Probabilities, marginals, the best completion and conditional rates; Z = 1."""
    n_loops = 0
    for number in range(part * N_GRAPHS // 4, (part + 1) * N_GRAPHS // 4):
        rng = random.Random(number)
        graph, domains, rows = random_table(rng)
        loops = rng.choice(LOOPS[:2])
        network = RateNetwork(graph, alpha=0, loops=loops).fit(
            [dict(zip(domains, r, strict=True)) for r in rows]
        )
        chordal = counted_graph(network)
        assert networkx.is_chordal(chordal)
        assert all(chordal.has_edge(*edge) for edge in graph.edges)
        truth = cliques_over_separators(chordal, domains, rows)
        assert sum(truth.values()) == 1
        states = {name: [x[k] for x in truth] for k, name in enumerate(domains)}
        found = np.exp(network.log_prob(states))
        assert np.allclose(found, [float(p) for p in truth.values()], rtol=1e-12, atol=0)
        assert found.sum() == pytest.approx(1.0, abs=1e-12)
        check_questions(rng, network, domains, truth, rng.choice(rows))
        n_loops += not networkx.is_chordal(graph)
    assert n_loops > 50


def check_questions(
    rng: random.Random,
    network: RateNetwork,
    domains: dict[str, list[str]],
    truth: dict[Row, Fraction],
    row: Row,
) -> None:
    names = list(domains)

    def p(values: dict[str, str]) -> Fraction:
        wanted = [(names.index(name), value) for name, value in values.items()]
        return sum((q for x, q in truth.items() if all(x[k] == v for k, v in wanted)), Fraction(0))

    given = {name: row[k] for k, name in enumerate(names) if rng.random() < 0.4}
    below = p(given)
    for name, values in network.marginals(given).items():
        for value, q in values.items():
            assert q == pytest.approx(float(p({**given, name: value}) / below), abs=1e-12)
    others = [name for name in names if name not in given]
    best = network.map(given)
    assert [*best] == [name for name in network.plan_.parents if name in others]
    agree = [q for x, q in truth.items() if all(x[names.index(n)] == v for n, v in given.items())]
    assert float(p({**given, **best})) == pytest.approx(float(max(agree)), rel=1e-12)
    if len(others) > 1:
        a, b = ({name: row[names.index(name)]} for name in rng.sample(others, 2))
        rate = p({**given, **a, **b}) * below / (p({**given, **a}) * p({**given, **b}))
        assert network.rate(a, b, given=given) == pytest.approx(float(rate), rel=1e-11)


def test_ipf_is_the_closed_form_on_chordal_graphs() -> None:
    """…where the fitting itself is run: with loops it would be."""
    from corate.models.graph import ipf

    for number in range(60):
        graph, domains, rows = random_table(random.Random(number))
        chordal, _ = networkx.complete_to_chordal_graph(graph)
        table = {name: [row[k] for row in rows] for k, name in enumerate(domains)}
        network = RateNetwork(chordal, alpha=0).fit(table)
        fitted = ipf.fitted(network.counts_, network.plan_, 0.0)
        truth = network.log_prob(table)
        network._made().junction.factors = [fitted[name].p for name in network.plan_.parents]
        assert network.log_prob(table) == pytest.approx(truth, abs=1e-9)


def test_ipf_has_the_margins_that_were_counted_and_the_best_likelihood() -> None:
    """On loops: every edge's table is met, Z = 1, and no triangulated subset of the edges is better."""
    for number, n in enumerate((4, 5, 6)):
        rng = random.Random(number)
        names = list("abcdef"[:n])
        rows = [tuple(rng.choice("01") if rng.random() < 0.5 else "0" for _ in names) for _ in range(60)]
        table = {name: [row[k] for row in rows] for k, name in enumerate(names)}
        cycle = [*pairwise(names), (names[-1], names[0])]
        network = RateNetwork(cycle, loops="ipf", alpha=0).fit(table)
        assert [*network.plan_.counted] == sorted(tuple(sorted(edge)) for edge in cycle)
        for a, b in cycle:
            for x, y in product("01", repeat=2):
                share = sum(p == x and q == y for p, q in zip(table[a], table[b], strict=True)) / len(rows)
                p = math.exp(network.log_prob([{a: x, b: y}])[0])
                assert p == pytest.approx(share, abs=1e-9)
        tree = RateNetwork(cycle[:-1], alpha=0).fit(table)
        whole = RateNetwork(cycle, alpha=0).fit(table)
        assert tree.score(table) <= network.score(table) + 1e-12 <= whole.score(table) + 2e-12


def test_missing_cells_count_where_they_can() -> None:
    """A row counts for the factors whose columns it has."""
    rows = [
        ("1", "x", "p"),
        ("0", "y", "q"),
        ("0", None, "p"),
        (None, "x", "p"),
        ("1", "x", None),
        ("0", "x", "q"),
    ]
    network = RateNetwork([("a", "b"), ("b", "c")], alpha=0).fit(
        [dict(zip("abc", row, strict=True)) for row in rows]
    )
    tables = {name: int(table.n.sum()) for name, table in network.counts_.tables.items()}
    assert tables == {"y": 6, '"a".y': 5, '"b".y': 5, '"c".y': 5, '"a"."b".y': 4, '"b"."c".y': 4}
    every = list(product("01", "xy", "pq"))
    assert np.exp(network.log_prob([dict(zip("abc", x, strict=True)) for x in every])).sum() == pytest.approx(
        1
    )


def test_smoothing_is_that_of_rates() -> None:
    """By hand: P(x | p) = (# + a P(x)) / (# + a), a = α · values seen; unseen values share what is left."""
    table = {"p": list("uuuv"), "x": list("sstt")}
    network = RateNetwork([("p", "x")], alpha=1.5).fit(table)
    child = network.conditional("x")
    base = {value: Fraction(2 + 3 * Fraction(1, 3)) / (4 + 3) for value in "st"}
    assert child.levels[0][:2] == pytest.approx([float(base["s"]), float(base["t"])])
    u = (2 + 3 * base["s"]) / (3 + 3)
    assert child.p[0, 0] == pytest.approx(float(u))
    assert child.p[1, 0] == pytest.approx(float((0 + Fraction(3, 2) * base["s"]) / (1 + Fraction(3, 2))))
    assert child.p[2] == pytest.approx(child.levels[0])  # a parent's unseen value says nothing
    assert np.isfinite(network.log_prob([{"p": "w", "x": "?"}])).all()
    assert child.p.sum(axis=-1) == pytest.approx(1.0)


def test_samples_have_the_marginals() -> None:
    rng = random.Random(1)
    graph, domains, rows = random_table(rng)
    table = {name: [row[k] for row in rows] for k, name in enumerate(domains)}
    network = RateNetwork(graph).fit(table)
    first = next(iter(domains))
    value = table[first][0]
    drawn = network.sample(20_000, {first: value}, seed=3)
    assert {*drawn[first]} == {value}
    for name, expected in network.marginals({first: value}).items():
        for each, p in expected.items():
            assert drawn[name].count(each) / 20_000 == pytest.approx(p, abs=0.02)


def test_chow_liu_is_the_tree_of_most_information() -> None:
    """No other spanning tree of five columns gives the rows a higher likelihood."""
    rng = random.Random(5)
    names = list("abcde")
    rows = []
    for _ in range(80):
        a = rng.random() < 0.5
        cells = [
            a,
            a ^ (rng.random() < 0.2),
            rng.random() < 0.3,
            a ^ (rng.random() < 0.4),
            rng.random() < 0.5,
        ]
        rows.append(dict(zip(names, map(str, cells), strict=True)))
    learned = RateNetwork(alpha=0).fit(rows)
    best = -math.inf
    for edges in combinations(combinations(names, 2), 4):
        if networkx.is_tree(networkx.Graph(edges)):
            best = max(best, RateNetwork(edges, alpha=0).fit(rows).score(rows))
    assert learned.score(rows) == pytest.approx(best, abs=1e-12)


def test_a_further_parent_is_taken_where_it_pays() -> None:
    """x = a xor b: no pair tells anything, a triangle everything."""
    rng = random.Random(0)
    rows = []
    for _ in range(400):
        a, b = rng.random() < 0.5, rng.random() < 0.6
        near = b if rng.random() < 0.7 else not b
        rows.append({"a": a, "b": b, "near": near, "x": a ^ b})
    tree = RateNetwork().fit(rows[:300])
    wide = RateNetwork(treewidth=2).fit(rows[:300])
    alone = RateNetwork(structure="independent").fit(rows[:300])
    assert wide.plan_.treewidth <= 2
    assert wide.score(rows[300:]) >= tree.score(rows[300:]) - 1e-9 >= alone.score(rows[300:]) - 2e-9
