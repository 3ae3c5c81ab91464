"""A wheel is built and installed into an empty environment: what a newcomer does who has nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tools.wheel import ROOT, build_docs, build_wheel

IMPORT = """
import sys
import corate
assert not {"numpy", "scipy", "rich"} & {*sys.modules}, "import corate is light"
from corate._native import HAS_KERNELS
assert HAS_KERNELS
tagger = corate.load("pos.model")
assert tagger.predict([["The", "dog", "barked", "."]]) == [["DET", "NOUN", "VERB", "PUNCT"]]
print(corate.__file__)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    build_docs()
    return build_wheel(tmp_path_factory.mktemp("dist"))


def test_what_is_in_the_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    for wanted in ("docs/index.html", "docs/tutorials/names.html", "text/data/train.conll", "py.typed"):
        assert f"corate/{wanted}" in names
    assert any(
        name.startswith("corate/_native/_kernels.") and name.endswith((".so", ".pyd")) for name in names
    )
    assert [name for name in names if name.endswith((".cpp", ".h", ".doctree", ".map"))] == []
    assert {name.split("/")[0].split("-")[0] for name in names} == {"corate"}
    assert wheel.stat().st_size < 5_000_000


def test_a_newcomer(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
    pip = [str(home / "bin" / "pip"), "install", "-q", "--disable-pip-version-check", "--no-compile"]
    subprocess.run([*pip, str(wheel)], check=True)
    folder = tmp_path / "empty"
    folder.mkdir()

    def run(*command: str, text: str | None = None) -> str:
        env = {"PATH": f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
        done = subprocess.run(
            command, cwd=folder, env=env, input=text, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"
        return done.stdout

    assert "corate sample" in run("corate", "--help")
    run("corate", "sample")
    run("corate", "train", "--label", "2", "train.conll", "-m", "pos.model")
    (folder / "text.txt").write_text("The dog barked .\n")
    tagged = run("corate", "tag", "-m", "pos.model", "text.txt")
    assert tagged.split() == ["The", "DET", "dog", "NOUN", "barked", "VERB", ".", "PUNCT"]
    start = Path(run("corate", "docs", "start", "--print-path").strip())
    assert start.is_relative_to(home)
    assert "Five minutes" in start.read_text(encoding="utf-8")
    there = Path(run("python", "-c", IMPORT).strip())
    assert there.is_relative_to(home)
    assert not there.is_relative_to(ROOT)
