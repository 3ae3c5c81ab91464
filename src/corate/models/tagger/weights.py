"""Weights: the exponents of the rates, one set for all tokens, whatever the size of the corpus."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from corate.arrays import Float
from corate.models.tagger.settings import SETTINGS, Settings
from corate.rates.rates import Rates

SINGLES = ("prior", "pair", "start", "end", "triple")
MOST_WEIGHT = 1000  # of an exponent; those of a fit are below 10


@cache
def common_weights() -> dict[str, Any]:
    """Made by experiments/common_weights.py: one set for several corpora, of the contexts in `WORDS`."""
    text = (Path(__file__).parent / "common_weights.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def all_common(rates: Rates) -> bool:
    """Whether every context has weights that come with the package, fitted on thousands of sentences."""
    return {str(context) for context in rates.contexts} == {*common_weights()["contexts"]}


def some_common(rates: Rates) -> bool:
    """Whether the contexts that have such weights, which belong together, are among these."""
    return {*common_weights()["contexts"]} <= {str(context) for context in rates.contexts}


@dataclass(frozen=True)
class Weights:
    """Exponents of the rates, the letters of the formula in evidence.py."""

    prior: float  # λ₀
    pair: float  # τ
    start: float
    end: float
    triple: float  # τ₂
    pairs: Float  # τₛ
    contexts: Float  # λ, buckets × contexts
    bias: Float  # β
    contexts_by_label: Float  # δ, labels × contexts

    @classmethod
    def fixed(cls, rates: Rates, settings: Settings = SETTINGS) -> Weights:
        """Those that come with the package, where all the contexts are in use that they were made for; for
        others, an `equal_weight`. They are also where the fit begins, and what it is drawn to."""
        groups = rates.groups
        names, pairs = [str(c) for c in groups.contexts], [str(c) for c in groups.of_pairs.contexts]
        zeros = np.zeros(rates.n_labels), np.zeros((rates.n_labels, len(names)))
        common = common_weights()
        by_bucket = np.full((rates.smoothing.n_buckets, len(names)), equal_weight(rates, settings))
        singles = [
            settings.prior_weight,
            settings.pair_weight,
            settings.pair_weight,
            settings.pair_weight,
            settings.triple_weight,
        ]
        if some_common(rates):
            singles = [common[name] for name in SINGLES]
            # Others, such as those of further columns, count for each context that falls back to them.
            beside = groups.n_below * (settings.contexts_weight / len(names))
            for j, name in enumerate(names):
                by_bucket[:, j] = common["contexts"].get(name, beside[j])
        of_pairs = np.array([common["pairs"].get(name, 0.0) for name in pairs], np.float64)
        prior, pair, start, end, triple = singles
        return cls(prior, pair, start, end, triple, of_pairs, by_bucket, *zeros)

    def vector(self) -> Float:
        numbers = [self.prior, self.pair, self.start, self.end, self.triple]
        parts = self.pairs, self.contexts.ravel(), self.bias, self.contexts_by_label.ravel()
        return np.concatenate([numbers, *parts])

    def bounds(self) -> list[tuple[float | None, float | None]]:
        """What a fit may make of each number: evidence for a label is never turned against it (λ ≥ 0)."""
        first = len(SINGLES) + len(self.pairs)
        free: list[tuple[float | None, float | None]] = [(None, None)] * len(self.vector())
        free[first : first + self.contexts.size] = [(0.0, None)] * self.contexts.size
        return free

    @classmethod
    def from_vector(cls, vector: Float, rates: Rates) -> Weights:
        shape = rates.smoothing.n_buckets, len(rates.contexts)
        return cls._of(vector, shape, len(rates.groups.of_pairs.contexts), rates.n_labels)

    def like(self, vector: Float) -> Weights:
        """Other numbers in the same shape."""
        n_buckets, n_contexts = self.contexts.shape
        return self._of(vector, (n_buckets, n_contexts), len(self.pairs), len(self.bias))

    @classmethod
    def _of(cls, vector: Float, shape: tuple[int, int], n_pairs: int, n_labels: int) -> Weights:
        n_buckets, n_contexts = shape
        sizes = len(SINGLES), n_pairs, n_buckets * n_contexts, n_labels, n_labels * n_contexts
        if vector.shape != (sum(sizes),):
            raise ValueError(f"{vector.shape} weights for {n_contexts} contexts and {n_labels} labels")
        singles, pairs, contexts, labels, by_label = np.split(vector, np.cumsum(sizes)[:-1])
        prior, pair, start, end, triple = singles.tolist()
        by_label = by_label.reshape(n_labels, n_contexts)
        return cls(prior, pair, start, end, triple, pairs, contexts.reshape(shape), labels, by_label)

    def relabelled(self, labels: Sequence[str], others: Sequence[str]) -> Weights:
        """The same for other labels: those that were not there before have no β and δ of their own."""
        place = {label: y for y, label in enumerate(labels)}
        kept = [(y, place[label]) for y, label in enumerate(others) if label in place]
        to, of = np.array(kept, np.int64).reshape(-1, 2).T
        bias, by_label = np.zeros(len(others)), np.zeros((len(others), self.contexts.shape[1]))
        bias[to], by_label[to] = self.bias[of], self.contexts_by_label[of]
        return replace(self, bias=bias, contexts_by_label=by_label)


def mean_weights(
    weights: Sequence[tuple[Weights, Sequence[str]]], shares: Sequence[float], labels: Sequence[str]
) -> Weights:
    """The mean of weights over their own labels each; one set that all have stays what it is.

    Sums are rounded once (fsum), so that the order of the models does not matter.
    """
    each = [w.relabelled(own, labels) for w, own in weights]
    vectors = np.stack([w.vector() for w in each])
    if (vectors == vectors[0]).all():
        return each[0]
    means = [math.fsum(column) for column in (vectors * np.array(shares)[:, None]).T.tolist()]
    return each[0].like(np.array(means))


def equal_weight(rates: Rates, settings: Settings = SETTINGS) -> float:
    """Equal exponents for all contexts. Rates of a chain of parents multiply to the rate of its last context:
    each chain, which is to say each context without a parent, has its share."""
    return settings.contexts_weight / max(1, rates.groups.parents.count(-1))
