"""Contexts: what a position looks like.

A *view* turns a word into a string (its last three letters, whether it has a hyphen, …); with an offset it is
that of a neighbour. A context template is one of them, or several joined by commas whose values count as one:

    suffix3                    "ability" → "ity"
    word-1                     the word before; outside the sentence, a value of its own
    initial,hyphen,ending      "Well-being" → "upper,yes,ing"
    word-1,word                two words
    col2, col3:suffix2-1       the corpus' second column; a view of its third one, at the token before
    word^, col2^, tail3^       of the parent, where tokens hang on a tree (models/graph/trees.py)
    col2*                      of the children, left and right ones apart; side: where the parent is, how far
    "word.lower"               a feature that the tokens bring with them, by its key
    pair:word-1,word           for a pair of labels: CR(y; y′ | f) instead of CR(y; f)
    bias                       the same for every word

A view may be silent about a word: the empty value. Templates are read and written as these strings, and
stored so in model files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from corate.contexts.quotes import split_outside_quotes
from corate.contexts.views import AFFIX, view
from corate.errors import InputError

_QUOTED = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_ATOM = re.compile(
    rf"(?:({_QUOTED})|(col[1-9][0-9]{{0,2}}):([a-z]+[0-9]*)|([a-z]+[0-9]*))([+-][1-9][0-9]?)?", re.DOTALL
)
_COLUMN = re.compile(r"col([1-9][0-9]{0,2})")
_ON_TREE = re.compile(r"(.*[a-z0-9])([\^*])")
PAIR = "pair:"
PARENT, CHILDREN, SIDE = "^", "*", "side"
MOST_ATOMS = 16
MOST_LETTERS = 20_000  # of a name: sixteen keys of features are 16,000


@dataclass(frozen=True)
class Atom:
    """A view of the token at an offset: `word-1`. Columns beyond the words, and features, have names."""

    view: str
    offset: int = 0
    column: str = ""  # "" for the words; "col2", …; a feature's key in quotes

    @classmethod
    def parse(cls, text: str) -> Atom:
        if text.strip() == SIDE:
            return cls("word", 0, SIDE)
        on_tree = _ON_TREE.fullmatch(text.strip())
        if on_tree is not None:
            own = cls.parse(on_tree[1])
            if own.offset or own.key is not None or own.tree_mark:
                raise InputError(f"{text!r:.60}: a parent or children are those of the token itself: word^")
            return cls(own.view, 0, own.column + on_tree[2])
        parts = _ATOM.fullmatch(text.strip())
        if parts is None:
            view(text)
            raise InputError(f"{text!r:.60} is no context: write a view and perhaps an offset: word-1")
        feature, column, of_column, name, offset = parts.groups()
        if feature is not None and offset is None:
            return cls("word", 0, _quoted(feature))
        if feature is not None:
            raise InputError(f"{text!r:.60}: a feature has no neighbours; give tokens a key for each of them")
        if name is not None and _COLUMN.fullmatch(name):
            column, of_column = name, "word"
        view(of_column or name)
        return cls(of_column or name, int(offset or 0), "" if column in (None, "col1") else column)

    def __str__(self) -> str:
        return f"{self.source}{self.offset:+d}" if self.offset else self.source

    @property
    def source(self) -> str:
        """What it looks at, at whatever offset: `word`, `tail3`, `col2`, `col2:lower`, `"key"`."""
        if self.tree_mark in (PARENT, CHILDREN):
            return Atom(self.view, 0, self.column[:-1]).source + self.tree_mark
        if not self.column:
            return self.view
        return self.column if self.view == "word" else f"{self.column}:{self.view}"

    @property
    def tree_mark(self) -> str:
        """How it looks along a tree: at the parent, the children, the side; "" if it does not."""
        if self.column == SIDE:
            return SIDE
        return self.column[-1:] if self.column[-1:] in (PARENT, CHILDREN) else ""

    @property
    def distance(self) -> int:
        """How far away it looks; a neighbour on a tree is one step away."""
        return 1 if self.tree_mark else abs(self.offset)

    def at(self, offset: int) -> Atom:
        return Atom(self.view, offset, self.column)

    @cached_property
    def key(self) -> str | None:
        """The key of a feature."""
        return json.loads(self.column) if self.column.startswith('"') else None

    @property
    def n_columns(self) -> int:
        """How many columns a corpus needs at least."""
        name = self.column.rstrip(PARENT + CHILDREN)
        return 1 if self.key is not None or name in ("", SIDE) else int(name.removeprefix("col"))


def _quoted(text: str) -> str:
    """The one way to write a quoted key."""
    try:
        return quote(json.loads(text))
    except ValueError:
        raise InputError(f"{text!r:.60} is no feature: write its key as a JSON string") from None


def quote(key: str) -> str:
    return json.dumps(key, ensure_ascii=False)


@dataclass(frozen=True)
class Context:
    """A context template; `pair` says that it is one of label pairs."""

    atoms: tuple[Atom, ...]
    pair: bool = False

    @classmethod
    def parse(cls, text: str) -> Context:
        if len(text) > MOST_LETTERS:
            raise InputError(
                f"{text[:20]!r}… has {len(text):,} characters: a context has {MOST_LETTERS:,} at most"
            )
        pair = text.strip().startswith(PAIR)
        parts = split_outside_quotes(text.strip().removeprefix(PAIR), ",")
        if "" in parts:
            raise InputError(f"{text!r:.60} is no context: join names by single commas, such as word-1,word")
        if len(parts) > MOST_ATOMS:
            raise InputError(f"a context of {len(parts)} parts: join {MOST_ATOMS} at most")
        return cls(tuple(map(Atom.parse, parts)), pair)

    @classmethod
    def of_feature(cls, key: str) -> Context:
        return cls((Atom("word", 0, quote(key)),))

    def __str__(self) -> str:
        return (PAIR if self.pair else "") + ",".join(map(str, self.atoms))

    @property
    def is_word_alone(self) -> bool:
        """Whether it looks at the word itself only."""
        return not self.pair and all(atom.offset == 0 and not atom.column for atom in self.atoms)

    @property
    def is_feature(self) -> bool:
        return any(atom.key is not None for atom in self.atoms)

    def as_view(self) -> Atom:
        """A context that looks at the word itself only, as one view of it: its values joined by commas."""
        return Atom(",".join(atom.view for atom in self.atoms))

    def describe(self, word: str) -> str:
        """For people: `initial=upper, ending=ing`."""
        parts = ((atom.view, view(atom.view)(word)) for atom in self.atoms)
        spoken = ", ".join(f"{name}={value}" for name, value in parts if value)
        return spoken or f"no {'/'.join(atom.view for atom in self.atoms)}"

    def parents(self) -> Iterator[Context]:
        """What it falls back to, step by step: shorter views of one word, fewer words of several."""
        if len(self.atoms) > 1:
            farthest = max(range(len(self.atoms)), key=lambda k: (self.atoms[k].distance, -k))
            parent = Context(self.atoms[:farthest] + self.atoms[farthest + 1 :], self.pair)
        else:
            (atom,) = self.atoms
            shorter = None if atom.column and atom.view == "word" else _shorter(atom.view)
            if shorter is None:
                return
            parent = Context((Atom(shorter, atom.offset, atom.column),), self.pair)
        yield parent
        yield from parent.parents()


def parse_all(names: Any) -> list[Context]:
    """The templates of a list of names."""
    listed = isinstance(names, (Sequence, np.ndarray)) and not isinstance(names, str)
    if not listed or not all(isinstance(name, str) for name in names):
        raise InputError(f"contexts={names!r:.60}: give a list of names, such as ('word', 'suffix3')")
    return [Context.parse(name) for name in names]


def _shorter(name: str) -> str | None:
    """word, lower → tail5 → … → tail1 → shape; prefix3 → prefix2 → prefix1."""
    if name in ("word", "lower"):
        return "tail5"
    affix = AFFIX.fullmatch(name)
    if affix is None:
        return None
    if affix[2] == "1":
        return "shape" if affix[1] == "tail" else None
    return f"{affix[1]}{int(affix[2]) - 1}"
