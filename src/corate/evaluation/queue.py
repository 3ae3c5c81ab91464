"""Which sentences to label next: the least certain ones first, and a random share to stay honest.

    margin(x) = P(best label sequence | x) − P(second best | x)

A sentence with one possible sequence has margin 1. The random share tells how good the model is on text that
nobody has chosen: of sentences that were chosen for being hard, no accuracy can be told.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from corate.arrays import Float
from corate.errors import InputError
from corate.lattice import decode
from corate.models.base import Estimator

RANDOM_SHARE = 0.1


class Suggestion(NamedTuple):
    """A sentence by its number, how certain its labels are, and whether it was drawn at random."""

    sentence: int
    margin: float
    drawn: bool


def margins(model: Estimator, X: Any) -> Float:
    """P(best) − P(second best) of every sentence."""
    now = model._now()
    found = [np.zeros(0)]
    for _, lattice in now._batches(X, None, 2):
        paths = decode.nbest(lattice, 2, now._n_threads())
        log_z = decode.marginals(lattice, now._n_threads()).log_z
        first, second = np.exp(np.minimum(paths.scores - log_z, 0.0))
        found.append(first - second)
    return np.concatenate(found)


def suggest(model: Estimator, X: Any, share: float = RANDOM_SHARE, seed: int = 0) -> list[Suggestion]:
    """All sentences in the order in which to label them; every 1/share-th is drawn at random.

    >>> from corate import Tagger, load_sample
    >>> tagger = Tagger("fixed").fit(*load_sample())
    >>> [s.sentence for s in suggest(tagger, [["The", "dog", "."], ["Flurbs", "zog", "quickly"]], share=0)]
    [1, 0]
    """
    if not 0 <= share <= 1:
        raise InputError(f"a random share of {share!r}: give a number from 0 to 1")
    certain = margins(model, X)
    by_margin = iter(np.argsort(certain, kind="stable").tolist())
    at_random = list(range(len(certain)))
    random.Random(seed).shuffle(at_random)
    return list(_mixed(by_margin, iter(at_random), certain, share))


def _mixed(
    by_margin: Iterator[int], at_random: Iterator[int], certain: Float, share: float
) -> Iterator[Suggestion]:
    seen: set[int] = set()
    for before, now in pairwise(share * k for k in range(len(certain) + 1)):
        drawn = int(now + 1e-9) > int(before + 1e-9)
        sentence = next(s for s in (at_random if drawn else by_margin) if s not in seen)
        seen.add(sentence)
        yield Suggestion(sentence, float(certain[sentence]), drawn)
