"""Text in quotes, as JSON writes it: the keys of features in the names of contexts. One pass over it."""

from __future__ import annotations

import re

_QUOTED = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)


def quoted_parts(text: str) -> list[str]:
    """The text in parts, of which every second one is in quotes; an open quote is text."""
    parts, begin, start = [], 0, text.find('"')
    while start >= 0:
        found = _QUOTED.match(text, start)
        if found is None:
            break
        parts += [text[begin:start], found[0]]
        begin = found.end()
        start = text.find('"', begin)
    return [*parts, text[begin:]]


def split_outside_quotes(text: str, mark: str) -> list[str]:
    """The parts of a text between commas or dots; those within quotes do not count."""
    split = [""]
    for place, part in enumerate(quoted_parts(text)):
        first, *others = [part] if place % 2 else part.split(mark)
        split[-1] += first
        split += others
    return split
