"""Tables in every shape and in every bad shape; what networks learn can be changed, merged and forgotten."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pandas
import pytest

import corate
from corate import InputError, RateNetwork
from corate.storage.modelfile import to_bytes

SKY = ["rain", "sun", "sun", "rain", "snow", "sun"]
ROAD = ["wet", "dry", "dry", "wet", "ice", "wet"]
MONTH = [1, 1, 7, 7, 1, 7]
COLUMNS: dict[str, list[Any]] = {"sky": SKY, "road": ROAD, "month": MONTH}
ROWS = [dict(zip(COLUMNS, cells, strict=True)) for cells in zip(*COLUMNS.values(), strict=True)]


def saved(model: Any) -> bytes:
    return to_bytes(model._contents())


def random_rows(n: int, seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    return [
        {
            "a": rng.choice("xy"),
            "b": rng.choice("uvw"),
            "c": rng.choice([0, 1]),
            "d": rng.choice(["s", None, "t"]),
        }
        for _ in range(n)
    ]


def test_shapes_of_tables() -> None:
    """A DataFrame, columns, dicts and tuples are the same table."""
    one = saved(RateNetwork().fit(COLUMNS))
    assert saved(RateNetwork().fit(pandas.DataFrame(COLUMNS))) == one
    assert saved(RateNetwork().fit(pandas.DataFrame(COLUMNS).astype("category"))) == one
    assert saved(RateNetwork().fit(ROWS)) == one
    alone = RateNetwork(structure="independent")
    unnamed = alone.fit([tuple(row.values()) for row in ROWS])
    assert unnamed.columns_ == ["x1", "x2", "x3"]
    found = unnamed.log_prob([tuple(ROWS[0].values())])
    assert found == pytest.approx(alone.fit(ROWS).log_prob(ROWS[:1]))


@pytest.mark.parametrize("missing", [None, np.nan, "", pandas.NA, pandas.NaT], ids=repr)
def test_missing_cells(missing: Any) -> None:
    rows = [*ROWS, {"sky": missing, "road": "wet", "month": 7}]
    network = RateNetwork().fit(rows)
    assert saved(network) == saved(RateNetwork().fit([*ROWS, {"road": "wet", "month": 7}]))
    assert network.impute(rows)[:-1] == ROWS
    assert network.impute(rows)[-1]["sky"] == network.predict(rows[-1:], "sky")[0]


def test_imputed_tables_have_the_shape_and_the_types_that_came() -> None:
    network = RateNetwork().fit(COLUMNS)
    frame = pandas.DataFrame({**COLUMNS, "month": [1, None, 7, 7, None, 7]})
    filled = network.impute(frame)
    assert list(filled.columns) == list(frame.columns)
    assert filled["month"].tolist() == [1, 7, 7, 7, 1, 7]
    assert network.impute({"sky": ["snow"], "road": [None], "month": [1]}) == {
        "sky": ["snow"], "road": ["ice"], "month": [1]
    }  # fmt: skip
    assert network.impute([(1, "ice", None)]) == [(1, "ice", "snow")]
    together = network.impute([{"month": 1}], joint=True)
    assert together == [{"month": 1, **network.map({"month": 1})}]


def graphs() -> list[Any]:
    return [
        [("sky", "road"), ("sky", "month")],
        networkx.Graph([("sky", "road"), ("sky", "month")]),
        {"road": "sky", "month": "sky", "sky": None},
    ]


@pytest.mark.parametrize("graph", graphs(), ids=lambda graph: type(graph).__name__)
def test_graphs_that_are_given(graph: Any) -> None:
    network = RateNetwork(graph).fit(COLUMNS)
    assert network.edges_ == (("month", "sky"), ("road", "sky"))
    assert RateNetwork("chain").fit(COLUMNS).edges_ == (("month", "road"), ("road", "sky"))


BAD: list[tuple[Any, dict[str, Any], str]] = [
    ([("a", "b"), ("c",)], {}, "row 2 has 1 cells where row 1 has 2: rows must be equally long"),
    ({"a": ["x", "y"], "b": ["u"]}, {}, "column 'b' has 1 values and 'a' has 2"),
    ({"a": ["x", "y"], "b": ["u", "u"]}, {}, "column 'b' is 'u' in every row: leave it out"),
    ({"a": ["x", "y"], "b": [None, None]}, {}, "column 'b' has no value"),
    (
        {"id": [f"n{k}" for k in range(100_000)], "b": ["u", "v"] * 50_000},
        {},
        "column 'id' has 100,000 different",
    ),
    (
        {"a": [k / 8 for k in range(20)], "b": ["u", "v"] * 10},
        {},
        r"column 'a' has 20 different numbers.*numbers='bin'",
    ),
    ({"a": list(range(40)), "b": ["u", "v"] * 20}, {}, "column 'a' has 40 different numbers"),
    (COLUMNS, {"graph": [("sky", "moon")]}, "there is no column 'moon': the table has sky, road, month"),
    (
        COLUMNS,
        {"graph": {"sky": "road", "road": "month", "month": "sky"}},
        "sky → road → month → sky: a tree",
    ),
    (COLUMNS, {"graph": [("sky", "sky")]}, "from a column to itself"),
    (COLUMNS, {"graph": networkx.DiGraph([("sky", "road")])}, "directed graph"),
    (COLUMNS, {"graph": 3}, "graph=3: give edges"),
    (COLUMNS, {"graph": ["sky"]}, "'sky' is no edge"),
    (COLUMNS, {"max_cells": 8}, r"the clique .* has \d+ cells, and 8 are allowed"),
    (COLUMNS, {"structure": "forest"}, "structure='forest': choose from 'tree', 'independent'"),
    (COLUMNS, {"loops": "cut"}, "loops='cut'"),
    (COLUMNS, {"alpha": -1}, "alpha=-1"),
    (COLUMNS, {"numbers": 3}, "numbers=3"),
    (COLUMNS, {"treewidth": 0}, "treewidth=0"),
    ([], {}, "the table is empty"),
    ({}, {}, "the table has no column"),
    ("table.csv", {}, "'table.csv' is no table"),
    (["sky"], {}, "row 1, 'sky', is no row"),
    ({"a": [["x"], "y"], "b": ["u", "v"]}, {}, r"the cell \['x'\] is no value"),
]


@pytest.mark.parametrize(("table", "params", "message"), BAD, ids=[message for _, _, message in BAD])
def test_bad_tables(table: Any, params: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        RateNetwork(**params).fit(table)
    assert "\n" not in str(error.value)


ASKED: list[tuple[Callable[[RateNetwork], Any], str]] = [
    (lambda n: n.marginals({"moon": "full"}), "no column 'moon': it has month, road, sky"),
    (lambda n: n.marginals({"sky": "hail"}), "sky='hail': training saw rain, snow, sun"),
    (lambda n: n.predict(ROWS, "moon"), "no column 'moon'"),
    (lambda n: n.log_prob([("a", "b")]), "rows of 2 cells where the network has 3 columns"),
    (lambda n: n.partial_fit([{"moon": "full"}]), "no column 'moon'"),
    (
        lambda n: n.forget([{"sky": "sun", "road": "ice", "month": 1}]),
        "never learned.*month=1, road=ice, sky=sun",
    ),
    (lambda n: n.sample(0), "n=0: ask for at least one row"),
    (lambda n: n.draw("net.png"), "pictures are SVG"),
    (lambda n: n.prune(), "cannot be pruned"),
    (lambda n: n.marginals({"sky": "snow", "road": "dry"}), "row 1: what is given never occurs together"),
]


@pytest.mark.parametrize(("ask", "message"), ASKED, ids=[message for _, message in ASKED])
def test_bad_questions(ask: Callable[[RateNetwork], Any], message: str) -> None:
    network = RateNetwork(alpha=0).fit(COLUMNS)
    before = saved(network)
    with pytest.raises(InputError, match=message):
        ask(network)
    assert saved(network) == before


def test_numbers_are_binned_on_request() -> None:
    rng = random.Random(0)
    age = [rng.uniform(20, 80) for _ in range(200)]
    table = {"age": age, "old": ["yes" if a > 50 else "no" for a in age]}
    network = RateNetwork(numbers=("age",)).fit(table)
    assert "45.3…64" in network.values("age")
    assert network.marginals({"age": 79.5})["old"]["yes"] > 0.9
    assert saved(network) == saved(RateNetwork(numbers=("age",)).fit({**table, "age": [str(a) for a in age]}))


@pytest.mark.parametrize("params", [{}, {"loops": "ipf"}, {"ledger": False}], ids=repr)
def test_training_on_all_is_adding_is_merging_and_forgetting_undoes_it(params: dict[str, Any]) -> None:
    ring = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
    first, second = random_rows(60, 1), random_rows(40, 2)
    second[0]["b"] = "new"

    def fit(rows: Any) -> RateNetwork:
        return RateNetwork(ring, **params).fit(rows)

    whole = saved(fit([*first, *second]))
    assert saved(fit(first).partial_fit(second)) == whole
    assert saved(fit(first) + fit(second)) == saved(fit(second) + fit(first)) == whole
    assert saved(fit([*second, *first]).forget(second)) == saved(fit(first))


def test_networks_that_differ_do_not_merge(tmp_path: Path) -> None:
    one, other = RateNetwork("chain").fit(COLUMNS), RateNetwork(graphs()[0]).fit(COLUMNS)
    with pytest.raises(InputError, match="different graph do not merge"):
        one + other
    with pytest.raises(InputError, match="do not merge"):
        corate.merge(one, corate.HMM().fit([["a"]], [["X"]]))


def test_save_and_load(tmp_path: Path) -> None:
    network = RateNetwork(treewidth=2, numbers=("month",)).fit(COLUMNS)
    network.save(tmp_path / "a")
    loaded = corate.load(tmp_path / "a")
    loaded.save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert loaded.log_prob(ROWS) == pytest.approx(network.log_prob(ROWS), abs=0)
    data = (tmp_path / "a").read_bytes()
    for end in random.Random(0).sample(range(len(data)), 40):
        (tmp_path / "c").write_bytes(data[:end])
        with pytest.raises(corate.ModelFileError):
            corate.load(tmp_path / "c")


def test_explanations_add_up_to_the_probability() -> None:
    network = RateNetwork(treewidth=2).fit(random_rows(200, 0))
    row = {"a": "x", "b": "v", "c": 1, "d": "s"}
    told = network.explain(row)
    assert sum(reason.score for each in told for reason in each.reasons) == pytest.approx(
        network.log_prob([row])[0]
    )
    for each in told:
        rest = {name: value for name, value in row.items() if name != each.word}
        assert each.probability == pytest.approx(network.marginals(rest)[each.word][each.label])
    unknown = network.explain({"a": "x", "b": None, "c": 1, "d": "s"})
    assert [each.label.endswith("(filled in)") for each in unknown] == [each.word == "b" for each in unknown]


def test_anomalies() -> None:
    rows = [{"a": x, "b": x, "c": "0"} for x in "uv" for _ in range(50)] + [{"a": "u", "b": "v", "c": "1"}]
    network = RateNetwork([("a", "b")]).fit(rows)
    (worst,) = network.anomalies(rows, 1)
    assert (worst.row, worst.column, worst.value, worst.expected) == (100, "c", "1", "0")
    assert worst.log_prob == pytest.approx(network.log_prob(rows).min())


def test_a_picture(tmp_path: Path) -> None:
    import xml.etree.ElementTree as ElementTree

    table = {"<sky> & co": SKY, "road": ROAD, "month": MONTH}
    RateNetwork().fit(table).draw(tmp_path / "net.svg")
    root = ElementTree.parse(tmp_path / "net.svg").getroot()
    texts = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"<sky> & co", "road", "month"} <= {*texts}
    assert len([*root.iter("{http://www.w3.org/2000/svg}line")]) == 2
