"""What the experiments share on the way in and out: arguments, tables on stdout, errors as one line."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from corate import CorateError
from published import PAPERS

DATA = Path("../shared/data")
BAD_INPUT, INTERRUPTED, BROKEN_PIPE = 2, 130, 141
HERE = "here"
WIDEST = 200
MEMORY = Path("/dev/shm")


@dataclass(frozen=True)
class Column:
    """Figures by row, and where they come from."""

    head: str
    source: str
    cells: Mapping[str, str]


def arguments(doc: str | None, example: str, *, data: str) -> argparse.ArgumentParser:
    """A parser with `--data`; its help is the script's docstring and an example."""
    parser = argparse.ArgumentParser(
        description=doc,
        epilog=f"example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--data", type=Path, default=DATA, metavar="DIR", help=f"{data} (default: %(default)s)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the results to FILE")
    return parser


def simulated(doc: str | None, script: str) -> argparse.ArgumentParser:
    """For the experiments that make their own data: `--data` is taken, so that all can be called alike."""
    return arguments(doc, f"python experiments/{script}", data="not used: this experiment makes its own data")


def print_table(title: str, rows: Mapping[str, str], columns: Sequence[Column]) -> None:
    """`rows` gives each row's key and title; a cell that a column does not have is shown as –."""
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    table.add_column("\nfrom", no_wrap=True, header_style="dim")
    for column in columns:
        table.add_column(f"{column.head}\n{column.source}", justify="right", no_wrap=True, header_style="dim")
    for key, name in rows.items():
        table.add_row(name, *(column.cells.get(key, "–") for column in columns))
    _console().print(table)
    print()


def print_notes(notes: str, papers: Sequence[str] = tuple(PAPERS)) -> None:
    """What a reader must know, and which papers the column heads name."""
    print(notes.strip("\n"))
    for paper in papers:
        print(f"{paper}: {PAPERS[paper]}.")


def scratch() -> tempfile.TemporaryDirectory[str]:
    """A folder in memory, where there is one: what is not about disks need not wait for them."""
    return tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None)


def progress(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def run(main: Callable[[], None]) -> None:
    """Bad input is one line on stderr and exit code 2, as in the command `corate`."""
    try:
        main()
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing left to flush at exit
        sys.exit(BROKEN_PIPE)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except (CorateError, OSError) as error:
        progress(f"{Path(sys.argv[0]).name}: {error}")
        sys.exit(BAD_INPUT)


def _console() -> Console:
    """Colours only on a terminal; never a figure cut off because a window is narrow."""
    return Console(highlight=False, markup=False, soft_wrap=True, width=WIDEST)
