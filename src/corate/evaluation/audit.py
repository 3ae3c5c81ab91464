"""Which training labels are likely wrong: those that a model without them finds least likely.

Sentences are looked at by a model from which their counts have been subtracted, those of one part in twenty
at a time: a part is drawn at random, so that the rest of a sentence's document still speaks. A label's
suspicion is how much likelier the model finds another one there,

    suspicion(i) = log max_y P(yᵢ = y | x) − log P(yᵢ = label | x),

and more by log 1/ε where span labels break their scheme (an I after an O), if most sentences keep it. A
sentence's suspicion is that of its most suspicious label.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from corate.arrays import Mask
from corate.errors import InputError
from corate.models.counted import CountedModel
from corate.text.corpus import UNLABELLED, Corpus
from corate.text.spans import detect_scheme, valid_transition

N_FOLDS = 20
LEAST = 1e-9  # ε, the probability of a label that the model does not consider
MOST_BROKEN = 0.05  # of the sentences may break a scheme for it to be theirs


class Suspect(NamedTuple):
    """A sentence by its number: its labels, what the model says instead, and how suspicious each label is."""

    sentence: int
    suspicion: float
    labels: list[str]
    predicted: list[str]
    by_token: list[float]


def audit(model: CountedModel, corpus: Corpus, n_folds: int = N_FOLDS) -> list[Suspect]:
    """Sentences that the model was trained on and finds suspicious, most suspicious first.

    >>> from corate import Tagger, load_sample
    >>> from corate.text.tokens import as_corpus
    >>> X, y = load_sample("train", "entity")
    >>> y[7] = ["I-LOC", *y[7][1:]]
    >>> tagger = Tagger("fixed").fit(X, y)
    >>> audit(tagger, as_corpus(X, y))[0].sentence
    7
    """
    if corpus.labels is None:
        raise InputError("the sentences have no labels: there is nothing to look at")
    if corpus.n_sentences < 2:
        raise InputError("an audit needs at least two sentences")
    found: list[Suspect] = []
    labels = corpus.split(corpus.labels.codes, corpus.labels.values)
    scheme = _scheme(labels)
    for part, rest in _without_parts(model, corpus, min(n_folds, corpus.n_sentences)):
        sentences = corpus.take(part)
        best, marginals = rest.predict(sentences), rest.predict_marginals(sentences)
        for s, predicted, here in zip(np.flatnonzero(part).tolist(), best, marginals, strict=True):
            found.append(_suspect(s, labels[s], predicted, here, scheme))
    return sorted((s for s in found if s.suspicion > 0), key=lambda s: (-s.suspicion, s.sentence))


def _without_parts(model: CountedModel, corpus: Corpus, n: int) -> Iterator[tuple[Mask, Any]]:
    """Parts of the corpus, each with a model of all the rest."""
    order = np.random.default_rng(0).permutation(corpus.n_sentences)
    for k in range(n):
        part = np.zeros(corpus.n_sentences, bool)
        part[order[k::n]] = True
        rest = model._of_counts_alone()
        taken = model._count([corpus.take(part)], tuple(model.counts_.tables)).counts
        rest._replace_counts(model.counts_ - taken)
        if rest.counts_.n_tokens:
            yield part, rest


def _scheme(labels: Sequence[Sequence[str]]) -> str | None:
    """The scheme that the labels keep, but for some mistakes."""
    scheme = detect_scheme({label for sentence in labels for label in sentence} - {UNLABELLED})
    if scheme is None:
        return None
    broken = sum(any(_breaks(sentence, scheme)) for sentence in labels)
    return scheme if broken <= MOST_BROKEN * len(labels) else None


def _breaks(labels: Sequence[str], scheme: str) -> list[bool]:
    """Which labels may not follow what is before them, or may not be the last."""
    around = [None, *labels, None]
    return [
        UNLABELLED not in (before, label, after)
        and (
            not valid_transition(before, label, scheme)
            or (after is None and not valid_transition(label, None, scheme))
        )
        for before, label, after in zip(around, labels, around[2:], strict=False)
    ]


def _suspect(
    sentence: int,
    labels: list[str],
    predicted: list[str],
    marginals: Sequence[dict[str, float]],
    scheme: str | None,
) -> Suspect:
    by_token = [
        0.0 if label == UNLABELLED else math.log(max(here.values()) / max(here.get(label, 0.0), LEAST))
        for label, here in zip(labels, marginals, strict=True)
    ]
    if scheme is not None:
        broken = _breaks(labels, scheme)
        by_token = [each - math.log(LEAST) * bad for each, bad in zip(by_token, broken, strict=True)]
    return Suspect(sentence, max(by_token, default=0.0), labels, predicted, by_token)
