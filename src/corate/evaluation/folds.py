"""Cross-validation: every fold is labelled by the model of all the others. Counting is done once:

    counts of the rest = counts − counts of the fold

Whatever is learned besides (the Tagger's weights, contexts that the data choose, a chosen μ_oov) is learned
anew from the rest, so that labels are those of as many trainings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from corate.counts.counts import Counts
from corate.counts.engines.memory import whole
from corate.counts.events import Events
from corate.counts.invariants import check_counts
from corate.counts.ledger import NO_DIGESTS
from corate.errors import InputError
from corate.lattice.constraints import Constraints
from corate.models.counted import CountedModel, keys_of
from corate.text.corpus import ABSENT, Corpus
from corate.text.tokens import as_corpus


class Fold(NamedTuple):
    """Sentences first … last − 1, labelled by a model of all the others."""

    first: int
    last: int
    labels: list[list[str]]
    known_words: set[str]


def label_folds(
    model: CountedModel, corpus: Corpus, n_folds: int = 5, constraints: Constraints | None = None
) -> Iterator[Fold]:
    """Label contiguous parts of a corpus, each by a model of the others. Of the model that is given, only its
    class and parameters are taken, trained or not."""
    corpus = as_corpus(corpus, None, model.numbers)
    bounds = fold_bounds(corpus.n_sentences, n_folds)
    if corpus.labels is None:
        raise InputError("the sentences have no labels: there is nothing to learn from")
    model._check_params()
    shared: _Shared | None = None
    for k, (first, last) in enumerate(pairwise(bounds), 1):
        others = others_of(corpus, first, last)
        if not others.labelled().any():
            raise InputError(f"fold {k} has all the labels there are: nothing is left to learn from")
        params: dict[str, Any] = {**model.get_params(), "ledger": False}
        rest = type(model)(**params)
        contexts = rest._settle(whole(others))
        names = rest._tables_with(contexts)
        seen = corpus
        if corpus.keys:  # those that the contexts look at, there or not
            others, seen = (each.with_keys(keys_of(contexts)) for each in (others, corpus))
        if shared is None:
            shared = _Shared(seen, names)
        if names == shared.names:
            counts = shared.without(first, last)
        else:  # the data chose other contexts
            counts = rest._count([others], names).counts
        check_counts(counts)
        rest._become(others, contexts, counts)
        rest._start_ledger(NO_DIGESTS)
        yield Fold(first, last, rest.predict(corpus.select(first, last), constraints), rest.known_words())


def fold_bounds(n_sentences: int, n_folds: int) -> list[int]:
    """Where folds of nearly equal size begin, and the last one ends."""
    if not 2 <= n_folds <= n_sentences:
        raise InputError(
            f"{n_folds} folds of {n_sentences:,} sentences: give from 2 folds to one for each sentence"
        )
    return [n_sentences * k // n_folds for k in range(n_folds + 1)]


def others_of(corpus: Corpus, first: int, last: int) -> Corpus:
    """All sentences but first … last − 1, as a training on them would have been given them."""
    place = np.arange(corpus.n_sentences)
    others = corpus.take((place < first) | (place >= last))
    occur = [others.columns[k].values != [ABSENT] for k in range(len(others.keys))]
    if all(occur):
        return others
    kept = np.flatnonzero(occur).tolist()  # keys of features that the fold alone has
    if not kept:
        raise InputError("a fold has all the features there are: nothing is left to learn from")
    columns, keys = tuple(others.columns[k] for k in kept), tuple(others.keys[k] for k in kept)
    return replace(others, columns=columns, keys=keys)


class _Shared:
    """The counts of all sentences, of which each fold's are taken away."""

    def __init__(self, corpus: Corpus, names: tuple[str, ...]) -> None:
        self.names = names
        self._events = Events(corpus, names)
        self._whole = self._events.count()

    def without(self, first: int, last: int) -> Counts:
        return self._whole - self._events.count(first, last)
