"""HTML for notebooks: all is escaped, and colours are shades over whatever the page is, light or dark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

LINE = "1px solid rgba(128,128,128,.35)"
SHADE = "rgba(60,130,220,{:.2f})"  # of a share from 0 to 1


def table(headers: Sequence[str], rows: Iterable[Sequence[object]], title: str = "") -> str:
    """A table whose first column is text and whose others are numbers; a cell of `Html` stays as it is."""
    head = "".join(f'<th style="{_cell(k)};opacity:.7">{_text(h)}</th>' for k, h in enumerate(headers))
    body = "".join(
        "<tr>" + "".join(f'<td style="{_cell(k)}">{_text(cell)}</td>' for k, cell in enumerate(row)) + "</tr>"
        for row in rows
    )
    caption = f'<caption style="text-align:left;font-weight:600">{_text(title)}</caption>' if title else ""
    style = "border-collapse:collapse;color:inherit;background:transparent;margin:.4em 0"
    return f'<table style="{style}">{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


class Html(str):
    """Text that is HTML already."""


def shaded(text: object, share: float) -> Html:
    """Text over a colour that is as strong as its share of 1."""
    colour = SHADE.format(0.55 * min(max(share, 0.0), 1.0))
    return Html(f'<span style="background:{colour};padding:0 .3em;border-radius:.2em">{_text(text)}</span>')


def block(*parts: str) -> str:
    return f'<div style="color:inherit;line-height:1.5">{"".join(parts)}</div>'


def paragraph(text: object) -> str:
    return f'<p style="margin:.3em 0">{_text(text)}</p>'


def _text(value: object) -> str:
    return value if isinstance(value, Html) else escape(str(value))


def _cell(column: int) -> str:
    return f"text-align:{'left' if column == 0 else 'right'};padding:.1em .6em;border-bottom:{LINE}"
