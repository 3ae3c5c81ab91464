"""Views: functions from a word to a string, by name; what contexts are made of."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, cached_property, lru_cache

from corate.errors import InputError

# Lafferty et al. (2001), as used by papers 000 §4.5 and 002 §IV-B; longer endings first, so that the
# longest that fits is the value.
ENDINGS = ("tion", "ing", "ogy", "ion", "ity", "ies", "ed", "ly", "s")


SHAPE_LENGTH = 8  # longer shapes are as rare as words
HEAD_LENGTH = 2  # of the shape that is behind a tail


View = Callable[[str], str]


def kind(letter: str) -> str:
    """Upper case X, lower case x, digits d, the rest as it is."""
    return "X" if letter.isupper() else "x" if letter.isalpha() else "d" if letter.isdigit() else letter


_KINDS = str.maketrans({chr(c): kind(chr(c)) for c in range(128)})


def initial(word: str) -> str:
    """Whether the word begins with a digit or an upper-case letter."""
    return "digit" if word[:1].isdigit() else "upper" if word[:1].isupper() else ""


def hyphen(word: str) -> str:
    return "yes" if "-" in word else ""


def ending(word: str) -> str:
    """The longest of `ENDINGS` that the word ends in, or nothing."""
    return next(e for e in ENDINGS if word.endswith(e)) if word.endswith(ENDINGS) else ""


@lru_cache(maxsize=1 << 16)  # several views begin with it
def shape(word: str) -> str:
    """The kind of each letter, runs collapsed: `McDonald-2` → `XxXx-d`."""
    kinds = word.translate(_KINDS) if word.isascii() else "".join(map(kind, word))
    return "".join([kind for kind, before in zip(kinds, "\0" + kinds, strict=False) if kind != before])[
        :SHAPE_LENGTH
    ]


def tail(word: str, length: int) -> str:
    """The last letters in lower case, and the beginning of the shape: `Dutch`, 2 → `ch Xx`."""
    return f"{word[-length:].lower()} {shape(word)[:HEAD_LENGTH]}"


VIEWS: dict[str, View] = {
    "word": str,
    "bias": lambda word: "yes",
    "lower": str.lower,
    "initial": initial,
    "hyphen": hyphen,
    "ending": ending,
    "shape": shape,
}


AFFIX = re.compile(r"(prefix|suffix|tail)([1-9][0-9]?)")


@cache
def view(name: str) -> View:
    """The view of this name; `prefixN`, `suffixN` and `tailN` exist for every N from 1 to 99."""
    if name in VIEWS:
        return VIEWS[name]
    affix = AFFIX.fullmatch(name)
    if affix is None:
        known = f"{', '.join(VIEWS)}, prefixN, suffixN, tailN"
        raise InputError(f"no view is called {name!r:.60}: choose from {known}")
    length = int(affix[2])
    if affix[1] == "tail":
        return lambda word: tail(word, length)
    return (lambda word: word[:length]) if affix[1] == "prefix" else (lambda word: word[-length:])


class Views:
    """Views of many words at once; those that begin with the same work share it."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words

    def __call__(self, name: str) -> Sequence[str]:
        if name == "word":
            return self.words
        if name == "shape":
            return self._shapes
        if "," in name:  # several views as one
            parts = zip(*map(self, name.split(",")), strict=True)
            return list(map(",".join, parts))
        affix = AFFIX.fullmatch(name)
        if affix is None:
            return list(map(view(name), self.words))
        n = int(affix[2])
        if affix[1] == "tail":
            return [f"{word[-n:].lower()} {head}" for word, head in zip(self.words, self._heads, strict=True)]
        return [word[:n] if affix[1] == "prefix" else word[-n:] for word in self.words]

    @cached_property
    def _shapes(self) -> list[str]:
        return list(map(shape, self.words))

    @cached_property
    def _heads(self) -> list[str]:
        return [each[:HEAD_LENGTH] for each in self._shapes]
