"""Contexts of a user's own features, chosen by the data: back-off, and features that say more together.

A feature that tells another (nearly always the same value of it) falls back to it, as a word falls back to
its last letters. Features that are joined say what their sum cannot: a capital means less at the start of a
sentence. Both are written as joint contexts, the first parts of which are left out by back-off:

    "word.lower","word[-3:]","word[-2:]"  →  "word[-3:]","word[-2:]"  →  "word[-2:]"
    "-1:word.istitle","word.istitle"      →  "word.istitle"

A joint context is worth what it adds to its parent for a token that it has not seen, in nats a token:

    gain(f) = mean of log P(y | f) / P(y | parent(f)),   the token's own count left out

with P(y | f) smoothed as anywhere (rates/smoothed.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from corate.arrays import Float, Int, Mask
from corate.contexts.template import MOST_ATOMS, Atom, Context, quote
from corate.models.tagger.settings import SETTINGS, Settings
from corate.rates.smoothed import Smoothing, smooth
from corate.text.corpus import ABSENT, UNLABELLED, Corpus
from corate.text.passages import Passages, tokens_between

MOST_BITS = 48  # of a joint value's key: later vocabularies may grow


def feature_contexts(text: Passages, keys: Sequence[str], settings: Settings = SETTINGS) -> list[Context]:
    """Contexts for tokens that are given by features: each feature with its back-off, and the joint ones that
    earn their place."""
    sample = _Sample.of(text, keys, settings)
    chains = _chains(sample, settings)
    pairs = _pairs(sample, chains, settings)
    chosen = [*chains.values(), *pairs, *_triples(sample, chains, pairs, settings)]
    return list(dict.fromkeys(context.template for context in chosen))


@dataclass(frozen=True)
class _Tried:
    """A context as the sample sees it."""

    keys: tuple[str, ...]
    codes: Int  # its value at each token, −1 where it has none
    prob: Float  # P(y | f) of each token's label, its own count left out
    gain: float  # over the parent

    @property
    def template(self) -> Context:
        return Context(tuple(Atom("word", 0, quote(key)) for key in self.keys))

    @cached_property
    def n_values(self) -> int:
        return len(np.unique(self.codes[self.codes >= 0]))


@dataclass(frozen=True)
class _Sample:
    """Labelled tokens of some stretches of the corpus."""

    labels: Int
    n_labels: int
    codes: dict[str, Int]  # of each feature
    bits: dict[str, int]
    smoothing: Smoothing

    @classmethod
    def of(cls, text: Passages, keys: Sequence[str], settings: Settings) -> _Sample:
        n, folds = text.n_tokens, settings.n_folds
        most = max(1, settings.joint_tokens // folds)
        stretches = [(n * k // folds, min(n * k // folds + most, n * (k + 1) // folds)) for k in range(folds)]
        corpus = Corpus.join([tokens_between(text, begin, end) for begin, end in stretches if begin < end])
        labels = corpus.labels
        assert labels is not None
        labelled = np.array([value != UNLABELLED for value in labels.values], bool)
        places = np.flatnonzero(labelled[labels.codes])
        codes = {}
        for key, column in zip(keys, corpus.columns, strict=True):
            absent = np.array([value == ABSENT for value in column.values], bool)
            here = column.codes[places].astype(np.int64)
            codes[key] = np.where(absent[here], np.int64(-1), here)
        bits = {key: text.n_values(key).bit_length() + 1 for key in keys}
        known = labels.codes[places].astype(np.int64)
        return cls(known, text.n_values(None), codes, bits, settings.smoothing)

    @cached_property
    def nothing(self) -> _Tried:
        """What is known of a label without any context."""
        n = np.bincount(self.labels, minlength=self.n_labels) + self.smoothing.prior_count
        return _Tried((), np.zeros(len(self.labels), np.int64), (n / n.sum())[self.labels], 0.0)

    @cached_property
    def entropy(self) -> float:
        return -float(np.log(self.nothing.prob).mean()) if len(self.labels) else 0.0

    def join(self, key: str, parent: _Tried) -> _Tried | None:
        """A feature joined to a context; None where it says no more, or cannot be said."""
        keys = (key, *parent.keys)
        if len(keys) > MOST_ATOMS or sum(self.bits[each] for each in keys) > MOST_BITS:
            return None
        codes = _paired(self.codes[key], parent.codes)
        prob = self._left_out(codes, parent.prob)
        gain = float(np.log(prob / parent.prob).mean()) if len(prob) else 0.0
        return _Tried(keys, codes, prob, round(gain, 9))

    def _left_out(self, codes: Int, above: Float) -> Float:
        """P(y | f) of each token's label by the counts of the others, smoothed with that of the parent."""
        there = codes >= 0
        value = np.unique(codes[there], return_inverse=True)[1].ravel()
        rows, row, n = np.unique(
            value * self.n_labels + self.labels[there], return_inverse=True, return_counts=True
        )
        n_seen = np.bincount(rows // self.n_labels)[value]
        own = n[row.ravel()]
        a = self.smoothing.alpha * np.where(own > 1, n_seen, n_seen - 1)
        prob: Float = above.copy()
        prob[there] = smooth(own - 1, np.bincount(value)[value] - 1, a, above[there])
        return prob


def _paired(a: Int, b: Int) -> Int:
    """One number for two; −1 where one of them is."""
    there = (a >= 0) & (b >= 0)
    packed = a * (int(b.max(initial=0)) + 1) + b
    return np.where(there, np.unique(np.where(there, packed, -1), return_inverse=True)[1].ravel(), -1)


def _entropy(codes: Int) -> float:
    n = np.bincount(codes[codes >= 0])
    p = n[n > 0] / max(1, n.sum())
    return -float((p * np.log(p)).sum())


def _chains(sample: _Sample, settings: Settings) -> dict[str, _Tried]:
    """Each feature with those that it tells: of the ones that are left open little by it, the finest."""
    entropy = {key: _entropy(codes) for key, codes in sample.codes.items()}
    order = sorted(sample.codes, key=lambda key: (round(entropy[key], 9), key))
    chains: dict[str, _Tried] = {}
    for place, key in enumerate(order):
        here: Mask = sample.codes[key] >= 0
        tried = None
        for other in reversed(order[:place][-settings.joint_features :]):
            codes = sample.codes[other]
            if entropy[other] <= 0 or not (codes[here] >= 0).all():
                continue
            left_open = _entropy(_paired(sample.codes[key], codes)[here]) - entropy[key]
            if left_open <= settings.backoff_share * entropy[other]:
                tried = sample.join(key, chains[other])
                break
        chains[key] = tried or sample.join(key, sample.nothing) or sample.nothing
    return {key: chains[key] for key in sample.codes}


def _pairs(sample: _Sample, chains: dict[str, _Tried], settings: Settings) -> list[_Tried]:
    """Two features together, the more telling one last: the best of those that add to it."""
    names = _telling(chains, settings)
    found = []
    for place, last in enumerate(names):
        for first in names[place + 1 :]:
            if first in chains[last].keys or last in chains[first].keys:
                continue
            joined = sample.join(first, chains[last])
            if joined is not None and joined.n_values > max(chains[last].n_values, chains[first].n_values):
                found.append(joined)
    uses: Counter[str] = Counter()
    chosen: list[_Tried] = []
    for joined in _worthwhile(found, sample, settings):
        first, last = joined.keys[0], joined.keys[1]
        if max(uses[first], uses[last]) < settings.joint_partners and len(chosen) < settings.joint_pairs:
            uses.update((first, last))
            chosen.append(joined)
    return chosen


def _triples(
    sample: _Sample, chains: dict[str, _Tried], pairs: Sequence[_Tried], settings: Settings
) -> list[_Tried]:
    """The best third feature of each pair."""
    found: dict[frozenset[str], _Tried] = {}
    for pair in pairs:
        tried = [
            joined
            for key in _telling(chains, settings)
            if key not in pair.keys and (joined := sample.join(key, pair)) is not None
            if joined.n_values > pair.n_values
        ]
        for joined in _worthwhile(tried, sample, settings)[:1]:
            found.setdefault(frozenset(joined.keys), joined)
    return _worthwhile([*found.values()], sample, settings)[: settings.joint_triples]


def _telling(chains: dict[str, _Tried], settings: Settings) -> list[str]:
    """Features that vary, the most telling ones first."""
    total = {key: _total_gain(key, chains) for key, tried in chains.items() if tried.n_values > 0}
    return sorted(total, key=lambda key: (-round(total[key], 9), key))[: settings.joint_features]


def _total_gain(key: str, chains: dict[str, _Tried]) -> float:
    tried = chains[key]
    return tried.gain + (_total_gain(tried.keys[1], chains) if len(tried.keys) > 1 else 0.0)


def _worthwhile(tried: Sequence[_Tried], sample: _Sample, settings: Settings) -> list[_Tried]:
    least = settings.joint_gain * sample.entropy
    return sorted((t for t in tried if t.gain > least), key=lambda t: (-t.gain, t.keys))
