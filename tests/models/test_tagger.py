"""The Tagger: gradients against differences, what is kept, what it says and refuses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from conftest import Cli
from corate import InputError, Tagger, load, load_sample
from corate.arrays import Float
from corate.contexts.defaults import WORDS
from corate.contexts.template import Atom, Context, parse_all
from corate.counts.events import count
from corate.counts.names import table_of
from corate.lattice import decode
from corate.lattice.lattice import Lattice
from corate.lattice.narrow import keep, max_marginals
from corate.models.tagger import fit as weights
from corate.models.tagger.evidence import PairEvidence, Rows, pair_scores
from corate.models.tagger.fit import HeldOut
from corate.models.tagger.lattices import LatticeMaker, evidence_of, narrowed
from corate.models.tagger.row_weights import RowWeights
from corate.models.tagger.settings import SETTINGS
from corate.models.tagger.tagger import LABELS_ALONE
from corate.models.tagger.weights import Weights
from corate.rates.rates import Rates
from corate.rates.smoothed import SMOOTHING
from corate.text.tokens import as_corpus
from shared import by

PRIOR_COUNT = SMOOTHING.prior_count

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


# Fitting ---------------------------------------------------------------------------------------------


def folds_of(
    names: Sequence[str], words: list[list[str]], labels: list[list[str]]
) -> tuple[Rates, list[HeldOut]]:
    contexts = parse_all(names)
    corpus = as_corpus(words, labels)
    rates = Rates(count(corpus, [*LABELS_ALONE, *map(table_of, contexts)]), contexts)
    return rates, weights.held_out_parts(corpus, rates, Weights.fixed(rates))


def test_gradient_against_differences() -> None:
    names = ("word", "tail2", "shape", "word-1", "word-1,word", "pair:tail3-1", "pair:shape")
    rates, folds = folds_of(names, [x[:-1] for x in X[:60]], [y[:-1] for y in Y[:60]])  # no full stops
    rng = np.random.default_rng(1)
    vector = Weights.fixed(rates).vector()
    vector = vector + 0.1 * rng.normal(size=len(vector))

    def loss(v: Float) -> tuple[float, Float]:
        return weights._loss(folds[2], Weights.from_vector(v, rates), 1)

    _, gradient = loss(vector)
    n_first = 5 + 2  # prior, pair, start, end, triple, and the two pair contexts
    assert (np.abs(gradient[:n_first]) > 1e-3).all()
    for k in [*range(n_first), *rng.integers(n_first, len(vector), 25).tolist()]:
        step = np.zeros(len(vector))
        step[k] = 1e-5
        difference = (loss(vector + step)[0] - loss(vector - step)[0]) / 2e-5
        assert gradient[k] == pytest.approx(difference, abs=1e-4)


def test_the_loss_is_that_of_the_gold_labels() -> None:
    """−log P by the general decoder, from the same lattice."""
    rates, folds = folds_of(("word", "tail2", "word-1", "pair:tail3-1"), X[:60], Y[:60])
    start = replace(Weights.fixed(rates), pairs=np.array([0.7]))
    for fold in folds:
        x = fold.weighed(start)
        scores = by("numpy", decode.sequence_scores, x, x.labels[fold.gold])
        expected = by("numpy", decode.marginals, x).log_z - scores
        assert weights._loss(fold, start, 1)[0] == pytest.approx(expected.sum())
    each = [weights._loss(fold, start, 1) for fold in folds]
    value, gradient = weights.mean_loss(folds, start)
    n_tokens = sum(map(len, X[:60]))
    assert value == pytest.approx(sum(loss for loss, _ in each) / n_tokens)
    assert gradient == pytest.approx(np.sum([slope for _, slope in each], axis=0) / n_tokens)


def test_folds_do_not_know_their_own_words() -> None:
    """A word that only the fold has is unseen in the fold's evidence; labels are counted without it, too."""
    sentences = [[f"w{k}", "the"] for k in range(20)]
    _, folds = folds_of(["word"], sentences, [["N", "D"]] * 8 + [["N", "N"]] * 12)
    assert sum(fold.n_tokens for fold in folds) == 40
    for k, fold in enumerate(folds):
        assert isinstance(fold.evidence.kinds, Rows)
        buckets = fold.evidence.kinds.buckets[fold.evidence.kind_of, 0].tolist()
        assert buckets[::2] == [0] * (fold.n_tokens // 2)
        assert set(buckets[1::2]) == {4}  # `the`, seen 16 times elsewhere
        n_d = 4 if k < 2 else 8
        prior = fold.evidence.of_labels.prior[0]
        assert prior == pytest.approx((n_d + PRIOR_COUNT) / (32 + 2 * PRIOR_COUNT))


@pytest.mark.parametrize("contexts", [None, ["word", "lower", "col2", "word-1,word", "col2-1,word"]])
def test_what_is_known_of_words_is_kept(fitted: Tagger, contexts: list[str] | None) -> None:
    """The quick way to a lattice against the plain one: at once, from what was kept, and after an update."""
    columns = [[(word, word[-1:]) for word in sentence] for sentence in X]
    tagger = fitted if contexts is None else Tagger("fixed", contexts).fit(columns[:40], Y[:40])
    tests = TEST if contexts is None else [[(word, word[-1:]) for word in sentence] for sentence in TEST]
    maker = LatticeMaker(tagger.rates(), tagger.weights_)
    for part in (tests[:5], tests, tests):
        corpus = tagger._corpus(part)
        lattice = maker.lattice(corpus)
        near = tagger.weights_, SETTINGS.kind_margin
        expected = evidence_of(tagger.rates(), corpus, near=near, everything=False)
        assert_same(lattice, expected.lattice(tagger.weights_))
        in_numpy = by("numpy", maker.lattice, corpus)
        assert lattice.labels.tolist() == in_numpy.labels.tolist()
        np.testing.assert_allclose(lattice.scores, in_numpy.scores, rtol=1e-5, atol=1e-5)
        kept = max_marginals(lattice) > -1.0
        assert_same(keep(lattice, kept), by("numpy", keep, lattice, kept))


def assert_same(a: Lattice, b: Lattice) -> None:
    for field in fields(Lattice):
        np.testing.assert_array_equal(getattr(a, field.name), getattr(b, field.name))


def test_what_was_kept_is_forgotten_by_an_update(tmp_path: Path) -> None:
    tagger = Tagger("fixed").fit(X[:200], Y[:200])
    before = tagger.predict(TEST)
    tagger.partial_fit(X[200:220], Y[200:220])
    tagger.save(tmp_path / "model")
    assert tagger.predict(TEST) == load(tmp_path / "model").predict(TEST) != before


def test_it_beats_the_papers_models(fixed: Tagger, fitted: Tagger) -> None:
    from corate import EmpiricalCRF

    published = EmpiricalCRF("signature").fit(X, Y).score(TEST, GOLD)
    assert published + 0.01 < fixed.score(TEST, GOLD) < fitted.score(TEST, GOLD)


def test_fitting_is_the_same_every_time(fitted: Tagger, tmp_path: Path) -> None:
    again = Tagger(n_jobs=2).fit(X, Y)
    assert np.array_equal(again.weights_.vector(), fitted.weights_.vector())
    fitted.save(tmp_path / "m")
    assert load(tmp_path / "m").predict(TEST) == fitted.predict(TEST) == again.predict(TEST)


def assert_reasons_add_up(tagger: Tagger, sentences: Sequence[Sequence[object]]) -> None:
    rates = tagger.rates()
    for tokens in sentences:
        explained = tagger.explain(tokens)
        total = sum(reason.score for token in explained for reason in token.reasons)
        corpus = tagger._corpus([tokens])
        shown, pair = evidence_of(rates, corpus), pair_scores(tagger.weights_, rates.labels)
        if tagger.row_weights_ is not None:
            rows = RowWeights(rates, tagger.row_weights_)
            terms = rows.terms(corpus, shown.tokens.positions, shown.tokens.labels)
            shown, pair = replace(shown, rows=terms.sum(axis=1)), pair + rows.pair
        narrow, _ = narrowed(shown.lattice(tagger.weights_, pair), SETTINGS.path_margin)
        pairs = PairEvidence.of(rates, corpus, narrow, everything=True)
        refined = pairs.weighed(tagger.weights_, narrow.scores, narrow.edge_scores)
        assert total == pytest.approx(decode.viterbi(refined).scores[0], abs=1e-4)
        assert [token.label for token in explained] == tagger.predict([tokens])[0]


def test_reasons_add_up(fitted: Tagger) -> None:
    assert_reasons_add_up(fitted, TEST[:60])
    entities = load_sample(label="entity")[1]
    rows = [list(zip(*row, strict=True)) for row in zip(X, Y, strict=True)]
    assert_reasons_add_up(Tagger().fit(rows, entities), [*rows[:15], [("Unheard", "PROPN"), ("!", "NEW")]])
    pairs = Tagger(contexts=["word", "tail3", "word-1", "pair:word", "pair:tail2-1,tail2"]).fit(X, Y)
    assert pairs.weights_.pairs.all()
    assert_reasons_add_up(pairs, [*TEST[:20], ["alone"]])
    texts = [reason.text for token in pairs.explain(TEST[0]) for reason in token.reasons]
    assert any(" at tail2-1=" in text for text in texts)
    features = [[{"w": word, "end": word[-2:]} for word in words] for words in X]
    assert_reasons_add_up(Tagger().fit(features, Y), features[:20])


def test_reasons_in_words() -> None:
    (bank, *_) = (
        Tagger("fixed", ["word"])
        .fit([["bank"]] * 3 + [["dog"]], [["N"]] * 2 + [["V"], ["N"]])
        .explain(["bank"])
    )
    assert any(reason.text.startswith("word='bank' was N 2 of 3 times") for reason in bank.reasons)
    words, labels = [["the", "bank"], ["we", "bank"]] * 3, [["D", "N"], ["P", "V"]] * 3
    tagger = Tagger("fixed", ["word", "word-1"]).fit([*words, ["bank", "the"]], [*labels, ["N", "D"]])
    texts = [reason.text for each in tagger.explain(["we", "the"]) for reason in each.reasons]
    slow = by("numpy", tagger.explain, ["we", "the"])
    assert [reason.text for each in slow for reason in each.reasons] == texts
    assert any(text.startswith("word-1='we' was D 0 of 3 times") for text in texts), texts


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


def test_one_token_one_label_one_sentence() -> None:
    for kind in ("fixed", "fitted"):
        assert Tagger(kind).fit([["a"]], [["X"]]).predict([["b", "a"], []]) == [["X", "X"], []]
        one_label = Tagger(kind).fit(X[:30], [["X"] * len(words) for words in X[:30]])
        assert one_label.predict_marginals([["new"]]) == [[{"X": 1.0}]]
        assert Tagger(kind).fit(X[:1], Y[:1]).predict(X[:1]) == Y[:1]


def test_a_label_that_the_context_was_never_seen_with() -> None:
    """The only label of the word after `to`, and yet `run` was never V in training."""
    words = [["the", "run"], ["to", "eat"], ["to", "sit"], ["to", "fly"]] * 6
    labels = [["D", "N"], ["T", "V"], ["T", "V"], ["T", "V"]] * 6
    tagger = Tagger(contexts=["word", "word-1"]).fit(words, labels)
    assert tagger.predict([["the", "run"]]) == [["D", "N"]]
    assert tagger.predict([["to", "unheard"]]) == [["T", "V"]]
    (p,) = tagger.log_prob([["the", "run"]], [["V", "D"]])  # no candidates, and yet a number
    assert -math.inf < p < -5


def test_five_thousand_labels() -> None:
    words = [[f"w{k}" for k in range(s, s + 25)] for s in range(0, 5000, 25)]
    labels = [[word.replace("w", "L") for word in sentence] for sentence in words]
    tagger = Tagger("fixed").fit(words, labels)
    assert len(tagger.classes_) == 5000
    assert tagger.score(words[:20], labels[:20]) == 1.0
    assert len(tagger.predict([["unheard", "of"]])[0]) == 2


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
    short = replace(fixed.weights_, bias=np.zeros(3)).vector()
    for vector in (short, np.full(len(fixed.weights_.vector()), np.nan)):
        with pytest.raises(ValueError, match="weight"):
            Tagger("fixed", fixed.context_names())._set_learned(fixed.counts_, {}, {"weights": vector})
    whole = fixed.weights_.vector()
    for arrays in ({}, {"weights": whole.astype(np.float32)}):
        with pytest.raises(ValueError, match="there are no weights"):
            Tagger("fixed", fixed.context_names())._set_learned(fixed.counts_, {}, arrays)


def test_from_the_command_line(cli: Cli, tmp_path: Path) -> None:
    from corate.text.sample import FOLDER

    model = tmp_path / "m"
    train = ["train", FOLDER / "train.conll", "-m", model, "--label", "2", "--model", "tagger"]
    assert cli(*train, "--weights", "fixed") == (0, "", "")
    assert cli("tag", "-m", model, "--valid", "IOB2", FOLDER / "test.conll").code == 2
    assert cli("eval", "-m", model, FOLDER / "test.conll", "--label", "2").code == 0
    assert "word-1,word" in cli("inspect", model).out
    assert "NOUN" in cli("inspect", model, "--word", "boat").out
    assert "--weights is for --model tagger" in cli(*train[:-1], "ecrn", "--weights", "fixed").err
    assert "--pair is for --model ep1" in cli(*train, "--pair", "word").err
