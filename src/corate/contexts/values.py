"""Values: the columns of a corpus that contexts look at."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from corate.contexts.template import Atom, Context
from corate.errors import InputError
from corate.text.corpus import Column, Corpus

Vocabulary = list[str]


OUTSIDE = "\0"  # the value of every view beyond the sentence; no text has this character


def place_of(value: str, vocabulary: Vocabulary) -> int:
    """The id of a value, −1 where it has none."""
    place = bisect_left(vocabulary, value)
    return place if vocabulary[place : place + 1] == [value] else -1


def column_of(corpus: Corpus, atom: Atom) -> Column | None:
    """The column that an atom looks at; None where the corpus has no such column."""
    if atom.key is not None or corpus.keys:
        return corpus.columns[corpus.keys.index(atom.key)] if atom.key in corpus.keys else None
    return corpus.columns[atom.n_columns - 1] if atom.n_columns <= len(corpus.columns) else None


def seen_columns(corpus: Corpus, contexts: Sequence[Context]) -> list[Column]:
    """The columns that contexts look at, and the words, in the order of their names."""
    names = {atom.column for context in contexts for atom in context.atoms}
    if not corpus.keys:
        names.add(Atom("word").column)
    found = {name: column_of(corpus, Atom("word", 0, name)) for name in sorted(names)}
    missing = next((name for name, column in found.items() if column is None), None)
    if missing is not None:
        raise InputError(
            f"the model looks at {missing}, and the sentences have no such column: give them all"
        )
    return [column for column in found.values() if column is not None]
