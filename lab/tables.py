"""Tables for a terminal and for a page: cells say where in the results their figures are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table as OnTerminal

from lab.store import Record

WIDEST = 200


@dataclass(frozen=True)
class Cell:
    """What it shows, where its figure is (a JSON pointer), and a class of the page's styles."""

    text: str = "–"
    pointer: str = ""
    note: str = ""


EMPTY = Cell()
Row = tuple[str, Sequence[Cell]]  # its title, and what stands beside it
Form = str | Callable[[Any], str]


@dataclass(frozen=True)
class Table:
    """The first head is that of the row titles; `groups` stand above the others, each over so many."""

    caption: str
    heads: Sequence[str]
    rows: Sequence[Row]
    groups: Sequence[tuple[str, int]] = ()

    def print(self) -> None:
        table = OnTerminal(
            title=self.caption, title_justify="left", title_style="bold", box=None, pad_edge=False
        )
        above = ["", *(text for name, n in self.groups for text in (name, *[""] * (n - 1)))]
        heads = map("{}\n{}".format, above, self.heads) if self.groups else self.heads
        for i, head in enumerate(heads):
            table.add_column(head, justify="right" if i else "left", no_wrap=True, header_style="dim")
        for title, cells in self.rows:
            table.add_row(title, *(cell.text for cell in cells))
        # Colours only on a terminal; never a figure cut off because a window is narrow.
        Console(highlight=False, markup=False, soft_wrap=True, width=WIDEST).print(table)
        print()


def value_at(results: Record, pointer: str) -> Any:
    """The value at a JSON pointer (RFC 6901)."""
    found: Any = results
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        found = found[int(name)] if isinstance(found, list) else found[name]
    return found


def pointer_to(*parts: object) -> str:
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def figure(found: Record, form: Form, *parts: object, note: str = "") -> Cell:
    """A figure of an experiment's results as a cell, or – where there is none."""
    try:
        value = value_at(found, pointer_to(*parts))
    except KeyError:
        return EMPTY
    if value is None:
        return EMPTY
    text = form.format(value) if isinstance(form, str) else form(value)
    return Cell(text, pointer_to(found["experiment"], *parts), note)


def published(found: Record, form: Form, *parts: object) -> Cell:
    return figure(found, form, *parts, note="published")
