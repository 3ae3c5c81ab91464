"""Contexts: what a position looks like.

A *view* turns a word into a string (its last three letters, whether it has a hyphen, …). A context
template is one view, or several joined by commas whose values count as one joint value:

    suffix3                    "ability" → "ity"
    initial,hyphen,ending      "Well-being" → "upper,yes,ing"

A view may be silent about a word: the empty value.

Templates are read and written as these strings, and stored so in model files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from corate.errors import InputError

# Lafferty et al. (2001), as used by papers 000 §4.5 and 002 §IV-B; longer endings first, so that the
# longest that fits is the value.
ENDINGS = ("tion", "ing", "ogy", "ion", "ity", "ies", "ed", "ly", "s")

View = Callable[[str], str]


def initial(word: str) -> str:
    """Whether the word begins with a digit or an upper-case letter."""
    return "digit" if word[:1].isdigit() else "upper" if word[:1].isupper() else ""


def hyphen(word: str) -> str:
    return "yes" if "-" in word else ""


def ending(word: str) -> str:
    """The longest of `ENDINGS` that the word ends in, or nothing."""
    return next(e for e in ENDINGS if word.endswith(e)) if word.endswith(ENDINGS) else ""


def shape(word: str) -> str:
    """Upper case X, lower case x, digits d, the rest as it is; runs collapsed: `McDonald-2` → `XxXx-d`."""
    kinds = ("X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdigit() else c for c in word)
    return re.sub(r"(.)\1+", r"\1", "".join(kinds), flags=re.DOTALL)


VIEWS: dict[str, View] = {
    "word": str,
    "lower": str.lower,
    "initial": initial,
    "hyphen": hyphen,
    "ending": ending,
    "shape": shape,
}
_AFFIX = re.compile(r"(prefix|suffix)([1-9][0-9]?)")


def view(name: str) -> View:
    """The view of this name; `prefixN` and `suffixN` exist for every N from 1 to 99."""
    if name in VIEWS:
        return VIEWS[name]
    affix = _AFFIX.fullmatch(name)
    if affix is None:
        raise InputError(f"no view is called {name!r}: choose from {', '.join(VIEWS)}, prefixN, suffixN")
    length = int(affix[2])
    return (lambda word: word[:length]) if affix[1] == "prefix" else (lambda word: word[-length:])


@dataclass(frozen=True)
class Context:
    """A context template over the word of a position."""

    views: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Context:
        names = tuple(name.strip() for name in text.split(","))
        for name in names:
            view(name)
        return cls(names)

    def __str__(self) -> str:
        return ",".join(self.views)

    def values(self, words: Sequence[str]) -> list[str]:
        """The context's value for each of these words."""
        columns = [map(view(name), words) for name in self.views]
        return [",".join(parts) for parts in zip(*columns, strict=True)]

    def describe(self, word: str) -> str:
        """For people: `initial=upper, ending=ing`."""
        parts = ((name, view(name)(word)) for name in self.views)
        spoken = ", ".join(f"{name}={value}" for name, value in parts if value)
        return spoken or f"no {'/'.join(self.views)}"


# The spelling features of the papers, for words that training never saw.
SPELLING = ("initial", "hyphen", "ending")
