"""A simple tokeniser for those who have none: what `corate tag --tokenise` does to a line of plain text.

    She said: "I live in Brussels."    →    She said : " I live in Brussels . "

1. Blanks separate.
2. What training had as one token stays one.
3. Opening marks are cut off in front, closing ones behind, one by one; equal ones stay together: `...`, `!!`.
4. A full stop stays with a single letter (`J.`), and where there is one inside (`e.g.`, `U.S.`); so does any
   mark that is inside a token: `3.14`, `don't`, `co-occurrence`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from corate.text.formats.base import split_blanks

OPENING = "([{<«„“‘‹\"'`¿¡"
CLOSING = ")]}>»”“’›\"'`.,;:!?…"
KEEPS_STOP = re.compile(r"\w\.|.*\w\.\w.*\.", re.DOTALL)
HINT_SHARE = 0.03  # of the tokens that end in a mark: there is one in every sentence of thirty


def tokenise(line: str, known: Collection[str] = ()) -> list[str]:
    """The tokens of a line; those in `known` are left whole."""
    return [token for part in split_blanks(line) for token in _cut(part, known)]


def _cut(part: str, known: Collection[str]) -> list[str]:
    before: list[str] = []
    behind: list[str] = []
    while part and part not in known:
        run = _run(part) if part[0] in OPENING else ""
        if run and run != part:
            before.append(run)
            part = part[len(run) :]
            continue
        run = _run(part[::-1]) if part[-1] in CLOSING else ""
        if not run or run == part or (run == "." and KEEPS_STOP.fullmatch(part)):
            break
        behind.append(run)
        part = part[: -len(run)]
    return [*before, part, *reversed(behind)]


def _run(text: str) -> str:
    """The equal characters that a text begins with."""
    return text[: len(text) - len(text.lstrip(text[0]))]


def glued(words: Iterable[str], known: Collection[str]) -> list[str]:
    """Words that end in a mark which training had apart from its words."""
    return [w for w in words if len(w) > 1 and w[-1] in CLOSING and w[-1] in known and w not in known]
