"""The front door: README is short and its examples are true; what it and CONTRIBUTING name exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pages import ROOT, run_page

README, CONTRIBUTING = ROOT / "README.md", ROOT / "CONTRIBUTING.md"


def test_the_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    compared = run_page(README.read_text(encoding="utf-8"), tmp_path)
    assert compared.values >= 3
    assert compared.outputs >= 1


def test_untrue_examples_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    true = "```python\na = 1\n[[a]]  # [[1]]\n```\n```console\n$ echo a; echo b\na\nb\n$ true\n```\n"
    assert run_page(true, tmp_path) == (1, 2)
    for untrue in ("```python\n[[1]]  # [[2]]: so it says\n```\n", "```console\n$ echo a\nb\n```\n"):
        with pytest.raises(AssertionError):
            run_page(untrue, tmp_path)


def test_a_screen_and_a_half() -> None:
    lines = README.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 100
    assert max(map(len, lines)) <= 120


def test_files_that_are_named_exist() -> None:
    """Links of both, and the files of the package that CONTRIBUTING names."""
    guide = CONTRIBUTING.read_text(encoding="utf-8")
    for text in (README.read_text(encoding="utf-8"), guide):
        missing = [name for name in re.findall(r"\]\(([^)#:]+)[)#]", text) if not (ROOT / name).exists()]
        assert missing == []
    for name in re.findall(r"`([\w/.]+/[\w.]+\.(?:py|json|h|pyi))`", guide):
        somewhere = [ROOT / name, ROOT / "src" / "corate" / name]
        assert name.endswith("/yours.py") or any(path.exists() for path in somewhere), name


def test_the_floor_plan_has_every_room() -> None:
    """Every folder of the package, and every module of its layers, is in CONTRIBUTING's plan."""
    plan = CONTRIBUTING.read_text(encoding="utf-8").split("## The floor plan")[1].split("\n## ")[0]
    package = ROOT / "src" / "corate"
    rooms = [path.name for path in package.iterdir() if path.is_dir() and path.name != "__pycache__"]
    drawn = ("storage", "text", "contexts", "counts", "rates", "lattice", "models", "evaluation")
    modules = [path.stem for room in drawn for path in (package / room).rglob("*.py")]
    missing = [name for name in {*rooms, *modules} - {"__init__"} if not re.search(rf"\b{name}\b", plan)]
    assert missing == []
