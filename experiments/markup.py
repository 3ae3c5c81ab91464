"""HTML in small pieces. A figure that comes from the results says in `data-from` which one it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from results import Record


@dataclass(frozen=True)
class Cell:
    """HTML of a cell, and where in the results its figure is (a JSON pointer)."""

    html: str = "–"
    pointer: str = ""
    note: str = ""  # a class of the style sheet


EMPTY = Cell()


def value_at(results: Record, pointer: str) -> Any:
    """The value at a JSON pointer (RFC 6901)."""
    found: Any = results
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        found = found[int(name)] if isinstance(found, list) else found[name]
    return found


def pointer(*parts: object) -> str:
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def figure_at(results: Record, form: Callable[[Any], str], *parts: object, note: str = "") -> Cell:
    """A figure of the results as a cell."""
    place = pointer(*parts)
    value = value_at(results, place)
    return EMPTY if value is None else Cell(escape(form(value)), place, note)


def table(
    caption: str,
    heads: Sequence[str],
    rows: Iterable[tuple[str, Sequence[Cell]]],
    groups: Sequence[tuple[str, int]] = (),
) -> str:
    """The first head is that of the row titles; `groups` stand above others, each over so many."""
    rows = list(rows)
    words = ' class="words"' if rows and rows[0][1] and rows[0][1][0].note == "words" else ""
    over = ""
    if groups:
        cells = "".join(f'<th scope="colgroup" colspan="{n}">{escape(name)}</th>' for name, n in groups)
        over = f"<tr><td></td>{cells}</tr>"
    top = "".join(f'<th scope="col">{head}</th>' for head in heads)
    body = "".join(
        f'<tr><th scope="row">{title}</th>{"".join(map(_cell, cells))}</tr>' for title, cells in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(plain(caption))}"><table{words}>'
        f"<caption><span>{caption}</span></caption><thead>{over}<tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(cell: Cell) -> str:
    name = f' class="{cell.note}"' if cell.note else ""
    source = f' data-from="{escape(cell.pointer)}"' if cell.pointer else ""
    return f"<td{name}{source}>{cell.html}</td>"


def plain(html: str) -> str:
    return re.sub(r"<[^>]+>", "", html)


def figure(pictures: Sequence[str], caption: str) -> str:
    return (
        f'<figure><div class="pictures">{"".join(pictures)}</div><figcaption>{caption}</figcaption></figure>'
    )


def details(summary: str, content: str) -> str:
    return f"<details><summary>{summary}</summary>{content}</details>"


def section(name: str, title: str, *content: str) -> str:
    return f'<section aria-labelledby="{name}"><h2 id="{name}">{title}</h2>{"".join(content)}</section>'


def command(text: str) -> str:
    return f'<p class="command"><span>Again:</span> <code>{escape(text)}</code></p>'
