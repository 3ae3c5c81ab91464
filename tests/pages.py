"""Pages of Markdown whose examples run: Python and shell, block after block, in one session and one folder.

A comment behind an expression that is a value is what the expression has to be, up to a colon. In a shell
block `$ ` begins a command, and the lines below are what it prints; blanks at the end of lines do not count.
"""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```", re.DOTALL | re.MULTILINE)
VALUE = re.compile(r"""  # (\[.*\]|\(.*\)|\{.*\}|'[^']*'|"[^"]*"|-?\d[\d.]*|True|False|None)(?=$|:)""")


class Compared(NamedTuple):
    """How many values, asserts and outputs of commands were compared with what the page says."""

    values: int
    outputs: int


def run_page(text: str, folder: Path) -> Compared:
    """Run the examples of a page in a folder that is the current one; AssertionError where one is untrue."""
    if not (folder / "src").exists():
        (folder / "src").symlink_to(ROOT / "src")  # where the sample is
    names: dict[str, object] = {}
    values = outputs = 0
    for kind, block in BLOCK.findall(text):
        if kind == "python":
            values += run_python(block, names)
        else:
            outputs += run_console(block, folder)
    return Compared(values, outputs)


def run_python(block: str, names: dict[str, object]) -> int:
    lines, n = block.splitlines(), 0
    for statement in ast.parse(block).body:
        said = VALUE.search(lines[(statement.end_lineno or statement.lineno) - 1])
        if isinstance(statement, ast.Expr) and said:
            found = eval(ast.unparse(statement), names)
            assert found == ast.literal_eval(said[1]), f"{ast.unparse(statement)} is {found}"
            n += 1
        else:
            exec(ast.unparse(statement), names)
            n += isinstance(statement, ast.Assert)
    return n


def run_console(block: str, folder: Path) -> int:
    corate = f'corate() {{ {shlex.quote(sys.executable)} -m corate "$@"; }}\n'
    examples = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
    for command, said in examples:
        done = subprocess.run(
            ["bash", "-c", corate + command],
            cwd=folder,
            env={**os.environ, "LC_ALL": "C.UTF-8"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=300,
            check=False,
        )
        assert _lines(done.stdout.decode()) == _lines(said), command
    return len(examples)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().split("\n")]
