"""Cross-validation by subtraction: a model is trained once, and labels every fold without its own counts.

    counts of the rest = counts − counts of the fold

With fixed weights that is what training on the rest would give, number by number, at a fraction of the cost.
Fitted weights are those of the whole: some thousand numbers that have seen the fold, which makes figures a
little too good.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from itertools import pairwise
from typing import NamedTuple

from corate.counts.events import Events
from corate.errors import InputError
from corate.lattice.constraints import Constraints
from corate.models.counted import CountedModel
from corate.text.corpus import Corpus


class Fold(NamedTuple):
    """Sentences first … last − 1, labelled by a model of all the others."""

    first: int
    last: int
    labels: list[list[str]]
    known_words: set[str]


def label_folds(
    model: CountedModel, corpus: Corpus, n_folds: int = 5, constraints: Constraints | None = None
) -> Iterator[Fold]:
    """Label contiguous parts of what the model was trained on, each as if it had not been there."""
    if not 2 <= n_folds <= corpus.n_sentences:
        raise InputError(
            f"{n_folds} folds of {corpus.n_sentences:,} sentences: give from 2 folds to one for each sentence"
        )
    events = Events(corpus, model.counts_.tables)
    bounds = [corpus.n_sentences * k // n_folds for k in range(n_folds + 1)]
    for k, (first, last) in enumerate(pairwise(bounds), 1):
        rest = copy(model)
        rest._replace_counts(model.counts_ - events.count(first, last))
        if not rest.counts_.n_tokens:
            raise InputError(f"fold {k} has all the labels there are: nothing is left to learn from")
        labels = rest.predict(corpus.select(first, last), constraints)
        yield Fold(first, last, labels, rest.known_words())
