"""Mutation testing: change one operator, constant, comparison or index of a formula; some test must fail.

    make mutants N=200 SEED=0            of the Python formulas
    make mutants N=20 SEED=0 KIND=cpp    of the kernels: each is a build, half a minute or so

Mutants live in a copy of the source (build/mutants); the working tree is never changed. All tests of ROOMS
run once without any, and it is noted how long each takes and which lines it executes. Then the tests that
execute the changed line run, quick ones first, as many as fit into ENOUGH seconds; the first failure ends
them, and a mutant that lets all pass survives. The parent imports what tests import from elsewhere, and each
mutant is a fork of it.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from bisect import bisect_right
from dataclasses import asdict, dataclass, fields
from itertools import accumulate
from pathlib import Path
from typing import Any

import coverage

from tools.equivalent import reason
from tools.mutants import ROOT, Mutant, all_mutants, statement

COPY = ROOT / "build" / "mutants"
CMAKE = str(Path(sys.executable).parent / "cmake")
NOTES = ROOT / "build" / "mutants-notes.json"
OPTIONS = [
    "-xq",
    "-n0",
    "-pno:randomly",
    "-pno:cacheprovider",
    "-rfE",
    "--tb=no",
    "--hypothesis-profile=mutants",
]
ENOUGH = 30  # seconds of tests, as they were when noted
ENDLESS = 4 * ENOUGH  # seconds of the processor: a mutant that never ends is caught
TIMEOUT = 600  # seconds, of one that waits for ever
FEW = 25  # tests that run before the others are even imported: they catch most
ROOMS = [f"tests/{room}" for room in ("contexts", "counts", "rates", "lattice", "models", "storage", "cli")]

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

FIELDS = [field.name for field in fields(Mutant)]

# Running tests on them -------------------------------------------------------------------------------


@dataclass
class Notes:
    """Of the tests of ROOMS, when all of them passed."""

    seconds: dict[str, float]  # of the processor
    lines: dict[str, dict[int, list[str]]]  # of a path and a line, the tests that execute it

    @classmethod
    def read(cls) -> Notes:
        noted = json.loads(NOTES.read_text())
        lines = {path: {int(k): v for k, v in at.items()} for path, at in noted["lines"].items()}
        return cls(noted["seconds"], lines)

    def tests_of(self, mutant: Mutant) -> list[str]:
        """Those of its statement, or else (of what imports execute) of its file; of a kernel, all."""
        executed = self.lines.get(mutant.path, {})
        if executed:
            first, last = statement(COPY / "src" / "corate" / mutant.path, mutant.line)
            found = {test for line in range(first, last + 1) for test in executed.get(line, [])}
            found = found or {test for tests in executed.values() for test in tests}
        else:
            found = set(self.seconds)
        room = "tests/" + mutant.path.removeprefix("_native/").split("/")[0]
        quick = sorted(found, key=lambda test: (self.seconds[test], test))
        spent = [*accumulate(self.seconds[test] for test in quick)]
        chosen = quick[: bisect_right(spent, ENOUGH)] or quick[:1]
        return sorted(chosen, key=lambda test: (self.seconds[test] > 1, not test.startswith(room)))


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


class Noting:
    """A plugin of pytest that notes how long tests take and which lines they execute."""

    def __init__(self) -> None:
        self.package = COPY / "src" / "corate"
        self.coverage = coverage.Coverage(data_file=None, include=[f"{self.package}/*"], messages=False)
        self.coverage.start()
        self.seconds: dict[str, float] = {}

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.coverage.switch_context(nodeid)
        self.begun = sum(os.times()[:4])

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.seconds[nodeid] = sum(os.times()[:4]) - self.begun

    def write(self) -> None:
        self.coverage.stop()
        data, lines = self.coverage.get_data(), {}
        for name in data.measured_files():
            by_line = {
                k: [test for test in tests if test] for k, tests in data.contexts_by_lineno(name).items()
            }
            lines[Path(name).relative_to(self.package).as_posix()] = by_line
        NOTES.write_text(json.dumps(asdict(Notes(self.seconds, lines))))


class InOrder:
    """A plugin of pytest: these tests in this order, and no others."""

    def __init__(self, tests: list[str]) -> None:
        self.place = {test: k for k, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = sorted((i for i in items if i.nodeid in self.place), key=lambda i: self.place[i.nodeid])


def first_failure(tests: list[str] | None) -> str | None:
    """The test that fails first, in a fork of this process; None if all pass. All of them are noted."""
    report = COPY / "report.txt"
    child = os.fork()
    if not child:
        os.setsid()
        os.chdir(COPY)
        if tests is not None:
            signal.alarm(TIMEOUT)
            resource.setrlimit(resource.RLIMIT_CPU, (ENDLESS, ENDLESS))
        with report.open("w") as out:
            os.dup2(out.fileno(), 1)
            os.dup2(out.fileno(), 2)
            import pytest

            if tests is None:
                noting = Noting()
                code = int(
                    pytest.main([*OPTIONS, *(room for room in ROOMS if Path(room).exists())], [noting])
                )
                if not code:
                    noting.write()
            else:
                files = dict.fromkeys(test.split("::")[0] for test in tests)
                code = int(pytest.main([*OPTIONS, *files], [InOrder(tests)]))
            os._exit(code)
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if os.waitstatus_to_exitcode(status) == 0:
        return None
    lines = report.read_text(errors="replace").splitlines()
    said = [row for row in lines if row.startswith(("FAILED ", "ERROR "))]
    return (said[0] if said else f"exit {os.waitstatus_to_exitcode(status)}")[:160]


def caught_by(tests: list[str]) -> str | None:
    return first_failure(tests[:FEW]) or (first_failure(tests[FEW:]) if tests[FEW:] else None)


def build() -> bool:
    """Compile the copy's kernels; whether it went well."""
    done = subprocess.run([CMAKE, "--build", str(COPY / "kernels")], capture_output=True)
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
    subprocess.run([CMAKE, *folders, *named], check=True, stdout=subprocess.DEVNULL)


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
    parser.add_argument("--trust", action="store_true", help="what was noted of tests before")
    options = parser.parse_args()
    found = all_mutants(options.kind, options.only)
    every = [mutant for mutant in found if reason(mutant) is None]
    sample = random.Random(options.seed).sample(every, min(options.n, len(every)))[options.skip :]
    if options.again:
        noted = json.loads(Path(options.again).read_text())
        sample = [Mutant(**{k: e[k] for k in FIELDS}) for e in noted if e["failure"] is None]
    copy_tree()
    if options.kind == "cpp":
        configure()
    preload()
    if not (options.trust and NOTES.exists()) and (failure := first_failure(None)):
        sys.exit(f"a test fails without any mutant: {failure}, see {COPY / 'report.txt'}")
    notes = Notes.read()
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
            failure = caught_by(notes.tests_of(mutant))
        path.write_bytes(original)
        results.append(asdict(mutant) | {"failure": failure, "seconds": round(time.monotonic() - started, 1)})
        say(options.skip + k, options.skip + len(sample), mutant, failure, results[-1]["seconds"])
        (ROOT / "build" / f"mutants-{options.kind}.json").write_text(json.dumps(results, indent=1))
    caught = sum(result["failure"] is not None for result in results)
    same = len(found) - len(every)
    print(f"{caught} of {len(results)} caught, sampled from {len(every)}; {same} equivalent ones left out")


def say(k: int, n: int, mutant: Mutant, failure: str | None, seconds: Any) -> None:
    verdict = f"caught by {failure}" if failure else "SURVIVED"
    change = f"{mutant.old.strip()} → {mutant.new.strip() or 'nothing'}"
    out = io.StringIO()
    print(f"{k}/{n} {mutant.path}:{mutant.line}  {change}  in  {mutant.text}", file=out)
    print(f"      {verdict}  ({seconds} s)", file=out)
    print(out.getvalue(), end="", flush=True)


if __name__ == "__main__":
    main()
