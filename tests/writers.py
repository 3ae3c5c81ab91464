"""Commands that write a model file, run in forked processes that can be killed, traced and starved."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from corate.cli import run as corate
from corate.text.sample import FOLDER

SECONDS = 120.0  # whatever takes longer hangs

Action = Callable[[], int]

# NumPy's threads are no obstacle to a fork here: the child computes little, and OpenBLAS starts them anew.
FORKS = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


@dataclass(frozen=True)
class Done:
    code: int  # negative: ended by a signal
    err: str


# One command, and what it makes of a file ------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A command that turns the old file into the new one."""

    name: str
    arguments: list[str]
    model: Path
    old: bytes
    new: bytes

    def begin(self) -> None:
        self.model.write_bytes(self.old)

    def prepare(self) -> None:
        """Once in this process: whatever is to be imported is then there. And from the start again."""
        self.begin()
        assert self() == 0
        self.begin()

    def __call__(self) -> int:
        return corate(self.arguments)

    def check(self, done: Done) -> str:
        """Whether the file is the old or the new one, and all was told as it should be."""
        data = self.model.read_bytes()
        assert data in (self.old, self.new), f"{self.name}: the file is neither the old nor the new model"
        if done.code == 0:
            assert data == self.new, f"{self.name}: exit code 0, and yet the old file"
        if done.code > 0:
            assert done.err.count("\n") == 1, f"{self.name}: {done}"
            assert "Traceback" not in done.err, f"{self.name}: {done}"
        else:
            assert not done.err, f"{self.name}: {done}"
        return "new" if data == self.new else "old"

    def check_next(self) -> None:
        """Nobody holds a lock, and the next save leaves the new file and no other."""
        with self.model.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.begin()
        done = in_child(self)
        assert (self.check(done), done.code) == ("new", 0), f"{self.name}: the next one fails: {done}"
        assert not strays(self.model.parent), f"{self.name}: stray files are left"


def strays(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.endswith(".tmp")]


def cases(folder: Path, small: bool = False) -> list[Case]:
    """A training, an update, a forgetting and a merge over the same file; models of a few or of many kB. And
    those of a network of a table."""
    text, more, model = folder / "text.conll", folder / "more.conll", folder / "the.model"
    if small:
        text.write_text("The\tD\ndog\tN\nbarks\tV\n\nIt\tN\nrains\tV\n")
        more.write_text("A\tD\ncat\tN\n")
    else:
        shutil.copy(FOLDER / "train.conll", text)
        shutil.copy(FOLDER / "test.conll", more)
    kind = ["--model", "ecrn"] if small else ["--weights", "fixed"]
    one, other, both = folder / "one.model", folder / "other.model", folder / "both.model"
    for path, files in ((one, [text]), (other, [more]), (both, [text, more])):
        assert corate(["train", *map(str, files), "-m", str(path), "-q", *kind]) == 0
    old, new = one.read_bytes(), both.read_bytes()
    return [
        Case("train", ["train", str(text), str(more), "-m", str(model), "-q", *kind], model, old, new),
        Case("update", ["update", str(model), str(more), "-q"], model, old, new),
        Case("forget", ["forget", str(model), str(more), "-q"], model, new, old),
        Case("merge", ["merge", str(one), str(other), "-o", str(model), "-q"], model, old, new),
        *_network_cases(folder, 3 if small else 300),
    ]


def _network_cases(folder: Path, n_rows: int) -> list[Case]:
    """A table is learned, rows are added and forgotten; the graph is given, so that the files are equal."""
    edges, first, more, whole = (
        folder / name for name in ("edges.txt", "first.csv", "more.csv", "whole.csv")
    )
    rows = [f"{k % 3},{k % 2},{k % 5 % 2}\n" for k in range(2 * n_rows)]
    edges.write_text("sky road\nroad mood\n")
    for path, some in ((first, rows[:n_rows]), (more, rows[n_rows:]), (whole, rows)):
        path.write_text("sky,road,mood\n" + "".join(some))
    model, made = folder / "the.net", {}
    for path in (first, whole):
        net = folder / f"{path.stem}.net"
        assert corate(["network", "train", str(path), "-m", str(net), "--graph", str(edges), "-q"]) == 0
        made[path] = net.read_bytes()
    old, new = made[first], made[whole]
    train = ["network", "train", str(whole), "-m", str(model), "--graph", str(edges), "-q"]
    return [
        Case("network train", train, model, old, new),
        Case("network update", ["network", "update", str(model), str(more), "-q"], model, old, new),
        Case("network forget", ["network", "forget", str(model), str(more), "-q"], model, new, old),
    ]


# Children --------------------------------------------------------------------------------------------


@dataclass
class Child:
    """A forked process that waits for a sign, does its work and exits with its code."""

    pid: int
    go: int
    err: int

    @classmethod
    def of(cls, action: Action) -> Child:
        (go_read, go_write), (err_read, err_write), (is_ready, ready) = os.pipe(), os.pipe(), os.pipe()
        pid = os.fork()
        if pid == 0:
            code = 99
            try:
                os.dup2(err_write, 2)
                sys.stderr = os.fdopen(2, "w")
                os.write(ready, b"r")
                select.select([go_read], [], [])  # not one of the calls that are made to fail
                code = action()
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(code)
        os.read(is_ready, 1)
        for descriptor in (go_read, err_write, is_ready, ready):
            os.close(descriptor)
        return cls(pid, go_write, err_read)

    def start(self) -> None:
        os.write(self.go, b"g")

    def wait(self, seconds: float = SECONDS) -> Done:
        """Its exit code and what it said; one that hangs is killed."""
        text, deadline = b"", time.monotonic() + seconds
        while select.select([self.err], [], [], max(0.0, deadline - time.monotonic()))[0]:
            data = os.read(self.err, 1 << 16)
            if not data:
                break
            text += data
        else:
            os.kill(self.pid, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.go)
        os.close(self.err)
        assert time.monotonic() <= deadline, f"hangs: {text.decode()!r}"
        return Done(code, text.decode())


def in_child(action: Action) -> Done:
    child = Child.of(action)
    child.start()
    return child.wait()


def traced(case: Case, *options: str) -> tuple[Done, str]:
    """The command in a child, under strace from its first system call on; and what strace wrote."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("strace is not installed")
    child = Child.of(case)
    with tempfile.NamedTemporaryFile("r") as log:
        tracer = subprocess.Popen(
            [strace, "-p", str(child.pid), "-o", log.name, *options], stderr=subprocess.PIPE, text=True
        )
        assert tracer.stderr is not None
        said = tracer.stderr.readline()
        if "attached" not in said:
            os.kill(child.pid, signal.SIGKILL)
            with contextlib.suppress(AssertionError):
                child.wait()
            tracer.communicate()
            pytest.skip(f"strace cannot trace here: {said.strip()}")
        child.start()
        done = child.wait()
        tracer.communicate()
        return done, log.read()


def run_together(actions: Sequence[Action]) -> None:
    children = [Child.of(action) for action in actions]
    for child in children:
        child.start()
    for child in children:
        assert child.wait() == Done(0, "")
