"""What a Tagger leaves out: with exact=True nothing, and its answers are those of all label sequences."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import pytest

from corate import Constraints, InputError, Tagger, arrays, load_sample
from shared import KERNELS, by

X, Y = load_sample(label="entity")
KEPT = {"O", "B-PER", "I-PER", "B-LOC"}
Y = [[label if label in KEPT else "O" for label in labels] for labels in Y]
TEST, GOLD = load_sample("test", label="entity")
SENTENCES = [["Anna", "zyxed", "Dr.", "Qux"], ["The", "1984", "it"], ["O'Zyx"], ["saw", "Paris"], []]


@pytest.fixture(scope="module", params=["fixed", "fitted"])
def tagger(request: pytest.FixtureRequest) -> Tagger:
    return Tagger(request.param).fit(X, Y)


@pytest.mark.parametrize("kernel", KERNELS)
def test_exact_is_brute_force(tagger: Tagger, kernel: str) -> None:
    """Every sequence of all labels, each scored by itself: they sum to one, the best is the one predicted,
    marginals are sums, and the n best are the first n."""
    for tokens in SENTENCES:
        every = [list(labels) for labels in itertools.product(tagger.classes_, repeat=len(tokens))]
        found = by(kernel, tagger.log_prob, [tokens] * len(every), every, exact=True)
        scored = [*zip(found, every, strict=True)]
        assert math.fsum(math.exp(p) for p, _ in scored) == pytest.approx(1.0, abs=1e-9)
        scored.sort(key=lambda item: -item[0])
        assert by(kernel, tagger.predict, [tokens], exact=True) == [scored[0][1]]
        ranked = by(kernel, tagger.predict_nbest, [tokens], 5, exact=True)[0]
        assert [math.log(p) for _, p in ranked] == pytest.approx([p for p, _ in scored[:5]], abs=1e-6)
        for k, token in enumerate(by(kernel, tagger.predict_marginals, [tokens], exact=True)[0]):
            sums: Counter[str] = Counter()
            for p, labels in scored:
                sums[labels[k]] += math.exp(p)  # type: ignore[assignment]
            assert token == pytest.approx(dict(sums), abs=1e-9)


def test_exact_knows_constraints(tagger: Tagger) -> None:
    constraints = Constraints(forced=[{1: "I-PER"}])
    (labels,) = tagger.predict(SENTENCES[:1], constraints, exact=True)
    every = [list(y) for y in itertools.product(tagger.classes_, repeat=4) if y[1] == "I-PER"]
    best = max(every, key=lambda y: tagger.log_prob(SENTENCES[:1], [y], exact=True)[0])
    assert labels == best


def test_every_sequence_of_known_labels_has_a_probability() -> None:
    """Also one whose labels a Tagger would not have looked at; it does not depend on its neighbours."""
    X, Y = load_sample()
    tagger = Tagger("fixed").fit(X, Y)
    test, gold = load_sample("test")
    together = tagger.log_prob(test, gold)
    known = {*tagger.classes_}
    assert all(math.isfinite(p) for p, y in zip(together, gold, strict=True) if {*y} <= known)
    alone = [tagger.log_prob([x], [y])[0] for x, y in zip(test[:60], gold[:60], strict=True)]
    assert alone == pytest.approx(together[:60], abs=1e-9)
    best = tagger.predict(test)
    ranked = [each[0][1] for each in tagger.predict_nbest(test, 1)]
    assert [math.exp(p) for p in tagger.log_prob(test, best)] == pytest.approx(ranked)
    unlikely = [["PUNCT"] * len(x) for x in test[:20]]
    assert all(math.isfinite(p) and p < 0 for p in tagger.log_prob(test[:20], unlikely))
    assert tagger.log_prob([["a"]], [["UNHEARD"]]) == [-math.inf]


def test_exact_says_when_it_takes_too_much(tagger: Tagger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "MOST_NUMBERS", 300)
    with pytest.raises(InputError, match=r"sentence 0, of 4 tokens: .* cut it into shorter ones"):
        tagger.predict(SENTENCES[:1], exact=True)
