"""Run a command as a child process and say what it cost.

The peak memory of a child starts at that of the process that started it (Linux hands it on at exec). So the
benchmark itself never holds a corpus or a model: whatever needs one is a child, too.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, BinaryIO

from corate import CorateError

# Some shells forbid Python to cache bytecode: every start would then compile the program anew.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
# One thread is one thread: NumPy's linear algebra would take all cores.
ONE_THREAD = {**ENVIRONMENT, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
ROOT = Path(__file__).resolve().parents[1]  # where `python -m` finds the packages
MAXRSS_BYTES = 1 if sys.platform == "darwin" else 1024


class ChildError(CorateError):
    """A child ended with an error."""


class CapError(CorateError):
    """A child used up its CPU seconds."""

    def __init__(self, step: str, cap: int) -> None:
        super().__init__(f"{step} not done after {cap} s of CPU")
        self.step = step
        self.cap = cap


@dataclass(frozen=True)
class Finished:
    """CPU (user + system) and wall seconds, peak resident memory in MB, and what was written to stdout."""

    cpu: float
    wall: float
    peak: float
    output: str

    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.output)
        return found


def run(
    command: Sequence[str | Path],
    *,
    stdout: Path | None = None,
    cap: int | None = None,
    step: str = "tagging",
    environment: Mapping[str, str] = ENVIRONMENT,
) -> Finished:
    """Wait for the command; its stdout goes to a file, or into the result. `cap` limits its CPU seconds."""
    with (
        tempfile.TemporaryFile() as errors,
        stdout.open("w+b") if stdout else tempfile.TemporaryFile() as out,
    ):
        started = perf_counter()
        child = subprocess.Popen(
            command, stdout=out, stderr=errors, env=environment, cwd=ROOT, preexec_fn=_limit(cap)
        )
        _, status, usage = os.wait4(child.pid, 0)
        wall = perf_counter() - started
        child.returncode = os.waitstatus_to_exitcode(status)  # Popen need not wait any more
        if cap is not None and child.returncode == -signal.SIGXCPU:
            raise CapError(step, cap)
        _check(command, child.returncode, _text(errors))
        output = "" if stdout else _text(out)
    return Finished(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * MAXRSS_BYTES / 1e6, output)


def _limit(cap: int | None) -> Callable[[], None] | None:
    if cap is None:
        return None
    # At the first limit the child gets SIGXCPU, at the second SIGKILL.
    return lambda: resource.setrlimit(resource.RLIMIT_CPU, (cap, cap + 5))


def _check(command: Sequence[str | Path], code: int, errors: str) -> None:
    if code != 0:
        last = (errors.strip().splitlines() or ["no message"])[-1]
        raise ChildError(f"{' '.join(map(str, command))}: exit code {code}: {last}")


def _text(file: BinaryIO) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")
