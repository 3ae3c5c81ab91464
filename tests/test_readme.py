"""The README's Python runs as it stands, and says what it prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"


@pytest.mark.parametrize("document", [README, README.parent / "docs" / "changing.md"], ids=lambda d: d.name)
def test_the_python_of_documents(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", document.read_text(encoding="utf-8"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(block, names)
    for call, printed in re.findall(r"^(crf\.predict\(.*?\)) +# (\[\[.*\]\])$", block, re.MULTILINE):
        assert repr(eval(call, names)) == printed


def test_files_that_documents_name_exist() -> None:
    for document in (README, README.parent / "CONTRIBUTING.md"):
        for name in re.findall(r"\]\(([^)#:]+)\)", document.read_text(encoding="utf-8")):
            assert (README.parent / name).exists(), f"{document.name} points to {name}"
