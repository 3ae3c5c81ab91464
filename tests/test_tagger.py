"""The Tagger: its formulas by hand, kernels against NumPy, gradients against differences."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from brute_force import lattices, log_z, sequences
from conftest import Cli
from corate import InputError, Tagger, decode, load, load_sample, weights
from corate.contexts import WORDS, Atom, Context
from corate.corpus import Corpus
from corate.counts import Events, count
from corate.lattice import Lattice
from corate.rates import ALPHA, PRIOR_COUNT, Rates, in_order
from corate.tagger_lattice import Weights, evidence

X, Y = load_sample()
TEST, GOLD = load_sample("test")


@pytest.fixture(scope="module")
def fixed() -> Tagger:
    return Tagger(weights="fixed").fit(X, Y)


@pytest.fixture(scope="module")
def fitted() -> Tagger:
    return Tagger().fit(X, Y)


def test_contexts_read_and_write() -> None:
    assert [str(Context.parse(text)) for text in WORDS] == list(WORDS)
    assert Context.parse("word-2, word-1") == Context((Atom("word", -2), Atom("word", -1)))
    with pytest.raises(InputError, match="no view is called 'wrod'"):
        Context.parse("wrod-1")
    with pytest.raises(InputError, match="word--1"):
        Context.parse("word--1")


@pytest.mark.parametrize(
    ("context", "parents"),
    [
        ("word", ["tail5", "tail4", "tail3", "tail2", "tail1", "shape"]),
        ("prefix2", ["prefix1"]),
        ("word-1,word", ["word", "tail5"]),
        ("word-2,word-1", ["word-1", "tail5-1"]),
        ("tail2-1,shape,tail2", ["shape,tail2", "tail2"]),
        ("shape", []),
    ],
)
def test_back_off(context: str, parents: list[str]) -> None:
    assert [str(c) for c in Context.parse(context).parents()][: len(parents)] == parents


def test_rates_by_hand() -> None:
    """P(y | f) = (#(f, y) + a P(y | parent)) / (#(f) + a), over two levels."""
    corpus = Corpus.from_sequences([["aa", "Ba", "aa"], ["aa"]], [["X", "Y", "Y"], ["X"]])
    contexts = [Context.parse("word"), Context.parse("shape")]
    rates = Rates(count(corpus, ["word.y", "shape.y", "word-1.y", "word+1.y", "y.y"]), contexts)
    assert [str(c) for c in rates.contexts] == ["shape", "word"]
    prior = [(2 + PRIOR_COUNT) / (4 + 2 * PRIOR_COUNT)] * 2
    lower = [(2 + 2 * ALPHA * prior[0]) / (3 + 2 * ALPHA), (1 + 2 * ALPHA * prior[1]) / (3 + 2 * ALPHA)]
    word = [(n + 2 * ALPHA * p) / (3 + 2 * ALPHA) for n, p in zip((2, 1), lower, strict=True)]
    asked = Corpus.from_sequences([["aa", "bb", "5"]])
    positions, labels = np.array([0, 2, 4, 6]), np.array([0, 1] * 3, np.int32)
    for kernel in ("native", "numpy"):
        found, buckets = rates.log_rates(
            rates.tables, rates.queries(asked, rates.contexts), positions, labels, kernel=kernel
        )
        expected: list[list[list[float] | None]] = [[lower, word], [lower, None], [None, None]]
        for i, columns in enumerate(expected):
            for j, column in enumerate(columns):
                got = found[2 * i : 2 * i + 2, j]
                assert got == pytest.approx([0, 0] if column is None else np.log(column) - np.log(prior))
        assert buckets.tolist() == [[2, 2], [2, 0], [0, 0]]


def test_smoothed_probabilities_sum_to_one(fixed: Tagger) -> None:
    rates = fixed.rates()
    corpus = Corpus.from_sequences(TEST[:20])
    n = len(fixed.classes_)
    positions = np.arange(corpus.n_tokens + 1) * n
    labels = np.tile(np.arange(n, dtype=np.int32), corpus.n_tokens)
    found, _ = rates.log_rates(rates.tables, rates.queries(corpus, rates.contexts), positions, labels)
    prob = np.exp(found) * rates.prior[labels][:, None]
    np.testing.assert_allclose(np.add.reduceat(prob, positions[:-1]), 1.0, atol=1e-12)


def test_kernels_agree_with_numpy(fixed: Tagger) -> None:
    rates, corpus = fixed.rates(), Corpus.from_sequences(TEST[:40])
    shown = evidence(rates, corpus)
    queries = rates.queries(corpus, rates.contexts)
    slow, buckets = rates.log_rates(rates.tables, queries, shown.positions, shown.labels, kernel="numpy")
    np.testing.assert_allclose(shown.rates, slow, atol=1e-12)
    assert np.array_equal(shown.buckets, buckets)
    rng = np.random.default_rng(0)
    w = Weights.fixed(len(rates.contexts), len(fixed.classes_))
    w = Weights.from_vector(
        w.vector() + rng.normal(size=len(w.vector())), len(rates.contexts), rates.n_labels
    )
    scores = [np.zeros(len(shown.labels)) for _ in range(2)]
    shown.weigh(w, scores[0])
    shown.weigh(w, scores[1], kernel="numpy")
    np.testing.assert_allclose(scores[0], scores[1], atol=1e-9)
    for fast, reference in zip(
        shown.unweigh(scores[0], rates.n_labels),
        shown.unweigh(scores[0], rates.n_labels, "numpy"),
        strict=True,
    ):
        np.testing.assert_allclose(fast, reference, atol=1e-8)


@settings(max_examples=60, deadline=None)
@given(x=lattices(impossible=False))
def test_edge_expectations_are_sums_over_all(x: Lattice) -> None:
    values = np.arange(x.n_labels**2, dtype=np.float64).reshape(x.n_labels, x.n_labels) ** 1.5
    for kernel in ("native", "numpy"):
        _, expected = decode.expectations(x, values, kernel=kernel)
        for s in range(x.n_sentences):
            every = sequences(x, s)
            total = 0.0
            for score, path in every:
                labels = [x.labels[x.candidates(i)][q] for i, q in zip(x.span(s), path, strict=True)]
                total += math.exp(score - log_z(every)) * sum(values[a, b] for a, b in pairwise(labels))
            assert expected[s] == pytest.approx(total, abs=1e-8)


def test_gradient_against_differences() -> None:
    corpus = Corpus.from_sequences(X[:60], Y[:60])
    contexts = in_order([Context.parse(name) for name in ("word", "tail2", "shape", "word-1", "word-1,word")])
    names = ["word.y", "tail2.y", "shape.y", "word-1.y", "word-1.word.y", "word+1.y", "y.y"]
    events = Events(corpus, names)
    counts = events.count()
    fold = weights._folds(events, Rates(counts, contexts), 1)[2]
    rng = np.random.default_rng(1)
    n_contexts, n_labels = len(contexts), len(counts.labels)
    vector = Weights.fixed(n_contexts, n_labels).vector()
    vector = vector + 0.1 * rng.normal(size=len(vector))

    def loss(v: np.ndarray) -> tuple[float, np.ndarray]:
        return weights._loss(fold, Weights.from_vector(v, n_contexts, n_labels), 1)

    _, gradient = loss(vector)
    for k in [0, 1, 2, 3, *rng.integers(4, len(vector), 25).tolist()]:
        step = np.zeros(len(vector))
        step[k] = 1e-5
        difference = (loss(vector + step)[0] - loss(vector - step)[0]) / 2e-5
        assert gradient[k] == pytest.approx(difference, abs=1e-4)


def test_folds_do_not_know_their_own_words() -> None:
    """A word that only the fold has is unseen in the fold's evidence."""
    sentences = [[f"w{k}", "the"] for k in range(20)]
    corpus = Corpus.from_sequences(sentences, [["N", "D"]] * 20)
    events = Events(corpus, ["word.y", "word-1.y", "word+1.y", "y.y"])
    for fold in weights._folds(events, Rates(events.count(), [Context.parse("word")]), 1):
        assert fold.evidence.buckets[:, 0].tolist()[::2] == [0] * (fold.n_tokens // 2)
        assert set(fold.evidence.buckets[:, 0].tolist()[1::2]) == {4}  # `the`, seen 16 times elsewhere


def test_it_beats_the_papers_models(fixed: Tagger, fitted: Tagger) -> None:
    from corate import EmpiricalCRF

    published = EmpiricalCRF("signature").fit(X, Y).score(TEST, GOLD)
    assert published + 0.01 < fixed.score(TEST, GOLD) < fitted.score(TEST, GOLD)


def test_fitting_is_the_same_every_time(fitted: Tagger, tmp_path: Path) -> None:
    again = Tagger(n_jobs=2).fit(X, Y)
    assert np.array_equal(again.weights_.vector(), fitted.weights_.vector())
    fitted.save(tmp_path / "m")
    assert load(tmp_path / "m").predict(TEST) == fitted.predict(TEST) == again.predict(TEST)


def test_reasons_add_up(fitted: Tagger) -> None:
    for words in TEST[:15]:
        explained = fitted.explain(words)
        total = sum(reason.score for token in explained for reason in token.reasons)
        lattice = fitted._lattice(Corpus.from_sequences([words]))
        assert total == pytest.approx(decode.viterbi(lattice).scores[0])
        assert [token.label for token in explained] == fitted.predict([words])[0]
    (bank, *_) = (
        Tagger(weights="fixed")
        .fit([["bank"]] * 3 + [["dog"]], [["N"]] * 2 + [["V"], ["N"]])
        .explain(["bank"])
    )
    assert any(reason.text.startswith("word='bank' was N 2 of 3 times") for reason in bank.reasons)


@pytest.mark.parametrize(
    "contexts",
    [["word", "initial-1"], ["hyphen-1", "ending+1"], ["word-1"], ["lower"], ["lower", "suffix3", "prefix3"]],
)
def test_other_contexts(contexts: list[str], tmp_path: Path) -> None:
    """Silent neighbours, contexts without the word: each trains, saves, loads and knows the training data."""
    words = [[f"w{k}", f"v{k}"] for k in range(40)] * 2
    labels = [[f"L{k}", f"L{k}"] for k in range(40)] * 2
    for kind in ("fixed", "fitted"):
        tagger = Tagger(kind, contexts).fit(words, labels)
        tagger.save(tmp_path / "m")
        assert load(tmp_path / "m").predict(words[:40]) == tagger.predict(words[:40])
        if "word-1" not in contexts and "hyphen-1" not in contexts:
            assert tagger.score(words, labels) == 1.0


def test_odd_corpora() -> None:
    Tagger(contexts=["word", "shape"]).fit([[], ["a"] * 20] * 1500, [[], ["A", "B"] * 10] * 1500)
    Tagger().fit([[]] * 9 + [["a", "b"]] + [[]] * 5, [[]] * 9 + [["A", "B"]] + [[]] * 5)
    with pytest.raises(InputError, match="NUL"):
        Tagger().fit([["\0", "a"]], [["X", "Y"]])
    with pytest.raises(InputError, match="too many values"):
        Tagger("fixed", ["word", ",".join(f"word-{k}" for k in range(1, 8))]).fit(X, Y)


def test_unknown_words_are_judged_by_what_was_seen(fixed: Tagger) -> None:
    best = fixed.word_entries("zqrxing")[0]
    assert best.label == "VERB"
    assert best.rate > 2
    assert best.times is None


def test_numbers_out_of_range_fall_back() -> None:
    """Plain products cannot hold this; the logarithms can, and are asked."""
    x = Lattice(
        np.array([0, 2]),
        np.array([0, 2, 4]),
        np.array([0, 1, 0, 1], np.int32),
        np.array([0.0, -750.0, 0.0, 0.0]),
        np.array([[-300.0, -300.0], [600.0, -300.0]]),
        np.zeros(3, np.int64),
        np.empty(0),
    )
    found, _ = decode.expectations(x, np.ones((2, 2)))
    np.testing.assert_allclose(found.probabilities, decode.marginals(x).probabilities)


def test_wrong_parameters_are_named() -> None:
    for params, message in (
        ({"weights": "best"}, "weights='best'"),
        ({"contexts": "word"}, "give a list of names"),
        ({"contexts": []}, "contexts is empty"),
        ({"contexts": {"word"}}, "give a list of names"),
        ({"contexts": ["word", "suffix"]}, "no view is called 'suffix'"),
    ):
        with pytest.raises(InputError, match=message):
            Tagger(**params).fit(X, Y)


def test_a_model_with_wrong_weights_is_refused(fixed: Tagger) -> None:
    short = replace(fixed.weights_, labels=np.zeros(3)).vector()
    for vector in (short, np.full(len(fixed.weights_.vector()), np.nan)):
        with pytest.raises(ValueError, match="weight"):
            Tagger(weights="fixed")._restore(fixed.counts_, {}, {"weights": vector})


def test_from_the_command_line(cli: Cli, tmp_path: Path) -> None:
    from corate.sample import FOLDER

    model = tmp_path / "m"
    train = ["train", FOLDER / "train.conll", "-m", model, "--label", "2", "--model", "tagger"]
    assert cli(*train, "--weights", "fixed") == (0, "", "")
    assert cli("tag", "-m", model, "--valid", "IOB2", FOLDER / "test.conll").code == 2
    assert cli("eval", "-m", model, FOLDER / "test.conll", "--label", "2").code == 0
    assert "word-1,word" in cli("inspect", model).out
    assert "NOUN" in cli("inspect", model, "--word", "boat").out
    assert "--weights is for --model tagger" in cli("train", "x", "-m", model, "--weights", "fixed").err
    assert "are for --model ecrn" in cli(*train, "--pair", "word").err
