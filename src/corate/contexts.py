"""Contexts: what a position looks like.

A *view* turns a word into a string (its last three letters, whether it has a hyphen, …); with an offset it is
that of a neighbour. A context template is one of them, or several joined by commas whose values count as one:

    suffix3                    "ability" → "ity"
    word-1                     the word before; outside the sentence, a value of its own
    initial,hyphen,ending      "Well-being" → "upper,yes,ing"
    word-1,word                two words

A view may be silent about a word: the empty value. Templates are read and written as these strings, and
stored so in model files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np

from corate.errors import InputError

# Lafferty et al. (2001), as used by papers 000 §4.5 and 002 §IV-B; longer endings first, so that the
# longest that fits is the value.
ENDINGS = ("tion", "ing", "ogy", "ion", "ity", "ies", "ed", "ly", "s")

SHAPE_LENGTH = 8  # longer shapes are as rare as words
_RUNS = re.compile(r"(.)\1+", re.DOTALL)

View = Callable[[str], str]


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
    """Upper case X, lower case x, digits d, the rest as it is; runs collapsed: `McDonald-2` → `XxXx-d`."""
    kinds = ("X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdigit() else c for c in word)
    return _RUNS.sub(r"\1", "".join(kinds))[:SHAPE_LENGTH]


def tail(word: str, length: int) -> str:
    """The last letters in lower case, and the beginning of the shape: `Dutch`, 2 → `ch Xx`."""
    return f"{word[-length:].lower()} {shape(word)[:2]}"


VIEWS: dict[str, View] = {
    "word": str,
    "lower": str.lower,
    "initial": initial,
    "hyphen": hyphen,
    "ending": ending,
    "shape": shape,
}
_AFFIX = re.compile(r"(prefix|suffix|tail)([1-9][0-9]?)")
_ATOM = re.compile(r"([a-z]+[0-9]*)([+-][1-9])?")


@cache
def view(name: str) -> View:
    """The view of this name; `prefixN`, `suffixN` and `tailN` exist for every N from 1 to 99."""
    if name in VIEWS:
        return VIEWS[name]
    affix = _AFFIX.fullmatch(name)
    if affix is None:
        known = f"{', '.join(VIEWS)}, prefixN, suffixN, tailN"
        raise InputError(f"no view is called {name!r}: choose from {known}")
    length = int(affix[2])
    if affix[1] == "tail":
        return lambda word: tail(word, length)
    return (lambda word: word[:length]) if affix[1] == "prefix" else (lambda word: word[-length:])


@dataclass(frozen=True)
class Atom:
    """A view of the word at an offset: `word-1`."""

    view: str
    offset: int = 0

    @classmethod
    def parse(cls, text: str) -> Atom:
        parts = _ATOM.fullmatch(text.strip())
        view(parts[1] if parts else text)
        if parts is None:
            raise InputError(f"{text!r} is no context: write a view and perhaps an offset, such as word-1")
        return cls(parts[1], int(parts[2] or 0))

    def __str__(self) -> str:
        return f"{self.view}{self.offset:+d}" if self.offset else self.view


@dataclass(frozen=True)
class Context:
    """A context template."""

    atoms: tuple[Atom, ...]

    @classmethod
    def parse(cls, text: str) -> Context:
        return cls(tuple(map(Atom.parse, text.split(","))))

    def __str__(self) -> str:
        return ",".join(map(str, self.atoms))

    @property
    def is_word_alone(self) -> bool:
        """Whether it looks at the word itself only."""
        return all(atom.offset == 0 for atom in self.atoms)

    def values(self, words: Sequence[str]) -> list[str]:
        """The values for these words, of a context that looks at the word itself only."""
        columns = [map(view(atom.view), words) for atom in self.atoms]
        return [",".join(parts) for parts in zip(*columns, strict=True)]

    def describe(self, word: str) -> str:
        """For people: `initial=upper, ending=ing`."""
        parts = ((atom.view, view(atom.view)(word)) for atom in self.atoms)
        spoken = ", ".join(f"{name}={value}" for name, value in parts if value)
        return spoken or f"no {'/'.join(atom.view for atom in self.atoms)}"

    def parents(self) -> Iterator[Context]:
        """What it falls back to, step by step: shorter views of one word, fewer words of several."""
        if len(self.atoms) > 1:
            farthest = max(range(len(self.atoms)), key=lambda k: (abs(self.atoms[k].offset), -k))
            parent = Context(self.atoms[:farthest] + self.atoms[farthest + 1 :])
        else:
            (atom,) = self.atoms
            shorter = _shorter(atom.view)
            if shorter is None:
                return
            parent = Context((Atom(shorter, atom.offset),))
        yield parent
        yield from parent.parents()


def parse_all(names: Any) -> list[Context]:
    """The templates of a list of names."""
    listed = isinstance(names, (Sequence, np.ndarray)) and not isinstance(names, str)
    if not listed or not all(isinstance(name, str) for name in names):
        raise InputError(f"contexts={names!r}: give a list of names, such as {SPELLING}")
    return [Context.parse(name) for name in names]


def _shorter(name: str) -> str | None:
    """word, lower → tail5 → … → tail1 → shape; prefix3 → prefix2 → prefix1."""
    if name in ("word", "lower"):
        return "tail5"
    affix = _AFFIX.fullmatch(name)
    if affix is None:
        return None
    if affix[2] == "1":
        return "shape" if affix[1] == "tail" else None
    return f"{affix[1]}{int(affix[2]) - 1}"


# The spelling features of the papers, for words that training never saw.
SPELLING = ("initial", "hyphen", "ending")

# The contexts of the Tagger, for words alone; chosen on held-out data (Brown, CoNLL-2002 Dutch testa).
WORDS = (
    *("shape", "tail1", "tail2", "tail3", "tail4", "tail5", "word", "lower", "suffix6", "suffix8"),
    *("prefix1", "prefix2", "prefix3", "prefix4", "prefix5"),
    *("tail3-1", "word-1", "tail3+1", "word+1", "shape-1", "shape+1", "word-2", "word+2"),
    *("word-2,word-1", "word+1,word+2", "word-1,word", "word,word+1", "word-1,word+1"),
    *("shape-1,shape,shape+1", "tail2-1,shape,tail2", "tail2,shape,tail2+1", "word-1,shape", "shape,word+1"),
)
