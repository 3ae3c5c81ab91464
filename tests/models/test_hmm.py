"""HMM: worked by hand, against plain Python and against empirical training."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corate
from brute_force import sequences
from corate import HMM, EmpiricalCRF
from corate.lattice import decode
from corate.models.hmm import RARE, deleted_interpolation

X, Y = corate.load_sample("train", "entity")


def test_unsmoothed_hmm_labels_as_empirical_training() -> None:
    """P̃(x | y) ∝ P̃(y | x) / P̃(y), so that both have the same factors at known words."""
    hmm = HMM(smoothing="none", ends=False).fit(X, Y)
    ep = EmpiricalCRF(pair="label").fit(X, Y)
    assert hmm.predict(X) == ep.predict(X)
    both = [model.predict_marginals(X[:30]) for model in (hmm, ep)]
    for a, b in zip(*both, strict=True):
        for p, q in zip(a, b, strict=True):
            assert p == pytest.approx(q, abs=1e-9)


TINY = [["a", "b", "a"], ["b"]], [["P", "Q", "P"], ["Q"]]


@pytest.mark.parametrize(
    ("smoothing", "start", "step", "emission"),
    [  # P(P | start), P(Q | P), P(a | P)
        ("none", 1 / 2, 1 / 2, 1.0),
        ("lidstone", (1 + 0.1) / (2 + 0.3), (1 + 0.1) / (2 + 0.3), (2 + 0.1) / (2 + 0.3)),
        # outcomes P 2, Q 2, stop 2 of 6; two distinct ones after each
        ("witten-bell", (1 + 2 / 3) / 4, (1 + 2 / 3) / 4, (2 + 1 / 2) / 3),
    ],
)
def test_hmm_by_hand(smoothing: str, start: float, step: float, emission: float) -> None:
    factors = HMM(smoothing).fit(*TINY).factors()
    assert math.exp(factors.start[0]) == pytest.approx(start)
    assert math.exp(factors.transitions[0, 1]) == pytest.approx(step)
    assert math.exp(factors.emissions(["a"])[0, 0]) == pytest.approx(emission)


@pytest.mark.parametrize("smoothing", ["none", "lidstone", "witten-bell", "interpolation"])
def test_hmm_probabilities_sum_to_one(smoothing: str) -> None:
    factors = HMM(smoothing).fit(X, Y).factors()
    assert np.exp(factors.start).sum() <= 1 + 1e-12  # smoothing leaves something for an empty sentence
    leaving = np.exp(factors.transitions).sum(axis=1) + np.exp(factors.stop)
    assert leaving == pytest.approx(np.ones(len(leaving)))
    assert np.exp(factors.known(np.arange(len(factors.index)))).sum(axis=0).max() <= 1 + 1e-12


def test_deleted_interpolation_by_hand() -> None:
    """An event votes for P(y′ | y) if that expects it, without itself, at least as much as P(y′) does."""
    one_row = np.array([[3.0, 2.0]])  # the same twice: both say (3 − 1) / (5 − 1) and (2 − 1) / (5 − 1)
    assert deleted_interpolation(one_row) == 1.0
    # 3: 2/2 against 3/5; 1: 0 of 0 against 3/5; 2: 1/1 against 1/5
    assert deleted_interpolation(np.array([[3.0, 0.0], [1.0, 0.0], [0.0, 2.0]])) == pytest.approx(5 / 6)
    # 2: 1/3 against 2/7; 2: 1/3 against 4/7; 1: 0/3 against 2/7; 3: 2/3 against 4/7
    assert deleted_interpolation(np.array([[2.0, 2.0], [1.0, 3.0]])) == pytest.approx(5 / 8)


def test_hmm_learns_forgets_and_merges() -> None:
    half = len(X) // 2
    whole = HMM().fit(X, Y)
    first, second = HMM().fit(X[:half], Y[:half]), HMM().fit(X[half:], Y[half:])
    assert (first + second).counts_ == whole.counts_
    assert whole.forget(X[half:], Y[half:]).counts_ == first.counts_


# All probabilities in plain Python --------------------------------------------------------------------

Data = list[list[tuple[str, str]]]
data = st.lists(
    st.lists(st.tuples(st.sampled_from(["a", "b", "ab", "bb"]), st.sampled_from("PQR")), max_size=4),
    min_size=1,
).filter(any)
STOP = "$"


def transitions(sentences: Data) -> dict[str, Counter[str]]:
    """What follows each label, and the start."""
    after: dict[str, Counter[str]] = {y: Counter() for y in ("^", *{y for s in sentences for _, y in s})}
    for s in filter(None, sentences):
        for a, b in pairwise(["^", *(y for _, y in s), STOP]):
            after[a][b] += 1
    return after


def smooth(n: Counter[str], common: Counter[str], outcome: str, smoothing: str, n_outcomes: int) -> float:
    if smoothing == "lidstone":
        return (n[outcome] + 0.1) / (n.total() + 0.1 * n_outcomes)
    if smoothing == "witten-bell":
        return (n[outcome] + len(n) * common[outcome] / common.total()) / (n.total() + len(n))
    return n[outcome] / n.total()


@pytest.mark.parametrize("smoothing", ["none", "lidstone", "witten-bell"])
@pytest.mark.parametrize("ends", [True, False])
@settings(max_examples=60, deadline=None)
@given(sentences=data, words=st.lists(st.sampled_from(["a", "b", "ab", "bb"]), max_size=3))
def test_joint_probabilities_in_plain_python(
    smoothing: str, ends: bool, sentences: Data, words: list[str]
) -> None:
    """004 eqn 24, sentences of one token included; without ends the first label has P(y)."""
    after, tokens = transitions(sentences), [token for s in sentences for token in s]
    given_y = {y: Counter(x for x, z in tokens if z == y) for y in after if y != "^"}
    steps, every = sum(after.values(), Counter()), Counter(x for x, _ in tokens)
    words = [word for word in words if every[word]]
    hmm = HMM(smoothing, ends=ends).fit(
        [[x for x, _ in s] for s in sentences], [[y for _, y in s] for s in sentences]
    )
    lattice = hmm._lattice(hmm._corpus([words]))
    found = {
        tuple(hmm.classes_[lattice.labels[lattice.positions[i] + q]] for i, q in enumerate(path)): score
        for score, path in sequences(lattice, 0)
    }

    def step(a: str, b: str) -> float:
        return smooth(after[a], steps, b, smoothing, len(given_y) + 1)

    for labels in itertools.product(sorted(given_y), repeat=len(words)):
        if not words:
            continue
        first = step("^", labels[0]) if ends else given_y[labels[0]].total() / len(tokens)
        p = [first, *(step(a, b) for a, b in pairwise(labels)), step(labels[-1], STOP) if ends else 1.0]
        p += [
            smooth(given_y[y], every, x, smoothing, len(every) + 1)
            for x, y in zip(words, labels, strict=True)
        ]
        if all(p):
            assert found[labels] == pytest.approx(sum(map(math.log, p)))
        else:
            assert found.get(labels, -math.inf) < -1e4, "what never occurred"


def test_unknown_words_in_plain_python() -> None:
    """P(x | y) ∝ P(y | f) / P(y), by the words seen at most ten times, smoothed suffix by suffix."""
    counts = Counter(
        {("walked", "V"): 2, ("red", "J"): 1, ("bed", "N"): 3, ("dog", "N"): 10, ("the", "D"): 11}
    )
    X = [[word] for (word, _), n in counts.items() for _ in range(n)]
    Y = [[label] for (_, label), n in counts.items() for _ in range(n)]
    hmm = HMM(contexts=("suffix2", "suffix1")).fit(X, Y)
    classes = hmm.classes_
    of_word = {word: Counter({y: n}) for (word, y), n in counts.items()}
    rare = [word for word, n in of_word.items() if n.total() <= RARE]
    assert "dog" in rare
    assert "the" not in rare
    prior = {y: sum(n[y] for n in of_word.values()) / counts.total() for y in classes}

    def expected(word: str) -> list[float]:
        p = prior
        for alike in (lambda _: True, lambda w: w[-1:] == word[-1:], lambda w: w[-2:] == word[-2:]):
            n = sum((of_word[w] for w in rare if alike(w)), Counter())
            if n:
                p = {y: (n[y] + len(n) * p[y]) / (n.total() + len(n)) for y in classes}
        return [p[y] / prior[y] for y in classes]

    for word in ("wed", "bad", "frog", "z"):
        np.testing.assert_allclose(np.exp(hmm.factors().emissions([word])[0]), expected(word))


def test_a_label_after_which_nothing_is_known() -> None:
    """Q is followed by a token without a label alone: what comes after it is what comes after any label."""
    hmm = HMM().fit([["a", "b", "c"], ["a", "c"]], [["P", "Q", None], ["P", "P"]])
    factors = hmm.factors()
    leaving = [*np.exp(factors.transitions[1]), math.exp(factors.stop[1])]
    assert leaving == pytest.approx([3 / 5, 1 / 5, 1 / 5])  # ^P ^P PP, PQ, P$


def test_explanations_are_probabilities() -> None:
    """Their scores add up to that of the sequence; entries of a word say how often it had each label."""
    for ends in (True, False):
        hmm = HMM(ends=ends).fit(X, Y)
        for words in [*X[:20], ["unheard"]]:
            explained = hmm.explain(words)
            total = sum(reason.score for each in explained for reason in each.reasons)
            lattice = hmm._lattice(hmm._corpus([words]))
            assert total == pytest.approx(decode.viterbi(lattice).scores[0])
            labels = [each.label for each in explained]
            assert labels == hmm.predict([words])[0]
            for (a, b), each in zip(pairwise(labels), explained[1:], strict=True):
                assert f"{b} after {a}" in [reason.text for reason in each.reasons]
    hmm = HMM("lidstone").fit(*TINY)
    (first, second), (odd, _) = hmm.word_entries("a"), hmm.word_entries("new")
    assert (first.label, first.times, second.label, second.times, odd.times) == ("P", 2, "Q", 0, None)
    p = np.array([2.1 / 2.3, 0.1 / 2.3]) / 2
    assert [first.probability, second.probability] == pytest.approx(p / p.sum())
    assert first.rate == pytest.approx(2 * first.probability)
