"""Names of count tables: they list the fields of an event, context values first, then labels.

y                   (label)                             #(y)
word.y              (word, label)                       #(x, y)
word-1.shape.y      (word before, shape, label)         #(f, y) of the context word-1,shape
y.y, y.y.y          (label, next label, the one after)  #(y, y′), #(y, y′, y″)
^y, y$              labels of first and of last tokens
word-1.word.y.y     (word, next word, label, label)     #(x, x′, y, y′)
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from corate.contexts.quotes import split_outside_quotes
from corate.contexts.template import Atom, Context

LABEL = "y"
FIRST_LABEL, LAST_LABEL = "^y", "y$"
LABEL_PAIR, LABEL_TRIPLE = "y.y", "y.y.y"
WORD_LABEL = "word.y"
WORD_PAIR = "word-1.word.y.y"

LABELS = (LABEL, FIRST_LABEL, LAST_LABEL)


@cache
def fields(name: str) -> tuple[str, ...]:
    """`word-1.word.y.y` → its four fields."""
    return tuple(split_outside_quotes(name, "."))


@cache
def vocabulary_of(field: str) -> str:
    """Fields that differ only in their offset share a vocabulary: `word-1` → `word`."""
    return LABEL if field in LABELS else Atom.parse(field).source


@cache
def atoms_of(name: str) -> tuple[Atom, ...]:
    """The fields of a table that are no labels."""
    return tuple(Atom.parse(field) for field in fields(name) if field not in LABELS)


def keys_of_tables(names: Iterable[str]) -> list[str]:
    """The keys of features that tables look at, sorted."""
    return sorted({atom.key for name in names for atom in atoms_of(name) if atom.key})


def n_labels_of(name: str) -> int:
    return sum(field in LABELS for field in fields(name))


def looks_outside(atom: Atom, n_labels: int) -> bool:
    """Whether an atom of a table of so many labels may look beyond the sentence."""
    return not -n_labels < atom.offset <= 0


def table_of(context: Context) -> str:
    """`word-1,shape` → the name of its table, `word-1.shape.y`."""
    return ".".join([*map(str, context.atoms), *(["y", "y"] if context.pair else ["y"])])
