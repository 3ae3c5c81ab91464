"""What tests of several rooms share."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from conftest import Result
from corate._native import using
from corate.counts.counts import Counts
from corate.counts.names import fields, vocabulary_of

KERNELS = ("native", "numpy")
Result_ = TypeVar("Result_")

# Templates as CRF++ has them for chunking, from words and parts of speech.
CHUNKING = """\
# Unigram
U00:%x[-2,0]
U01:%x[-1,0]
U02:%x[0,0]
U03:%x[1,0]
U04:%x[2,0]
U05:%x[-1,0]/%x[0,0]
U06:%x[0,0]/%x[1,0]

U10:%x[-2,1]
U12:%x[0,1]
U15:%x[-2,1]/%x[-1,1]
U22:%x[0,1]/%x[1,1]/%x[2,1]

# Bigram
B
B01:%x[-1,0]/%x[0,0]
"""


def by(kernel: str, function: Callable[..., Result_], *args: Any, **named: Any) -> Result_:
    """What a function gives where the "native" kernels work, or their twins in "numpy"."""
    with using(kernel):
        return function(*args, **named)


def as_counter(counts: Counts, name: str) -> Counter[tuple[str, ...]]:
    table = counts.tables[name]
    names = [vocabulary_of(field) for field in fields(name)]
    rows = table.ids.tolist()
    return Counter(
        {
            tuple(counts.vocabularies[v][i] for v, i in zip(names, row, strict=True)): n
            for row, n in zip(rows, table.n.tolist(), strict=True)
        }
    )


def rows_of(*columns: Sequence[Sequence[str]]) -> list[list[tuple[str, ...]]]:
    return [list(zip(*sentence, strict=True)) for sentence in zip(*columns, strict=True)]


def assert_one_line(result: Result, message: str) -> None:
    assert result.code == 2, result
    assert result.out == ""
    assert result.err.endswith("\n")
    assert result.err.count("\n") == 1, result.err
    assert "Traceback" not in result.err
    assert message in result.err


def assert_no_permission(script: str, *arguments: object, folder: Path) -> None:
    """A script whose last words are the exit code of a command that this user must not do."""
    command = [sys.executable, "-c", script, *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    assert_one_line(Result(int(done.stdout), "", done.stderr), "ermission")
