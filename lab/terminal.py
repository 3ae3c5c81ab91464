"""What goes in and out on a terminal: arguments, tables on stdout, errors as one line."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from corate import CorateError, InputError
from lab.store import write_json

DATA = Path("../shared/data")
BOTH = "folder that holds brown/ and conll2002/"
OWN_DATA = "not used: this experiment makes its own data"  # taken, so that all can be called alike
BAD_INPUT, INTERRUPTED, BROKEN_PIPE = 2, 130, 141
WIDEST = 200


@dataclass(frozen=True)
class Column:
    """Figures by row, and where they come from."""

    head: str
    cells: Mapping[str, str]
    source: str = "here"


def arguments(doc: str | None, example: str, *, data: str = BOTH) -> argparse.ArgumentParser:
    """A parser with `--data`; its help is the module's docstring and an example."""
    parser = argparse.ArgumentParser(
        description=doc,
        epilog=f"example:\n  python -m {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", type=Path, default=DATA, metavar="DIR", help=f"{data} (default: {DATA})")
    return parser


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the results to FILE")


def show(
    parser: argparse.ArgumentParser,
    collect: Callable[[argparse.Namespace], dict[str, Any]],
    say: Callable[[dict[str, Any]], None],
) -> None:
    """One experiment from its arguments to what it prints, and to a file of its results."""
    add_json(parser)
    options = parser.parse_args()
    check_writable(options.json)
    found = collect(options)
    say(found)
    if options.json:
        write_json(options.json, found)


def check_writable(path: Path | None) -> None:
    """Before hours of work, not after."""
    if path is not None and not path.parent.is_dir():
        raise InputError("no such folder: the file needs one that is there", str(path.parent))


def print_table(title: str, rows: Mapping[str, str], columns: Sequence[Column]) -> None:
    """`rows` gives each row's key and title; a cell that a column does not have is shown as –."""
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    table.add_column("\nfrom", no_wrap=True, header_style="dim")
    for column in columns:
        table.add_column(f"{column.head}\n{column.source}", justify="right", no_wrap=True, header_style="dim")
    for key, name in rows.items():
        table.add_row(name, *(column.cells.get(key, "–") for column in columns))
    # Colours only on a terminal; never a figure cut off because a window is narrow.
    Console(highlight=False, markup=False, soft_wrap=True, width=WIDEST).print(table)
    print()


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
