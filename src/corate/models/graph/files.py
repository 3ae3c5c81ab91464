"""Tables and graphs in files: CSV with a line of names, and a graph as a line for each edge."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from corate.errors import InputError

MISSING = ("", "NA", "NaN", "nan", "?")  # cells that are not there, unless told otherwise

Columns = dict[str, list["str | None"]]


@contextmanager
def _opened(path: str) -> Iterator[TextIO]:
    if path == "-":
        yield sys.stdin
        return
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            yield file
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path) from error


def read_table(
    path: str, delimiter: str | None = None, drop: Sequence[str] = (), missing: Sequence[str] = MISSING
) -> Columns:
    """The columns of a CSV file; tabs separate in one that is called .tsv."""
    mark = delimiter or ("\t" if path.endswith(".tsv") else ",")
    with _opened(path) as file:
        rows = csv.reader(file, delimiter=mark, strict=True)
        try:
            names = next(rows, None)
            if not names or names == [""]:
                raise InputError("the table is empty: a line with the names of the columns is needed", path)
            _check_names(names, drop, path)
            cells: list[list[str]] = [[] for _ in names]
            for row in rows:
                if not row:
                    continue
                if len(row) != len(names):
                    message = f"{len(row)} cells where the first line names {len(names)} columns"
                    raise InputError(message, path, rows.line_num)
                for column, cell in zip(cells, row, strict=True):
                    column.append(cell)
        except csv.Error as error:
            raise InputError(f"no CSV: {error}", path, rows.line_num) from error
        except UnicodeDecodeError as error:
            raise InputError(f"not in UTF-8: byte {error.object[error.start]:#x}", path) from error
    if not cells[0]:
        raise InputError("the table has no row below the names of its columns", path)
    gone = {*missing, ""}
    return {
        name: [None if cell in gone else cell for cell in column]
        for name, column in zip(names, cells, strict=True)
        if name not in drop
    }


def _check_names(names: Sequence[str], drop: Sequence[str], path: str) -> None:
    for k, name in enumerate(names):
        if not name:
            raise InputError(f"column {k + 1} has no name", path, 1)
        if name in names[:k]:
            raise InputError(f"two columns are called {name!r:.60}: rename one", path, 1)
    for name in drop:
        if name not in names:
            raise InputError(
                f"there is no column {name!r:.60} to leave out: it has {', '.join(names[:8])}", path
            )


def read_graph(path: str) -> list[tuple[str, str]]:
    """Two columns a line, separated by a tab, a comma or blanks; # begins a comment."""
    edges = []
    with _opened(path) as file:
        for number, line in enumerate(file, 1):
            text = line.split("#")[0].strip()
            mark = next((mark for mark in ("\t", ",") if mark in text), None)
            ends = [end.strip() for end in text.split(mark)]
            if text and len(ends) != 2:
                raise InputError(f"{text!r:.60} is no edge: give two columns", path, number)
            if text:
                edges.append((ends[0], ends[1]))
    if not edges:
        raise InputError("no edge in it", path)
    return edges


def write_table(columns: Columns, file: TextIO, delimiter: str = ",") -> None:
    """CSV as `read_table` reads it."""
    out = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    out.writerow(columns)
    out.writerows(zip(*columns.values(), strict=True))
