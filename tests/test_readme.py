"""The README's Python runs as it stands, and says what it prints."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"
PRINTED = re.compile(r"  # (\[\[.*\]\]|True|False)(?=$|:)")  # what a line's value is, as its comment has it


def compared(block: str) -> int:
    """Run a block, statement by statement; how many values were compared with what their comments say."""
    names: dict[str, object] = {}
    lines, n = block.splitlines(), 0
    for statement in ast.parse(block).body:
        said = PRINTED.search(lines[(statement.end_lineno or statement.lineno) - 1])
        if isinstance(statement, ast.Expr) and said:
            assert eval(ast.unparse(statement), names) == ast.literal_eval(said[1]), ast.unparse(statement)
            n += 1
        else:
            exec(ast.unparse(statement), names)
    return n


@pytest.mark.parametrize("document", [README, README.parent / "docs" / "changing.md"], ids=lambda d: d.name)
def test_the_python_of_documents(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", document.read_text(encoding="utf-8"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    assert compared(block) > 0


def test_what_a_comment_says_is_compared() -> None:
    assert compared("a = 1\n[[a]]  # [[1]]\n") == 1
    with pytest.raises(AssertionError):
        compared("[[1]]  # [[2]]")


def test_files_that_documents_name_exist() -> None:
    for document in (README, README.parent / "CONTRIBUTING.md"):
        for name in re.findall(r"\]\(([^)#:]+)\)", document.read_text(encoding="utf-8")):
            assert (README.parent / name).exists(), f"{document.name} points to {name}"
