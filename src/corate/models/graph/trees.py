"""Tokens that hang on a tree: the columns of parents and of children, beside a token's own.

    word  col2  HEAD    word^  col2^    word*  col2*          side
    The   DET   2       dog    NOUN            _              R1      its parent is one to the right
    dog   NOUN  3       barks  VERB     The _  DET _          R1
    barks VERB  0       ^      ^        dog _  NOUN _         ^       a root has no parent

HEAD is a number as CoNLL-U has it, from 1, and 0 for a root. All are ordinary columns, so that whatever is
done with columns is done with these: contexts look at them, they are counted, updated and forgotten.
"""

from __future__ import annotations

import numpy as np

from corate.arrays import Int
from corate.errors import InputError
from corate.text.corpus import Column, Corpus

ROOT = "^"  # what stands where a parent would
MOST_CHILDREN = 3  # of those on each side that are told of, the nearest
FAR = ((8, "8"), (4, "4"))  # distances from here on are one


def heads_of(corpus: Corpus) -> Int:
    """The place of each token's parent in the corpus, −1 for a root, by the last column."""
    column = corpus.columns[-1]
    numbers = np.array([_number(value) for value in column.values], np.int64)[column.codes]
    length = np.diff(corpus.offsets)
    first, size = np.repeat(corpus.offsets[:-1], length), np.repeat(length, length)
    bad = (numbers < 0) | (numbers > size) | (first + numbers - 1 == np.arange(len(numbers)))
    if bad.any():
        raise _error(corpus, int(np.argmax(bad)), "is no other token's number, nor 0 for a root")
    heads = np.where(numbers > 0, first + numbers - 1, -1)
    above, steps = heads.copy(), 0
    while (above >= 0).any():  # up the trees, twice as far each time
        above = np.where(above >= 0, above[above], -1)
        steps += 1
        if steps > 64:
            raise _error(corpus, int(np.argmax(above >= 0)), "is part of a circle: a tree has none")
    return heads


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else -1


def _error(corpus: Corpus, token: int, message: str) -> InputError:
    sentence = int(np.searchsorted(corpus.offsets, token, "right")) - 1
    place = token - int(corpus.offsets[sentence]) + 1
    column = corpus.columns[-1]
    head = column.values[column.codes[token]]
    word = corpus.words.values[corpus.words.codes[token]]
    return InputError(
        f"sentence {sentence + 1}, token {place} ({word!r:.40}): its head {head!r:.40} {message}"
    )


def tree_of(corpus: Corpus) -> Int:
    """The parents of a corpus that has the columns of its trees."""
    n = (len(corpus.columns) - 2) // 3
    return heads_of(Corpus(corpus.columns[: n + 1], None, corpus.offsets))


def with_tree(corpus: Corpus) -> Corpus:
    """The corpus with the columns of parents, of children, and of where the parent is."""
    if len(corpus.columns) < 2:
        raise InputError("a tree needs heads: give tokens whose last column is the number of their parent")
    heads, own = heads_of(corpus), corpus.columns[:-1]
    parents = [_of_parents(column, heads) for column in own]
    children = _nearest_children(heads)
    families = [_of_children(column, children) for column in own]
    columns = (*corpus.columns, *parents, *families, _sides(heads))
    return Corpus(columns, corpus.labels, corpus.offsets, corpus.keys)


def _of_parents(column: Column, heads: Int) -> Column:
    values = [*column.values, ROOT]
    codes = np.where(heads >= 0, column.codes[heads], len(column.values)).astype(np.int32)
    return Column(codes, values)


def _nearest_children(heads: Int) -> tuple[list[list[int]], list[list[int]]]:
    """Of each token, the nearest ones on the left and on the right, in the order of the text."""
    left: list[list[int]] = [[] for _ in heads]
    right: list[list[int]] = [[] for _ in heads]
    for token, head in enumerate(heads.tolist()):
        if head > token:
            left[head] = [*left[head], token][-MOST_CHILDREN:]
        elif 0 <= head < token and len(right[head]) < MOST_CHILDREN:
            right[head].append(token)
    return left, right


def _of_children(column: Column, children: tuple[list[list[int]], list[list[int]]]) -> Column:
    strings = column.strings()
    each = [
        " ".join([*(strings[k] for k in left), "_", *(strings[k] for k in right)])
        for left, right in zip(*children, strict=True)
    ]
    return Column.from_strings(each)


def _sides(heads: Int) -> Column:
    names = []
    for token, head in enumerate(heads.tolist()):
        far = abs(head - token)
        number = next((name for least, name in FAR if far >= least), str(far))
        names.append(ROOT if head < 0 else ("R" if head > token else "L") + number)
    return Column.from_strings(names)
