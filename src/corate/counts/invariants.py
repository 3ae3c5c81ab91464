"""What holds of all counts of sentences: counts that come from outside are checked for it before any use.

    Σ_f #(f, y) = #(y),   Σ_f #(f, y, y′) = #(y, y′)        of every context f that each token has a value of
    Σ_y″ #(y, y′, y″) ≤ #(y, y′),   Σ_y #(y, y′, y″) ≤ #(y′, y″)
    Σ_y′ #(y, y′) + #(y, END) ≤ #(y),   Σ_y #(y, y′) + #(START, y′) ≤ #(y′)
    #(START), #(END) ≤ sentences ≤ tokens − pairs of tokens

On trees a label stands under one parent and above any number of children: of pairs (y, y′) and triples then
only the sums over what is above hold, and a sentence may have several roots.
The sums are below where tokens lack a label or a feature, and where rare events of contexts were dropped.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from operator import lt

import numpy as np

from corate.arrays import MOST_LABELS, Int, blocks
from corate.contexts.values import OUTSIDE, Vocabulary
from corate.contexts.view_ids import place_of
from corate.counts.counts import Counts
from corate.counts.names import (
    FIRST_LABEL,
    LABEL,
    LABEL_PAIR,
    LABEL_TRIPLE,
    LAST_LABEL,
    WORD_LABEL,
    WORD_PAIR,
    atoms_of,
    fields,
    looks_outside,
    n_labels_of,
    vocabulary_of,
)
from corate.counts.table import Table
from corate.errors import InputError
from corate.text.corpus import UNLABELLED

MOST_COUNTED = 2**32 - 1  # what the kernels can hold of one event
MOST = 1 << 53  # sums up to here are exact as floating-point numbers, too


def check(counts: Counts, pruned: int = 0, trees: bool = False) -> None:
    """Raise ValueError for counts that cannot be those of any sentences.

    `pruned`: events of contexts below this count have been dropped; `trees`: labels hang on trees.
    """
    if type(counts.n_sentences) is not int or counts.n_sentences < 1:
        raise ValueError(f"{counts.n_sentences!r:.60} sentences")
    _check_vocabularies(counts)
    for name, table in counts.tables.items():
        check_table(counts.vocabularies, name, table)
    _check_labels(counts, pruned, trees)
    pairs = counts.tables.get(LABEL_PAIR, Table.of([np.empty(0, np.int32)] * 2))  # rows have none
    for name, table in counts.tables.items():
        if n_labels_of(name) == 2 and atoms_of(name):
            _check_within(f"table {name!r}", _last_two(table), pairs, _counts_everywhere(name, pruned))
    if LABEL_TRIPLE in counts.tables:
        triples = counts.tables[LABEL_TRIPLE]
        if not trees:
            _check_within(f"table {LABEL_TRIPLE!r}", _part(triples, 0, 1), pairs)
        _check_within(f"table {LABEL_TRIPLE!r}", _part(triples, 1, 2), pairs)
    if WORD_PAIR in counts.tables:
        for k in (0, 1):
            of_words = _part(counts.tables[WORD_PAIR], k, k + 2)
            _check_within(f"table {WORD_PAIR!r}", of_words, counts.tables[WORD_LABEL])
    if not all(mask.all() for mask in counts.used().values()):
        raise ValueError("a vocabulary holds entries that never occur")


def check_counts(counts: Counts) -> None:
    """Refuse counts that are beyond what models and kernels can hold."""
    if len(counts.labels) > MOST_LABELS:
        raise InputError(
            f"{len(counts.labels):,} labels: corate takes {MOST_LABELS:,}, for every pair has a number"
        )
    if any(int(n.max()) > MOST_COUNTED for table in counts.tables.values() for n in blocks(table.n)):
        raise InputError(f"an event was counted more than {MOST_COUNTED:,} times: more than a model can hold")


def _check_vocabularies(counts: Counts) -> None:
    needed = {vocabulary_of(field) for name in counts.tables for field in fields(name)}
    strangers = needed ^ {*counts.vocabularies}
    if strangers:
        raise ValueError(f"the vocabulary {min(strangers)!r:.60} is missing, or belongs to no table")
    for key, values in counts.vocabularies.items():
        check_vocabulary(key, values)
    check_classes(counts.labels)


def check_vocabulary(name: str, values: Vocabulary) -> None:
    """Refuse what is not sorted, or no text."""
    if not all(map(lt, values, islice(values, 1, None))):
        raise ValueError(f"vocabulary {name!r:.60} is not sorted or repeats an entry")
    # Half of a surrogate pair is no text; to encode all at once is the quickest way to look for one.
    try:
        data = "\n".join(values).encode()
    except UnicodeEncodeError:
        raise ValueError(f"vocabulary {name!r:.60} has an entry that is no valid text") from None
    if data.count(b"\0") > (OUTSIDE in values[:2]):
        raise ValueError(f"vocabulary {name!r:.60} has an entry with the NUL character, which no text has")


def check_classes(labels: Vocabulary) -> None:
    """Refuse labels of which one is none. They are a vocabulary, too."""
    if not labels or UNLABELLED in labels or OUTSIDE in labels:
        raise ValueError(f"there are no labels, or one is {UNLABELLED!r}, which says that there is none")


def check_table(vocabularies: Mapping[str, Vocabulary], name: str, table: Table) -> None:
    """Refuse rows that are no table's, or no part of one."""
    width = len(fields(name))
    if table.ids.dtype != np.int32 or table.ids.ndim != 2 or table.ids.shape[1] != width:
        raise ValueError(f"table {name!r} has shape {table.ids.shape} where {width} fields are needed")
    if table.n.dtype != np.int64 or table.n.shape != table.ids.shape[:1]:
        raise ValueError(f"table {name!r} has counts of shape {table.n.shape} for {len(table.ids)} rows")
    is_sorted, highest = table.check()
    for k, field in enumerate(fields(name)):
        values = vocabularies[vocabulary_of(field)]
        if len(table.n) and not 0 <= highest[k] < len(values):
            raise ValueError(f"table {name!r} points outside the vocabulary of {field!r}")
        if k < len(atoms_of(name)) and not looks_outside(atoms_of(name)[k], n_labels_of(name)):
            _check_inside(name, table, k, values)
    if not is_sorted or not 1 <= int(table.n.min(initial=1)) <= int(table.n.max(initial=1)) <= MOST:
        raise ValueError(f"table {name!r} is not sorted, repeats a row or holds a count below 1")
    if table.n.sum(dtype=np.float64) > MOST:
        raise ValueError(f"table {name!r} adds up to more than can be counted")


def _check_inside(name: str, table: Table, k: int, values: Vocabulary) -> None:
    outside = place_of(OUTSIDE, values)
    if outside >= 0 and (table.field(k) == outside).any():
        raise ValueError(f"table {name!r} has a token beyond the sentence")


def _check_labels(counts: Counts, pruned: int, trees: bool) -> None:
    """Tables of one label, and those of labels alone, against #(y)."""
    exact = LABEL in counts.tables  # else #(y) is what is left in the table of words
    tokens = _tally(counts, LABEL if exact else WORD_LABEL, -1)
    if (tokens < 1).any():
        raise ValueError(f"the label {counts.labels[int(tokens.argmin())]!r:.60} never occurs")
    for name in counts.tables:
        if n_labels_of(name) == 1 and atoms_of(name):
            found = _tally(counts, name, -1)
            if (found > tokens).any() or (_counts_everywhere(name, pruned) and (found < tokens).any()):
                raise ValueError(f"table {name!r} does not add up to the counts of the labels")
    if not exact and pruned:
        return
    first, last = _tally(counts, FIRST_LABEL, 0), _tally(counts, LAST_LABEL, 0)
    before, after = _tally(counts, LABEL_PAIR, 0), _tally(counts, LABEL_PAIR, 1)
    above = last if trees else before + last
    if (above > tokens).any() or (after + first > tokens).any():
        raise ValueError("there are more pairs of labels, first or last ones than there are labels")
    n_tokens, n_pairs = int(tokens.sum()), int(after.sum())
    n_ends = 0 if trees else max(int(first.sum()), int(last.sum()))
    if not n_ends <= counts.n_sentences <= n_tokens - n_pairs:
        raise ValueError(f"{counts.n_sentences} sentences with {n_tokens} labelled tokens")


def _tally(counts: Counts, name: str, k: int) -> Int:
    """How often each label is the k-th field of a table's events; never, where there is no such table."""
    if name not in counts.tables:
        return np.zeros(len(counts.labels), np.int64)
    table = counts.tables[name]
    return np.bincount(table.field(k), table.n, len(counts.labels)).astype(np.int64)


def _part(table: Table, *ks: int) -> Table:
    """The table's events by some of their fields."""
    return Table.of([table.field(k) for k in ks], table.n)


def _last_two(table: Table) -> Table:
    width = table.ids.shape[1]
    return _part(table, width - 2, width - 1)


def _check_within(what: str, part: Table, whole: Table, equal: bool = False) -> None:
    places, found = whole.find(part.ids)
    if not found.all() or (part.n > whole.n[places]).any() or (equal and part.n.sum() != whole.n.sum()):
        raise ValueError(f"{what} does not add up to what the others count")


def _counts_everywhere(name: str, pruned: int) -> bool:
    """Whether every token (or pair) is an event of the context's table."""
    return not pruned and '"' not in name
