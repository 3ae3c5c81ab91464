"""Smoothed rates: the formulas by hand, one number at a time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise, product

import numpy as np
import pytest

from corate import Tagger, load_sample
from corate.contexts.template import parse_all
from corate.contexts.views import view
from corate.counts.events import count
from corate.counts.names import table_of
from corate.lattice.lattice import Lattice
from corate.models.tagger.settings import SETTINGS
from corate.models.tagger.tagger import LABELS_ALONE
from corate.models.tagger.weights import equal_weight
from corate.rates.rates import Rates
from corate.rates.smoothed import SMOOTHING
from corate.text.tokens import as_corpus
from shared import by

ALPHA, PRIOR_COUNT, PAIR_COUNT = SMOOTHING.alpha, SMOOTHING.prior_count, SMOOTHING.pair_count

X, Y = load_sample()
TEST = load_sample("test")[0]


@pytest.fixture(scope="module")
def fixed() -> Tagger:
    return Tagger(weights="fixed").fit(X, Y)


WORDS_BY_HAND = [["aa", "Ba", "aa"], ["aa"], ["Ba", "aa"], ["aa", "Ba", "aa", "aa"]]
LABELS_BY_HAND = [["X", "Y", "Y"], ["X"], ["Y", "X"], ["X", "Y", "X", "X"]]


def rates_of(names: Sequence[str], words: list[list[str]], labels: list[list[str]]) -> Rates:
    contexts = parse_all(names)
    tables = [*LABELS_ALONE, *map(table_of, contexts)]
    return Rates(count(as_corpus(words, labels), tables), contexts)


def test_rates_by_hand() -> None:
    """P(y | f) = (#(f, y) + a P(y | parent)) / (#(f) + a), each relative to the one above."""
    rates = rates_of(["word", "shape"], [["aa", "Ba", "aa"], ["aa"]], [["X", "Y", "Y"], ["X"]])
    assert [str(c) for c in rates.contexts] == ["shape", "word"]
    prior = [(2 + PRIOR_COUNT) / (4 + 2 * PRIOR_COUNT)] * 2
    lower = [(2 + 2 * ALPHA * prior[0]) / (3 + 2 * ALPHA), (1 + 2 * ALPHA * prior[1]) / (3 + 2 * ALPHA)]
    word = [(n + 2 * ALPHA * p) / (3 + 2 * ALPHA) for n, p in zip((2, 1), lower, strict=True)]
    asked = as_corpus([["aa", "bb", "5"]])
    positions, labels = np.array([0, 2, 4, 6]), np.array([0, 1] * 3, np.int32)
    for kernel in ("native", "numpy"):
        found, buckets = by(kernel, rates.log_rates, rates.groups.alone, asked, positions, labels)
        expected: list[list[tuple[list[float], list[float]] | None]]
        expected = [[(lower, prior), (word, lower)], [(lower, prior), None], [None, None]]
        for i, columns in enumerate(expected):
            for j, column in enumerate(columns):
                right = [0, 0] if column is None else np.log(column[0]) - np.log(column[1])
                assert found[2 * i : 2 * i + 2, j] == pytest.approx(right, abs=1e-6)
        assert buckets.tolist() == [[2, 2], [2, 0], [0, 0]]


class ByHand:
    """What the formulas say of the corpus above, one number at a time."""

    def __init__(self) -> None:
        flat = [y for labels in LABELS_BY_HAND for y in labels]
        self.pairs = Counter(pair for labels in LABELS_BY_HAND for pair in pairwise(labels))
        self.n = self.pairs.total()
        self.p = {y: (flat.count(y) + PRIOR_COUNT) / (len(flat) + 2 * PRIOR_COUNT) for y in "XY"}

    def joint(self, y: str, z: str) -> float:
        added = PAIR_COUNT * math.sqrt(self.n)
        return (self.pairs[y, z] + added * self.p[y] * self.p[z]) / (self.n + added)

    def rate(self, y: str, z: str) -> float:
        return self.joint(y, z) / (self.p[y] * self.p[z])


def test_rates_of_pairs_by_hand() -> None:
    """CR(y; y′), CR(y; START), and CR(y; y′ | f) of the word at the second label."""
    hand = ByHand()
    rates = rates_of(["word", "pair:word"], WORDS_BY_HAND, LABELS_BY_HAND)
    assert np.exp(rates.labels.pair).ravel() == pytest.approx([hand.rate(y, z) for y in "XY" for z in "XY"])
    first = {y: 3 * (y == "X") + (y == "Y") + PAIR_COUNT * 2 * hand.p[y] for y in "XY"}  # 2 = √4 sentences
    assert np.exp(rates.labels.start) == pytest.approx(
        [first[y] / (4 + PAIR_COUNT * 2) / hand.p[y] for y in "XY"]
    )
    at_word: dict[str, Counter[tuple[str, str]]] = {"aa": Counter(), "Ba": Counter()}
    for words, labels in zip(WORDS_BY_HAND, LABELS_BY_HAND, strict=True):
        for word, pair in zip(words[1:], pairwise(labels), strict=True):
            at_word[word][pair] += 1
    asked = as_corpus([["aa", "Ba", "aa", "new"]])
    x = Lattice(
        np.array([0, 4]),
        np.array([0, 2, 4, 6, 8]),
        np.array([0, 1] * 4, np.int32),
        np.zeros(8),
        rates.labels.pair,
        np.array([0, 0, 4, 8, 12]),
        np.zeros(12),
    )
    for kernel in ("native", "numpy"):
        found = by(kernel, rates.pair_rates, asked, x.positions, x.labels, x.edges)[:, 0]
        for word, got in (("Ba", found[:4]), ("aa", found[4:8])):
            n = at_word[word]
            a = ALPHA * len(n)
            left = {y: sum(n[y, z] for z in "XY") + a * hand.p[y] for y in "XY"}
            right = {z: sum(n[y, z] for y in "XY") + a * hand.p[z] for z in "XY"}
            for value, (y, z) in zip(got, product("XY", "XY"), strict=True):
                joint = n[y, z] + a * hand.joint(y, z)
                rate = joint * (n.total() + a) / (left[y] * right[z])
                assert value == pytest.approx(math.log(rate / hand.rate(y, z)), abs=1e-6)
        assert not found[8:].any()  # a word that training never saw


def test_rates_of_triples_by_hand() -> None:
    """P(y″ | y, y′) smoothed with P(y″ | y′), over the latter."""
    hand = ByHand()
    rates = rates_of(["word"], WORDS_BY_HAND, LABELS_BY_HAND)
    triples = Counter(t for y in LABELS_BY_HAND for t in zip(y, y[1:], y[2:], strict=False))
    assert triples == {("X", "Y", "Y"): 1, ("X", "Y", "X"): 1, ("Y", "X", "X"): 1}
    for y, z, last in product("XY", repeat=3):
        after = hand.joint(z, last) / sum(hand.joint(z, other) for other in "XY")
        n = sum(triples[y, z, other] for other in "XY")
        a = ALPHA * sum(triples[y, z, other] > 0 for other in "XY")
        rate = (triples[y, z, last] + a * after) / (n + a) / after if n else 1.0
        found = rates.labels.triple.rates(
            *(np.array(["XY".index(label)], np.int32) for label in (y, z, last))
        )
        assert found[0] == pytest.approx(math.log(rate))


def test_smoothed_probabilities_sum_to_one(fixed: Tagger) -> None:
    rates = fixed.rates()
    corpus = as_corpus(TEST[:20])
    n = len(fixed.classes_)
    positions = np.arange(corpus.n_tokens + 1) * n
    labels = np.tile(np.arange(n, dtype=np.int32), corpus.n_tokens)
    found, _ = rates.log_rates(rates.groups.alone, corpus, positions, labels)
    prob = np.exp(found)
    for j, parent in enumerate(rates.groups.alone.parents.tolist()):  # the chain rule, down to each context
        prob[:, j] *= rates.labels.prior[labels] if parent < 0 else prob[:, parent]
    np.testing.assert_allclose(np.add.reduceat(prob, positions[:-1]), 1.0, atol=1e-5)


def test_rates_of_a_chain_multiply() -> None:
    """∏ CR(y; fⱼ | parent(fⱼ)) along a chain is CR(y; f) of its last context, counted by itself."""
    chain = ("shape", "tail1", "tail2", "word")
    rates = rates_of([*chain, "suffix3", "word-1", "word-1,word"], X[:60], Y[:60])
    assert rates.groups.parents == [-1, 0, 1, 2, -1, -1, 3]
    assert equal_weight(rates) == SETTINGS.contexts_weight / 3
    assert rates.groups.n_below.tolist() == [5, 4, 3, 2, 1, 1, 1]
    corpus = as_corpus(X[:20])
    n = rates.n_labels
    positions = np.arange(corpus.n_tokens + 1) * n
    labels = np.tile(np.arange(n, dtype=np.int32), corpus.n_tokens)
    found, _ = rates.log_rates(rates.groups.alone, corpus, positions, labels)
    expected = rates.labels.prior[labels]
    flat = [
        (w, y) for words, own in zip(X[:60], Y[:60], strict=True) for w, y in zip(words, own, strict=True)
    ]
    for name in chain:
        pairs = Counter((view(name)(word), label) for word, label in flat)
        seen: dict[str, list[int]] = {}
        for (value, _), k in pairs.items():
            seen.setdefault(value, []).append(k)
        values = [view(name)(word) for words in X[:20] for word in words for _ in range(n)]
        own = np.array([pairs[v, rates.counts.labels[y]] for v, y in zip(values, labels, strict=True)])
        a = np.array([ALPHA * len(seen[value]) for value in values])
        expected = (own + a * expected) / (np.array([sum(seen[value]) for value in values]) + a)
    product_of_rates = np.exp(found[:, : len(chain)].sum(axis=1))
    np.testing.assert_allclose(product_of_rates, expected / rates.labels.prior[labels], rtol=1e-4)
