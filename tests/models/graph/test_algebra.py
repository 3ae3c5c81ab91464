"""The algebra of co-occurrence rates: every rewrite is exact where its condition holds, else refused."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from typing import Any

import networkx
import pytest

from corate import InputError
from corate.graph import Derivation, Joint, Product, Rate, factorise
from corate.models.graph.graphs import cutset
from random_graphs import random_graph


def random_joint(graph: Any, rng: random.Random) -> Joint:
    """A distribution that has the graph's separations: a product of positive factors of its cliques."""
    names = sorted(graph)
    cliques = [sorted(clique) for clique in networkx.find_cliques(graph)]
    factors = [{x: rng.randint(1, 9) for x in product("01", repeat=len(clique))} for clique in cliques]
    cells = {}
    for x in product("01", repeat=len(names)):
        weight = Fraction(1)
        for clique, factor in zip(cliques, factors, strict=True):
            weight *= factor[tuple(x[names.index(name)] for name in clique)]
        cells[x] = weight
    return Joint(names, cells)


def test_every_step_of_every_derivation_is_exact() -> None:
    """On 150 random graphs, with loops and without, of distributions that have their separations."""
    n_loops = 0
    for seed in range(150):
        rng = random.Random(seed)
        graph = random_graph(rng, 6)
        derivation = factorise(graph)
        derivation.check(random_joint(graph, rng))
        n_loops += bool(cutset(graph))
    assert n_loops > 20


@pytest.mark.parametrize("given", ["", "c"], ids=["", "given c"])
def test_theorems_that_hold_of_any_distribution(given: str) -> None:
    """Definition, partition, merge, duplicate, of conditional rates too; in a graph without a separation."""
    names = ["a", "b", "c", "d", "e"]
    graph = networkx.complete_graph(names)
    joint = random_joint(graph, random.Random(3))
    made = Derivation(graph)
    if given:
        made.condition(given)
    rest = [name for name in names if name != given]
    made.definition(rest, given)
    rate = Rate.of(*rest, given=given)
    made.merge(rate, rest[0], rest[1])
    whole = Rate.of(rest[:2], *rest[2:], given=given)
    made.duplicate(whole, rest[2])
    made.partition([rest[:2], rest[2]], [rest[2], *rest[3:]], given)
    made.check(joint)
    assert [step.theorem for step in made.steps[-4:]] == ["definition", "merge", "duplicate", "partition"]


def test_unconnected_nodes_merge_without_a_factor() -> None:
    graph = networkx.Graph([("a", "m"), ("m", "b"), ("c", "d")])
    joint = random_joint(graph, random.Random(1))
    made = Derivation(graph).condition("m").definition("a b c d", "m")
    made.unconnected(Rate.of("a", "b", "c", "d", given="m"), "a", "b")
    made.check(joint)
    assert "a ⟂ b | m" in str(made.steps[-1])


REFUSED = [
    (
        lambda d: d.independence(Rate.of("a", "b c d"), "a", "b"),
        "a ⟂ c d | b does not hold, a–d connects them",
    ),
    (
        lambda d: d.unconnected(Rate.of("a", "b", "c", "d"), "a", "c"),
        "a ⟂ c does not hold, a–b–c connects them",
    ),
    (lambda d: d.single("a b"), r"CR\(a b\) is no factor of"),
    (lambda d: d.merge(Rate.of("a", "b", "c", "d"), "a", "x"), r"x is no part of CR\(a; b; c; d\)"),
    (lambda d: d.partition(["a"], []), "give parts for both sides"),
    (lambda d: d.condition("x"), "no probability of x and more"),
]


@pytest.mark.parametrize(("rewrite", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_does_not_hold_is_refused(rewrite: Any, message: str) -> None:
    square = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
    made = Derivation(square).definition()
    if "b c d" in str(message) or "| b" in message:
        made.partition(["a"], ["b", "c", "d"])
    before = str(made)
    with pytest.raises(InputError, match=message):
        rewrite(made)
    assert str(made) == before


def test_a_check_fails_where_the_separation_is_not_there() -> None:
    """A derivation of a chain, held against a distribution that is none."""
    joint = Joint("abc", [("0", "0", "0"), ("1", "0", "1"), ("1", "1", "0"), ("0", "1", "1")])
    with pytest.raises(InputError, match=r"independence: .* where P is 1/4"):
        factorise([("a", "b"), ("b", "c")]).check(joint)


def test_bad_joints() -> None:
    for names, rows, message in (
        ("aa", [("0", "1")], "repeat a name"),
        ("ab", [("0",)], "1 values for 2 variables"),
        ("ab", [], "the table is empty"),
        ("ab", {("0", "1"): -1}, "-1 times"),
    ):
        with pytest.raises(InputError, match=message):
            Joint(names, rows)
    joint = Joint("ab", [("0", "1"), ("1", "1")])
    with pytest.raises(InputError, match="never occurs: nothing is known given it"):
        joint.p({"a": "0"}, {"b": "0"})
    with pytest.raises(InputError, match="no variable 'c'"):
        joint.p({"c": "0"})


def test_rates_by_hand() -> None:
    """Of the page docs/identities.md: 6/19 of (11/19 · 9/19)."""
    rows = [(x, y, "noun") for x in "aab" for y in "ccd"] + [(x, y, "verb") for x in "ab" for y in "cdddd"]
    joint = Joint(("x", "y", "z"), rows)
    assert joint.rate({"x": "a"}, {"z": "noun"}) == Fraction(6, 19) / (Fraction(11, 19) * Fraction(9, 19))
    assert joint.rate({"x": "a"}, {"y": "c"}, given={"z": "noun"}) == 1
    floats = Joint(("x", "y", "z"), {row: 1 / 19 * rows.count(row) for row in rows})
    assert floats.rate({"x": "a"}, {"z": "noun"}) == pytest.approx(114 / 99)
    assert Product({}).at(joint, {}) == 1
