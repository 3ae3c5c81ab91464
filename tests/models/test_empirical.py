"""EmpiricalCRF against the papers' worked examples, an HMM, and counting by hand."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from brute_force import sequences
from corate import EmpiricalCRF, InputError, NotFittedError, load
from corate.contexts.views import view
from corate.models.empirical.empirical import MU_GRID
from corate.rates.empirical import LOG_ZERO

Data = tuple[list[list[str]], list[list[str]]]


def repeated(*parts: tuple[int, str, str]) -> Data:
    X = [list(words) for n, words, _ in parts for _ in range(n)]
    return X, [list(labels) for n, _, labels in parts for _ in range(n)]


RIB_ROB = repeated((11, "rib", "XIB"), (9, "rob", "YOB"), (1, "rob", "XIB"))


@pytest.mark.parametrize("unknown", ["mean", "signature"])
def test_rib_rob(unknown: str) -> None:
    """002 §III-C: p(YOB | rob) = 9/10, p(XIB | rob) = 1/10."""
    crf = EmpiricalCRF(unknown=unknown, pair="word").fit(*RIB_ROB)
    (best,) = crf.predict_nbest([list("rob")], n=9)
    assert ["".join(labels) for labels, _ in best[:2]] == ["YOB", "XIB"]
    assert [p for _, p in best[:2]] == pytest.approx([9 / 10, 1 / 10], abs=1e-14)
    assert all(p == 0.0 for _, p in best[2:])
    # Unnormalised, as published: the factors themselves multiply to 9/10.
    corpus_score = crf.log_prob([list("rob")], [list("YOB")])[0]
    assert math.exp(corpus_score) == pytest.approx(0.9, abs=1e-14)


def test_test_time_problem() -> None:
    """000 §3.4.3: [b, c] must be [0, 0]."""
    crf = EmpiricalCRF(pair="word").fit(*repeated((4, "abcd", "0000"), (1, "abcd", "0110")))
    assert crf.predict([["b", "c"]]) == [["0", "0"]]
    nll = -(
        4 * crf.log_prob([list("abcd")], [list("0000")])[0] + crf.log_prob([list("abcd")], [list("0110")])[0]
    )
    assert nll == pytest.approx(-4 * math.log(0.8) - math.log(0.2), abs=1e-12)
    assert nll == pytest.approx(2.50202, abs=1e-5)  # as CRF++ printed it, just short of the optimum


tokens = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("XYZ")), min_size=1, max_size=5)


@settings(max_examples=100, deadline=None)
@given(st.lists(tokens, min_size=1, max_size=8), st.lists(st.sampled_from("abc"), min_size=1, max_size=5))
def test_label_pairs_make_it_a_bigram_hmm(data: list[list[tuple[str, str]]], words: list[str]) -> None:
    """P̃(x|y) ∝ P̃(y|x)/P̃(y): on known words the best sequence is that of an unsmoothed HMM."""
    x_y = Counter(t for s in data for t in s)
    y_n = Counter(y for s in data for _, y in s)
    y_y = Counter((a[1], b[1]) for s in data for a, b in pairwise(s))
    assume(all(any((w, y) in x_y for y in y_n) for w in words))

    def hmm(labels: tuple[str, ...]) -> Fraction:
        p = Fraction(y_n[labels[0]], sum(y_n.values()))
        for word, y in zip(words, labels, strict=True):
            p *= Fraction(x_y[word, y], y_n[y])
        for a, b in pairwise(labels):
            p *= Fraction(y_y[a, b], y_n[a])
        return p

    every = {labels: hmm(labels) for labels in itertools.product(sorted(y_n), repeat=len(words))}
    best = max(every.values())
    assume(best > 0)
    crf = EmpiricalCRF(pair="label").fit([[w for w, _ in s] for s in data], [[y for _, y in s] for s in data])
    (found,) = crf.predict([words])
    assert every[tuple(found)] == best
    posterior = best / sum(every.values())
    assert math.exp(crf.log_prob([words], [found])[0]) == pytest.approx(float(posterior), rel=1e-9)


# All factors in plain Python --------------------------------------------------------------------------

CONTEXTS = ("suffix1", "initial")


class Plain:
    """ψ and φ of EP1 and ECRN, word pairs included, from lists of (word, label)."""

    def __init__(self, data: list[list[tuple[str, str]]], signature: bool, of_words: bool) -> None:
        self.tokens = [token for s in data for token in s]
        self.pairs = [pair for s in data for pair in pairwise(s)]
        self.known, self.of_words = {word for word, _ in self.tokens}, of_words
        views = [view(name) for name in CONTEXTS]
        self.contexts: list[Callable[[str], object]] = [*views]
        if signature:  # a joint value; it is never silent
            self.contexts = [lambda word: tuple(v(word) for v in views)]

    def given(self, value: Callable[[str], object], x: object) -> dict[str, Fraction]:
        """P̃(y | x), where `value` tells what of a word x is."""
        n = Counter(y for word, y in self.tokens if value(word) == x)
        return {y: Fraction(k, n.total()) for y, k in n.items()}

    def psi(self, word: str) -> dict[str, Fraction]:
        if word in self.known:
            return self.given(str, word)
        each = [self.given(f, f(word)) for f in self.contexts if f(word) != ""]
        each = [p for p in each if p] or [self.given(lambda _: None, None)]
        labels = {y for p in each for y in p}
        return {y: sum((p.get(y, Fraction(0)) for p in each), Fraction(0)) / len(each) for y in labels}

    def phi(self, a: str, b: str, y: str, z: str) -> Fraction:
        """CR(y; z | a, b), its mean over contexts where a word is unknown; or else CR(y; z)."""
        every = [str] if {a, b} <= self.known else self.contexts
        rates = []
        for f in every if self.of_words else []:
            left, right = (str if word in self.known else f for word in (a, b))
            seen = [(u[1], v[1]) for u, v in self.pairs if left(u[0]) == left(a) and right(v[0]) == right(b)]
            if seen and "" not in (left(a), right(b)):
                alone = self.given(left, left(a)).get(y, 0), self.given(right, right(b)).get(z, 0)
                both = Fraction(seen.count((y, z)), len(seen))
                rates.append(both / alone[0] / alone[1] if both else Fraction(0))
        if rates:
            return sum(rates, Fraction(0)) / len(rates)
        prior = self.given(lambda _: None, None)
        n = sum(u[1] == y and v[1] == z for u, v in self.pairs)
        return Fraction(n, len(self.pairs)) / prior[y] / prior[z] if n else Fraction(0)

    def score(self, words: list[str], labels: tuple[str, ...]) -> float:
        factors = [self.psi(word)[y] for word, y in zip(words, labels, strict=True)]
        factors += [self.phi(*w, *y) for w, y in zip(pairwise(words), pairwise(labels), strict=True)]
        return sum(math.log(factor) if factor else LOG_ZERO for factor in factors)


labelled = st.lists(
    st.tuples(st.sampled_from(["a", "ba", "Ab", "B", "bb"]), st.sampled_from("XYZ")), min_size=1, max_size=4
)


@pytest.mark.parametrize("pair", ["label", "word"])
@pytest.mark.parametrize("unknown", ["mean", "signature"])
@settings(max_examples=60, deadline=None)
@given(
    data=st.lists(labelled, min_size=1, max_size=6),
    words=st.lists(st.sampled_from(["a", "ba", "Ab", "B", "bb", "aa", "Cb", "d"]), min_size=1, max_size=3),
)
def test_every_factor_in_plain_python(
    unknown: str, pair: str, data: list[list[tuple[str, str]]], words: list[str]
) -> None:
    plain = Plain(data, unknown == "signature", pair == "word")
    crf = EmpiricalCRF(unknown, pair, CONTEXTS).fit(
        [[w for w, _ in s] for s in data], [[y for _, y in s] for s in data]
    )
    lattice = crf._lattice(crf._corpus([words]))
    here = [lattice.labels[lattice.candidates(i)].tolist() for i in range(len(words))]
    assert [[crf.classes_[y] for y in labels] for labels in here] == [sorted(plain.psi(w)) for w in words]
    for score, path in sequences(lattice, 0):
        labels = tuple(crf.classes_[here[i][q]] for i, q in enumerate(path))
        assert score == pytest.approx(plain.score(words, labels), rel=1e-12, abs=1e-9)


def test_weights_of_ep2_are_there_when_it_is_fitted(tmp_path: Path) -> None:
    crf = EmpiricalCRF("maxent").fit(X, Y)
    assert crf.__dict__["training_log_"], "whatever there is to say of the fit is said by fit"
    crf.save(tmp_path / "m")
    found = load(tmp_path / "m")
    assert found.__dict__["training_log_"] == [], "and not found once more by load"
    assert found.predict_marginals([["Walked"]]) == crf.predict_marginals([["Walked"]])


X = [["The", "dogs", "barked"], ["A", "Dutch-born", "painter", "sleeping"], ["Cats", "sleep"]]
Y = [["D", "N", "V"], ["D", "J", "N", "V"], ["N", "V"]]


def test_unknown_words_by_the_mean_of_their_contexts() -> None:
    """EP1 by hand: `Walked` begins with a capital and ends in -ed; it has no hyphen, which is no feature."""
    crf = EmpiricalCRF(unknown="mean").fit(X, Y)
    upper = {"D": 2, "J": 1, "N": 1}  # The, A | Dutch-born | Cats
    ed = {"V": 1}  # barked
    expected = {y: sum(Fraction(f.get(y, 0), sum(f.values())) for f in (upper, ed)) / 2 for y in "DJNV"}
    (found,) = crf.predict_marginals([["Walked"]])[0]
    assert found == pytest.approx({y: float(p) for y, p in expected.items()})
    (prior,) = crf.predict_marginals([["sky"]])[0]
    assert prior == pytest.approx({"D": 2 / 9, "J": 1 / 9, "N": 3 / 9, "V": 3 / 9})


def test_unknown_words_by_their_signature() -> None:
    """ECRN by hand: `Dogs` looks like `Cats`; nothing looks like `Far-seeing`, so the prior stays."""
    crf = EmpiricalCRF(unknown="signature").fit(X, Y)
    assert crf.predict_marginals([["Dogs"]]) == [[{"N": 1.0}]]
    (prior,) = crf.predict_marginals([["Far-seeing"]])[0]
    assert prior == pytest.approx({"D": 2 / 9, "J": 1 / 9, "N": 3 / 9, "V": 3 / 9})


def test_unknown_words_in_word_pairs_keep_rates_whole() -> None:
    """002 §III-D: for `Wells walk` the signatures stand in for both words in all three probabilities."""
    words = [["Cats", "sleep"], ["Dogs", "sleep"], ["Bats", "run"]]
    labels = [["N", "V"], ["N", "N"], ["M", "V"]]
    crf = EmpiricalCRF(unknown="signature", pair="word").fit(words, labels)
    (best,) = crf.predict_nbest([["Wells", "walk"]], n=4)
    assert {tuple(y): pytest.approx(p) for y, p in best if p > 0} == {
        ("N", "V"): 1 / 3,
        ("N", "N"): 1 / 3,
        ("M", "V"): 1 / 3,
    }


def test_a_common_factor_cancels_but_an_exponent_does_not() -> None:
    """Why mu_oov is an exponent here: see the docstring of EmpiricalCRF."""
    flat, sharp = (
        EmpiricalCRF(mu_oov=mu).fit(X, Y).predict_marginals([["Walked"]])[0][0] for mu in (1.0, 2.0)
    )
    squares = {y: p * p for y, p in flat.items()}
    assert sharp == pytest.approx({y: p / sum(squares.values()) for y, p in squares.items()})


def test_mu_oov_is_chosen_on_held_out_data() -> None:
    """`Bees` looks 3 to 2 like N, and CR(D; M) / CR(D; N) = (20/22) / (4/7): N wins where (3/2)^μ > 1.59."""
    words = [["Aas"], ["Bas"], ["Cas"], ["Das"], ["Eas"], *[["the", "x"]] * 4, *[["the", "y"]] * 20]
    labels = [["N"], ["N"], ["N"], ["M"], ["M"], *[["D", "N"]] * 4, *[["D", "M"]] * 20]

    def found(mu_oov: float | None, gold: str) -> tuple[float, list[str]]:
        held_out = [["the", "Bees"]], [["D", gold]]
        crf = EmpiricalCRF("signature", mu_oov=mu_oov).fit(words, labels, held_out=held_out)
        return crf.mu_oov_, crf.predict(held_out[0])[0]

    wins = [mu for mu in MU_GRID if 1.5**mu > (20 / 22) / (4 / 7)]
    assert 1.0 not in wins
    assert found(None, "N") == (min(wins), ["D", "N"])
    assert found(None, "M") == (1.0, ["D", "M"])
    assert EmpiricalCRF(mu_oov=None).fit(words, labels).get_params()["mu_oov"] is None
    assert EmpiricalCRF(mu_oov=None).fit([["a"]], [["N"]]).mu_oov_ == 1.0, "nothing is left to choose it on"


def test_mu_oov_is_chosen_on_a_tenth_that_is_not_counted_then() -> None:
    """As above with (13/15) / (4/7) = 1.517: `Bees` is unknown to who chooses, and known afterwards."""
    words = [["Aas"], ["Bas"], ["Cas"], ["Das"], ["Eas"], *[["the", "x"]] * 4, *[["the", "y"]] * 13]
    labels = [["N"], ["N"], ["N"], ["M"], ["M"], *[["D", "N"]] * 4, *[["D", "M"]] * 13]
    last = [["the", "Bees"]] * 2, [["D", "N"]] * 2
    crf = EmpiricalCRF("signature", mu_oov=None).fit(words + last[0], labels + last[1])
    assert crf.mu_oov_ == min(mu for mu in MU_GRID if 1.5**mu > (13 / 15) / (4 / 7)) > 1.0
    assert "Bees" in crf.counts_.words


def test_parameters_set_after_training_wait_for_the_next(tmp_path: Path) -> None:
    crf = EmpiricalCRF("mean").fit(X, Y)
    before = crf.predict_marginals([["Walked"]])
    crf.set_params(unknown="signature", pair="word")
    assert crf.predict_marginals([["Walked"]]) == before
    crf.save(tmp_path / "m")
    assert load(tmp_path / "m").predict_marginals([["Walked"]]) == before
    assert crf.fit(X, Y).predict_marginals([["Walked"]]) != before


def test_unobserved_pairs_only_where_nothing_else_is_left() -> None:
    """V before D was never seen: the sentence still gets labels, those with the fewest unseen factors."""
    crf = EmpiricalCRF().fit(X, Y)
    assert crf.predict([["sleep", "The", "dogs"]]) == [["V", "D", "N"]]
    assert crf.log_prob([["The", "sleep"]], [["D", "V"]])[0] == pytest.approx(0.0)
    (lattice,) = [lattice for _, lattice in crf._batches([["sleep", "The"]], None)]
    assert lattice.pair_scores.min() == LOG_ZERO


def test_partial_fit_equals_fit() -> None:
    for pair in ("label", "word"):
        whole = EmpiricalCRF(pair=pair).fit(X, Y)
        parts = EmpiricalCRF(pair=pair).partial_fit(X[:1], Y[:1]).partial_fit(X[1:], Y[1:])
        assert parts.counts_ == whole.counts_
        assert parts.predict(X) == whole.predict(X)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"unknown": "median"}, "unknown='median': choose from 'mean', 'signature'"),
        ({"pair": "sentence"}, "pair='sentence'"),
        ({"mu_oov": -1.0}, "mu_oov=-1.0: give a number between 0 and 1000"),
        ({"contexts": ["sufix3"]}, "no view is called 'sufix3'"),
        ({"n_jobs": 0}, "n_jobs=0"),
    ],
)
def test_wrong_parameters_are_named(params: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        EmpiricalCRF(**params).fit(X, Y)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (["a b"], [["X"]], "sentence 0 is the string 'a b'"),
        ("abc", None, "X is a string"),
        ([["a"]], [["X"], ["Y"]], "1 sentences in X, 2 label lists in y"),
        ([["a", "b"]], [["X"]], "sentence 0 has 2 tokens and 1 labels"),
        ([["a"]], [[1]], "label 0 is 1: labels are strings"),
        ([[b"a"]], [["X"]], "token 0 is b'a'"),
        ([["a", ("b", "c")]], [["X", "Y"]], r"\[1, 2\] columns"),
        ([], [], "no labelled token"),
        ([[]], [[]], "no labelled token"),
        ([["a"]], None, "has no labels"),
    ],
)
def test_wrong_data_is_one_sentence(X: object, y: object, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        EmpiricalCRF().fit(X, y)


def test_not_fitted() -> None:
    with pytest.raises(NotFittedError, match="call fit"):
        EmpiricalCRF().predict(X)


@pytest.mark.parametrize("words", [[], [[]], [[], ["dogs"], []], [["", "\u2028"]]])
@pytest.mark.parametrize("pair", ["label", "word"])
def test_odd_sentences(words: list[list[str]], pair: str) -> None:
    crf = EmpiricalCRF(pair=pair).fit(X, Y)
    assert [len(s) for s in crf.predict(words)] == [len(s) for s in words]
    assert [len(s) for s in crf.predict_marginals(words)] == [len(s) for s in words]
    assert len(crf.predict_nbest(words, 2)) == len(words)


def test_other_contexts_for_unknown_words() -> None:
    crf = EmpiricalCRF(unknown="signature", contexts=["suffix3", "shape"]).fit(X, Y)
    assert crf.predict([["worked"]]) == [["V"]]  # suffix3 "ked", shape "x", as barked


def test_what_is_known_of_a_word() -> None:
    crf = EmpiricalCRF().fit(
        [["the", "bank"], ["the", "bank"], ["we", "bank"]], [["D", "N"], ["D", "N"], ["P", "V"]]
    )
    noun, verb = crf.word_entries("bank")
    assert (noun.label, noun.times, verb.label, verb.times) == ("N", 2, "V", 1)
    assert (noun.probability, noun.rate) == pytest.approx((2 / 3, (2 / 3) / (2 / 6)))
    assert (verb.probability, verb.rate) == pytest.approx((1 / 3, (1 / 3) / (1 / 6)))
    strange = crf.word_entries("shore")
    assert [entry.times for entry in strange] == [None] * 4
    assert [entry.rate for entry in strange] == pytest.approx([1.0] * 4)
