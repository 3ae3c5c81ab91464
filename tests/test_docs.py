"""The pages in docs/: their examples run and are true, what they point to is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pages import PAGES, ROOT, run_page

DOCS = [page for page in PAGES if page.parent != ROOT]
RECORDS = ("benchmark.md", "findings.md")  # of what was measured: they have no examples
MADE = ROOT / "docs" / "reference" / "commands.md"  # by Sphinx


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix().removeprefix("docs/")


@pytest.mark.parametrize("page", [p for p in DOCS if p.name not in RECORDS and p != MADE], ids=name_of)
def test_the_examples(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert sum(run_page(page.read_text(encoding="utf-8"), tmp_path)) > 0


def test_the_identities_are_asserted() -> None:
    text = (ROOT / "docs" / "identities.md").read_text(encoding="utf-8")
    assert text.count("```python") > 5
    assert text.count("assert ") > 10


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links(page: Path) -> None:
    """Files that are pointed to exist, and so do headings."""
    for name, heading in re.findall(r"\]\(([^)#:]*)(?:#([^)]+))?\)", page.read_text(encoding="utf-8")):
        target = page.parent / name if name else page
        assert target.exists(), f"{page.name} points to {name}"
        if heading:
            titles = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            assert heading in [re.sub(r"[^\w -]", "", t.lower()).replace(" ", "-") for t in titles]


@pytest.mark.parametrize("page", [p for p in DOCS if p.name != "benchmark.md"], ids=name_of)
def test_lines_are_short(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > 150 and not line.startswith("|")] == []
