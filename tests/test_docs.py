"""The pages in docs/ whose code runs, and what they point to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"


@pytest.mark.parametrize("name", ["identities.md"])
def test_the_code_of_a_page_runs(name: str) -> None:
    """Block after block, in one session: every `assert` of the page holds."""
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / name).read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) > 5
    assert sum(block.count("assert ") for block in blocks) > 10
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, name, "exec"), names)
