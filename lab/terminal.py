"""What goes in and out on a terminal: arguments, progress, errors as one line."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from corate import CorateError, InputError
from lab.store import Record, write_json
from lab.tables import Table

DATA = Path("../shared/data")
BOTH = "folder that holds brown/ and conll2002/"
OWN_DATA = "not used: this experiment makes its own data"  # taken, so that all can be called alike
BAD_INPUT, INTERRUPTED, BROKEN_PIPE = 2, 130, 141


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
    collect: Callable[[argparse.Namespace], Record],
    tables: Callable[[Record], Iterable[Table]],
    notes: str,
) -> None:
    """One experiment from its arguments to what it prints, and to a file of its results."""
    add_json(parser)
    options = parser.parse_args()
    check_writable(options.json)
    found = collect(options)
    for table in tables(found):
        table.print()
    print(notes.strip())
    if options.json:
        write_json(options.json, found)


def check_writable(path: Path | None) -> None:
    """Before hours of work, not after."""
    if path is not None and not path.parent.is_dir():
        raise InputError("no such folder: the file needs one that is there", str(path.parent))


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
