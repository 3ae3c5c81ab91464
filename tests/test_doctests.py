"""The examples in docstrings run and print what they say."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import corate

PACKAGE = Path(corate.__file__).parent
WITH_EXAMPLES = [path for path in sorted(PACKAGE.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_examples(path: Path) -> None:
    """All of them: one that doctest does not find would not be run."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    module = importlib.import_module(".".join(part for part in parts if part != "__init__"))
    found = doctest.testmod(module)
    assert found.failed == 0
    assert found.attempted == path.read_text(encoding="utf-8").count(">>> ")


def test_most_models_have_an_example() -> None:
    assert len(WITH_EXAMPLES) >= 14
