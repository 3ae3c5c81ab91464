"""What tools/mutate.py changes in formulas: one operator, constant, comparison or index at a time."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent

# What is mutated.
PYTHON = [
    "counts",
    "rates",
    "lattice",
    "models/hmm.py",
    "models/counted.py",
    "models/empirical",
    "models/loglinear",
    "models/tagger",
    "storage",
]

OPERATORS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"), ast.Mod: ("%", "+"), ast.Pow: ("**", "*"), ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"), ast.BitAnd: ("&", "|"), ast.BitOr: ("|", "&"), ast.MatMult: ("@", "*"),
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.And: ("and", "or"), ast.Or: ("or", "and"),
}  # fmt: skip
CPP = {
    " + ": " - ", " - ": " + ", " * ": " / ", " < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ",
    " == ": " != ", " != ": " == ", " && ": " || ", " || ": " && ", "++": "--", " += ": " -= ",
    "[0]": "[1]", "+ 1]": "]", "- 1]": "]", " 0.0": " 1.0", " = 0;": " = 1;",
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    path: str  # below src/corate
    line: int
    begin: int  # in the file's bytes
    end: int
    old: str
    new: str
    text: str  # the line as it stands

    def apply(self, source: bytes) -> bytes:
        return source[: self.begin] + self.new.encode() + source[self.end :]


def python_mutants(path: Path, name: str) -> Iterator[Mutant]:
    source = path.read_bytes()
    starts = [0]
    for row in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(row))
    lines = source.decode().splitlines()

    def made(begin: int, end: int, new: str, line: int) -> Mutant:
        return Mutant(name, line, begin, end, source[begin:end].decode(), new, lines[line - 1].strip())

    def between(left: ast.expr, right: ast.expr, old: str, new: str) -> Iterator[Mutant]:
        begin = starts[(left.end_lineno or 1) - 1] + (left.end_col_offset or 0)
        gap = source[begin : starts[right.lineno - 1] + right.col_offset]
        place = gap.find(old.encode())
        if place >= 0:
            row = left.end_lineno or 1
            row += gap[:place].count(b"\n")
            yield made(begin + place, begin + place + len(old), new, row)

    def walk(node: ast.AST) -> Iterator[Mutant]:
        if isinstance(node, (ast.Raise, ast.Assert, ast.JoinedStr, ast.Import, ast.ImportFrom)):
            return
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            yield from between(node.left, node.right, *OPERATORS[type(node.op)])
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for a, op, b in zip(sides, node.ops, sides[1:], strict=False):
                if type(op) in OPERATORS:
                    yield from between(a, b, *OPERATORS[type(op)])
        if isinstance(node, ast.BoolOp):
            for a, b in zip(node.values, node.values[1:], strict=False):
                yield from between(a, b, *OPERATORS[type(node.op)])
        if isinstance(node, ast.AugAssign) and type(node.op) in OPERATORS:
            old, new = OPERATORS[type(node.op)]
            yield from between(node.target, node.value, old + "=", new + "=")
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Not, ast.Invert)):
            begin = starts[node.lineno - 1] + node.col_offset
            length = 4 if isinstance(node.op, ast.Not) else 1
            yield made(begin, begin + length, "", node.lineno)
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            begin = starts[node.lineno - 1] + node.col_offset
            end = starts[node.lineno - 1] + (node.end_col_offset or 0)
            yield made(begin, end, _another(node.value), node.lineno)
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "reshape":
            yield from walk(node.func)  # a −1 among its arguments is as good as a −2
            return
        for field, value in ast.iter_fields(node):
            if isinstance(node, ast.arguments) and field in ("defaults", "kw_defaults"):
                continue  # of threads, most of them: nothing depends on how many there are
            if field in ("annotation", "returns", "decorator_list", "type_comment"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from walk(child)

    yield from walk(ast.parse(source))


def _another(value: object) -> str:
    assert isinstance(value, (int, float))
    return str(value + 1) if isinstance(value, int) else repr(value * 2 + (not value))


def cpp_mutants(path: Path, name: str) -> Iterator[Mutant]:
    begin = 0
    for number, row in enumerate(path.read_bytes().splitlines(keepends=True), 1):
        code = row.split(b"//")[0]
        if not re.match(rb"\s*(#|template|namespace|using|struct|class|throw)", code):
            for old, new in CPP.items():
                for found in re.finditer(re.escape(old.encode()), code):
                    place = begin + found.start()
                    yield Mutant(name, number, place, place + len(old), old, new, row.decode().strip())
        begin += len(row)


def all_mutants(kind: str, only: str) -> list[Mutant]:
    package = ROOT / "src" / "corate"
    found: list[Mutant] = []
    if kind == "cpp":
        for path in sorted((package / "_native").rglob("*.h")):
            found += cpp_mutants(path, path.relative_to(package).as_posix())
    else:
        for part in PYTHON:
            place = package / part
            for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
                found += python_mutants(path, path.relative_to(package).as_posix())
    # Settings were chosen by measuring: no formula, and no test, says that they are right.
    return [mutant for mutant in found if only in mutant.path and "settings.py" not in mutant.path]


def statement(path: Path, line: int) -> tuple[int, int]:
    """The first and last line of the statement at a line; of one with a body, what comes before that."""
    found = (line, line)
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0):
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if body else node.end_lineno or 0
            if line <= last and not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                found = node.lineno, last
    return found
