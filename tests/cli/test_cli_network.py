"""corate network: tables in, answers out, and one line for whatever is wrong."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from conftest import Cli

TABLE = "sky,road,month\nrain,wet,1\nsun,dry,1\nsun,dry,7\nrain,wet,7\nsnow,ice,1\nsun,wet,7\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(TABLE)
    return tmp_path


def test_a_whole_session(cli: Cli, folder: Path) -> None:
    assert cli("network", "train", "t.csv", "-m", "t.net").code == 0
    found = json.loads(cli("network", "query", "-m", "t.net", "road=ice, sky=?", "--json").out)
    assert [*found] == ["sky"]
    assert found["sky"]["snow"] > found["sky"]["sun"]
    Path("gaps.csv").write_text("note,sky,road\nq,snow,\n,NA,wet\n")
    rows = list(csv.reader(cli("network", "impute", "-m", "t.net", "gaps.csv").out.splitlines()))
    assert rows[:2] == [["note", "sky", "road"], ["q", "snow", "ice"]]
    assert rows[2][1] in ("rain", "sun")
    worst = json.loads(cli("network", "score", "-m", "t.net", "t.csv", "--top", "1", "--json").out)
    assert 1 <= worst["row"] <= 6
    assert "snow" in cli("network", "explain", "-m", "t.net", "sky=snow").out
    assert cli("network", "draw", "-m", "t.net", "-o", "t.svg").code == 0
    assert Path("t.svg").read_text().startswith("<svg")
    assert "treewidth 1" in cli("inspect", "t.net").out


def test_update_forget_and_merge(cli: Cli, folder: Path) -> None:
    head, *lines = TABLE.splitlines(keepends=True)
    Path("a.csv").write_text(head + "".join(lines[:4]))
    Path("b.csv").write_text(head + "".join(lines[4:]))
    Path("g.txt").write_text("sky road # an edge\nsky,month\n")
    graph = ("--graph", "g.txt")
    for name in ("t", "a", "b"):
        assert cli("network", "train", f"{name}.csv", "-m", f"{name}.net", *graph).code == 0
    whole = Path("t.net").read_bytes()
    assert cli("merge", "a.net", "b.net", "-o", "both.net").code == 0
    assert Path("both.net").read_bytes() == whole
    assert cli("network", "update", "a.net", "b.csv", "-o", "more.net").code == 0
    assert Path("more.net").read_bytes() == whole
    assert cli("network", "forget", "more.net", "b.csv").code == 0
    assert Path("more.net").read_bytes() == Path("a.net").read_bytes()
    assert "the same" in cli("diff", "a.net", "more.net").out


BAD = {
    "": "t.csv: the table is empty",
    "a,b\n": "t.csv: the table has no row",
    "a,b\n1,2\n3\n": "t.csv:3: 1 cells where the first line names 2 columns",
    "a,a\n1,2\n": "t.csv:1: two columns are called 'a'",
    "a,\n1,2\n": "t.csv:1: column 2 has no name",
    'a,b\n"1,2\n': "t.csv:2: no CSV",
    "a,b\nx,1\nx,2\n": "t.csv: column 'a' is 'x' in every row",
    "a,b\n" + "".join(f"{k / 7},{k % 2}\n" for k in range(40)): "t.csv: column 'a' has 40 different numbers",
}


@pytest.mark.parametrize("text", BAD, ids=BAD.get)
def test_bad_tables(cli: Cli, folder: Path, text: str) -> None:
    Path("t.csv").write_text(text)
    done = cli("network", "train", "t.csv", "-m", "t.net")
    assert done.code == 2
    assert done.err.startswith(BAD[text])
    assert done.err.count("\n") == 1
    assert not Path("t.net").exists()


def test_bad_commands(cli: Cli, folder: Path) -> None:
    cli("network", "train", "t.csv", "-m", "t.net")
    before = Path("t.net").read_bytes()
    Path("g.txt").write_text("sky moon\n")
    Path("u.csv").write_text("sky,moon\nsun,full\n")
    Path("x.txt").write_text("one two\n")
    for arguments, message in {
        (
            "network",
            "train",
            "t.csv",
            "-m",
            "t.net",
            "--graph",
            "g.txt",
        ): "t.csv: graph: there is no column 'moon'",
        ("network", "train", "t.csv", "-m", "t.net", "--drop", "moon"): "t.csv: there is no column 'moon'",
        ("network", "train", "nowhere.csv", "-m", "t.net"): "nowhere.csv: cannot be read",
        ("network", "query", "-m", "t.net", "sky"): "'sky' is neither column=value nor column=?",
        ("network", "query", "-m", "t.net", "sky=hail"): "sky='hail': training saw",
        ("network", "query", "-m", "t.net", "moon=?"): "the network has no column 'moon'",
        ("network", "update", "t.net", "u.csv"): "t.net: the network has no column 'moon'",
        ("network", "forget", "t.net", "t.csv"): "t.net: nothing would be left",
        ("network", "draw", "-m", "t.net", "-o", "t.png"): "t.png: pictures are SVG",
        ("tag", "-m", "t.net", "x.txt"): "t.net: a network of a table",
        ("explain", "-m", "t.net", "one two"): "t.net: a network of a table",
    }.items():
        done = cli(*arguments)
        assert (done.code, done.out) == (2, ""), arguments
        assert done.err.startswith(message), done.err
        assert done.err.count("\n") == 1
    assert Path("t.net").read_bytes() == before
