"""Mutation testing: change one operator, constant, comparison or index of a formula; some test must fail.

    make mutants N=200 SEED=0            of the Python formulas
    make mutants N=20 SEED=0 KIND=cpp    of the kernels: each is a build, a minute or so

Mutants live in a copy of the source (build/mutants); the working tree is never changed. The parent imports
what tests import from elsewhere, and each mutant is a fork of it: a second instead of four. The tests that
look at the mutated file run (TESTS), quick ones first, and the first failure ends them; a mutant that lets
all pass survives.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import io
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
COPY = ROOT / "build" / "mutants"
SECONDS = ROOT / "build" / "mutants-seconds.json"  # of each test, when all last passed
OPTIONS = ["-xq", "-n0", "-pno:randomly", "-pno:cacheprovider", "-rfE", "--tb=no"]
TIMEOUT = 600  # seconds: a mutant that never ends is caught

# Which tests look at a file: the first pattern that its path begins with.
# A word after @ is what the names of estimators must have in them.
ESTIMATORS = "models/test_estimators.py"
TESTS = {
    "counts/": "counts models/test_empirical.py models/test_changes.py storage",
    "rates/empirical": f"models/test_empirical.py models/test_explain.py {ESTIMATORS}@EmpiricalCRF",
    "rates/": f"rates models/test_evidence.py models/test_tagger.py lattice {ESTIMATORS}@Tagger",
    "lattice/": f"lattice models/test_evidence.py models/test_tagger.py {ESTIMATORS}@fixed",
    "models/hmm": f"models/test_baselines.py models/test_explain.py {ESTIMATORS}@HMM",
    "models/counted": f"models/test_changes.py models/test_explain.py {ESTIMATORS}@HMM storage cli",
    "models/empirical/": "models/test_empirical.py models/test_exponential.py models/test_explain.py "
    f"{ESTIMATORS}@EmpiricalCRF",
    "models/loglinear/": "models/test_loglinear.py models/test_machines.py models/test_baselines.py "
    f"models/test_exponential.py {ESTIMATORS}@c2",
    "models/tagger/": "models/test_evidence.py models/test_weights.py models/test_tagger.py "
    f"models/test_explain.py models/test_changes.py models/test_machines.py {ESTIMATORS}@Tagger",
    "storage/": "storage cli",
    "_native/": "lattice rates counts contexts models/test_evidence.py models/test_loglinear.py "
    f"models/test_tagger.py {ESTIMATORS}@fixed",
}
PYTHON = [
    "counts",
    "rates",
    "lattice",
    "models/hmm.py",
    "models/counted.py",
    "models/empirical",
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
# But for plugins of pytest, which it must import itself.
FROM_ELSEWHERE = [
    "numpy",
    "scipy.optimize",
    "scipy.stats",
    "sklearn.base",
    "sklearn.linear_model",
    "sklearn.model_selection",
    "pycrfsuite",
    "pytest",
    "seqeval.metrics",
    "click",
    "rich.console",
]


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


FIELDS = [field.name for field in fields(Mutant)]

# What can be changed ---------------------------------------------------------------------------------


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
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, (int, float))
            and not isinstance(node.value, bool)
        ):
            begin = starts[node.lineno - 1] + node.col_offset
            end = starts[node.lineno - 1] + (node.end_col_offset or 0)
            new = (
                str(node.value + 1)
                if isinstance(node.value, int)
                else repr(node.value * 2 + (not node.value))
            )
            yield made(begin, end, new, node.lineno)
        for field, value in ast.iter_fields(node):
            if isinstance(node, ast.arguments) and field in ("defaults", "kw_defaults"):
                continue  # of threads, most of them: nothing depends on how many there are
            if field in ("annotation", "returns", "decorator_list", "type_comment"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from walk(child)

    yield from walk(ast.parse(source))


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


# Running tests on them -------------------------------------------------------------------------------


def tests_of(path: str) -> list[str]:
    named = next(tests for begin, tests in TESTS.items() if path.startswith(begin))
    return [f"tests/{test}" for test in named.split() if (ROOT / "tests" / test.split("@")[0]).exists()]


def copy_tree() -> None:
    """The source with its compiled kernels, and what tests read."""
    shutil.rmtree(COPY, ignore_errors=True)
    COPY.mkdir(parents=True)
    ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
    for path in ROOT.iterdir():
        if path.name[0] == "." or path.name == "build":
            continue
        if path.is_dir():
            shutil.copytree(path, COPY / path.name, ignore=ignored)
        else:
            shutil.copy(path, COPY / path.name)
    from corate._native import _kernels  # type: ignore[attr-defined,unused-ignore]

    shutil.copy(_kernels.__file__, COPY / "src" / "corate" / "_native")


def preload() -> None:
    """What tests import, but for corate itself."""
    for name in FROM_ELSEWHERE:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for name in [name for name in sys.modules if name.split(".")[0] == "corate"]:
        del sys.modules[name]
    # The editable install would find the files of the working tree.
    sys.meta_path[:] = [finder for finder in sys.meta_path if "Redirecting" not in type(finder).__name__]
    sys.path.insert(0, str(COPY / "src"))
    os.environ["PYTHONPATH"] = str(COPY / "src")
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.dont_write_bytecode = True


class QuickFirst:
    """A plugin of pytest: file after file as asked for, and in each the tests that were quickest before; how
    long each takes is written down."""

    def __init__(self, asked: list[str]) -> None:
        self.asked = [test.partition("@")[::2] for test in asked]
        self.seconds: dict[str, float] = json.loads(SECONDS.read_text()) if SECONDS.exists() else {}

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        kept = [(place, item) for item in items if (place := self._place(item.nodeid)) is not None]
        kept.sort(key=lambda pair: (pair[0], self.seconds.get(pair[1].nodeid, 0.0)))
        items[:] = [item for _, item in kept]

    def _place(self, name: str) -> int | None:
        places = (k for k, (path, word) in enumerate(self.asked) if name.startswith(path) and word in name)
        return next(places, None)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.passed:
            before = self.seconds.get(report.nodeid, 0.0) if report.when != "setup" else 0.0
            self.seconds[report.nodeid] = before + report.duration


def first_failure(tests: list[str], note: bool = False) -> str | None:
    """The test that fails first, in a fork of this process; None if all pass."""
    report = COPY / "report.txt"
    report.unlink(missing_ok=True)
    child = os.fork()
    if not child:
        os.setsid()
        os.chdir(COPY)
        signal.alarm(0 if note else TIMEOUT)
        with report.open("w") as out:
            os.dup2(out.fileno(), 1)
            os.dup2(out.fileno(), 2)
            import pytest

            order, paths = QuickFirst(tests), dict.fromkeys(test.split("@")[0] for test in tests)
            code = int(pytest.main([*OPTIONS, "--hypothesis-profile=mutants", *paths], plugins=[order]))
            if note:
                SECONDS.write_text(json.dumps(order.seconds))
            os._exit(code)
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if os.waitstatus_to_exitcode(status) == 0:
        return None
    lines = report.read_text(errors="replace").splitlines()
    said = [row for row in lines if row.startswith(("FAILED ", "ERROR "))]
    return (said[0] if said else f"exit {os.waitstatus_to_exitcode(status)}")[:160]


def build() -> bool:
    """Compile the copy's kernels; whether it went well."""
    done = subprocess.run(["cmake", "--build", str(COPY / "kernels")], capture_output=True)
    for made in (COPY / "kernels").glob("_kernels*.so"):
        shutil.copy(made, COPY / "src" / "corate" / "_native")
    return done.returncode == 0


def configure() -> None:
    nanobind = importlib.import_module("nanobind").cmake_dir()
    folders = ["-S", str(COPY), "-B", str(COPY / "kernels")]
    settings = {
        "CMAKE_BUILD_TYPE": "Release",
        "SKBUILD_PROJECT_NAME": "corate",
        "nanobind_DIR": nanobind,
        "Python_EXECUTABLE": sys.executable,
    }
    named = [f"-D{name}={value}" for name, value in settings.items()]
    subprocess.run(["cmake", *folders, *named], check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("-n", type=int, default=200, help="how many, of all that there are")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=("python", "cpp"), default="python")
    parser.add_argument("--only", default="", help="files whose path has this in it")
    parser.add_argument(
        "--seconds", type=float, default=float("inf"), help="begin no further one after these"
    )
    parser.add_argument("--skip", type=int, default=0, help="the first ones of the sample")
    parser.add_argument("--again", default="", help="a report (JSON): those that survived, once more")
    parser.add_argument("--trust", action="store_true", help="that all tests pass without a mutant")
    options = parser.parse_args()
    every = all_mutants(options.kind, options.only)
    sample = random.Random(options.seed).sample(every, min(options.n, len(every)))[options.skip :]
    if options.again:
        noted = json.loads(Path(options.again).read_text())
        sample = [Mutant(**{k: e[k] for k in FIELDS}) for e in noted if e["failure"] is None]
    copy_tree()
    if options.kind == "cpp":
        configure()
    preload()
    tests = sorted({test for mutant in sample for test in tests_of(mutant.path)})
    if not options.trust and (failure := first_failure(tests, note=True)):
        sys.exit(f"a test fails without any mutant: {failure}, see {COPY / 'report.txt'}")
    begun, results = time.monotonic(), []
    for k, mutant in enumerate(sample, 1):
        if time.monotonic() - begun > options.seconds:
            break
        path = COPY / "src" / "corate" / mutant.path
        original = path.read_bytes()
        path.write_bytes(mutant.apply(original))
        started = time.monotonic()
        if options.kind == "cpp" and not build():
            failure = "does not compile"
        else:
            failure = first_failure(tests_of(mutant.path))
        path.write_bytes(original)
        results.append(asdict(mutant) | {"failure": failure, "seconds": round(time.monotonic() - started, 1)})
        say(options.skip + k, options.skip + len(sample), mutant, failure, results[-1]["seconds"])
        (ROOT / "build" / f"mutants-{options.kind}.json").write_text(json.dumps(results, indent=1))
    caught = sum(result["failure"] is not None for result in results)
    print(f"{caught} of {len(results)} mutants caught, sampled from {len(every)}")


def say(k: int, n: int, mutant: Mutant, failure: str | None, seconds: Any) -> None:
    verdict = f"caught by {failure}" if failure else "SURVIVED"
    change = f"{mutant.old.strip()} → {mutant.new.strip() or 'nothing'}"
    out = io.StringIO()
    print(f"{k}/{n} {mutant.path}:{mutant.line}  {change}  in  {mutant.text}", file=out)
    print(f"      {verdict}  ({seconds} s)", file=out)
    print(out.getvalue(), end="", flush=True)


if __name__ == "__main__":
    main()
