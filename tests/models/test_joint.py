"""Joint contexts of own features: what they are said to add, against leaving every token out by hand."""

from __future__ import annotations

from collections import Counter
from math import log
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corate.models.tagger.joint import _entropy, _Sample, feature_contexts
from corate.models.tagger.settings import SETTINGS
from corate.rates.smoothed import SMOOTHING
from corate.text.tokens import as_corpus

Token = tuple[str | None, str | None, str]  # two features and a label
TOKENS = st.lists(
    st.tuples(
        st.sampled_from([None, "a", "b", "c"]), st.sampled_from([None, "x", "y"]), st.sampled_from("NVD")
    ),
    min_size=2,
    max_size=14,
).map(lambda tokens: [*tokens, ("a", "x", "N")])  # each feature is there


def sample_of(tokens: list[Token]) -> _Sample:
    features = [{k: v for k, v in (("f", f), ("g", g)) if v is not None} for f, g, _ in tokens]
    corpus = as_corpus([[each] for each in features], [[label] for _, _, label in tokens], numbers="refuse")
    return _Sample.of(corpus, corpus.keys, SETTINGS)


def left_out(tokens: list[Token], values: list[Any], above: list[float]) -> list[float]:
    """P(y | f) of each token's label by the counts of all others; of its parent where f has no value."""
    labels, made = [label for _, _, label in tokens], []
    for i, value in enumerate(values):
        others = [labels[j] for j in range(len(tokens)) if j != i and values[j] == value]
        if value is None or not others:
            made.append(above[i])
            continue
        a = SMOOTHING.alpha * len({*others})
        made.append((others.count(labels[i]) + a * above[i]) / (len(others) + a))
    return made


@settings(max_examples=150, deadline=None)
@given(TOKENS)
def test_gains_are_those_of_leaving_each_token_out(tokens: list[Token]) -> None:
    sample, n = sample_of(tokens), Counter(label for _, _, label in tokens)
    total = len(tokens) + SMOOTHING.prior_count * len(n)
    prior = [(n[label] + SMOOTHING.prior_count) / total for _, _, label in tokens]
    assert sample.nothing.prob.tolist() == pytest.approx(prior)
    g = sample.join("g", sample.nothing)
    assert g is not None
    alone = left_out(tokens, [g for _, g, _ in tokens], prior)
    assert g.prob.tolist() == pytest.approx(alone)
    both = sample.join("f", g)
    assert both is not None
    values = [None if f is None or g is None else (f, g) for f, g, _ in tokens]
    together = left_out(tokens, values, alone)
    assert both.prob.tolist() == pytest.approx(together)
    gain = sum(log(p / q) for p, q in zip(together, alone, strict=True)) / len(tokens)
    assert both.gain == pytest.approx(gain, abs=1e-8)
    assert both.n_values == len({*values} - {None})


@settings(max_examples=50, deadline=None)
@given(TOKENS)
def test_entropy(tokens: list[Token]) -> None:
    sample = sample_of(tokens)
    for place, key in enumerate("fg"):
        n = Counter(token[place] for token in tokens if token[place] is not None)
        p = [k / n.total() for k in n.values()]
        assert _entropy(sample.codes[key]) == pytest.approx(-sum(q * log(q) for q in p), abs=1e-12)


def test_two_features_that_say_it_together() -> None:
    """Neither half tells the label (exclusive or), both together do: they are joined."""
    bits = [(k & 1, k >> 1 & 1) for k in range(4)] * 50
    X = [[{"left": str(a), "right": str(b), "noise": str(k % 7)}] for k, (a, b) in enumerate(bits)]
    y = [["YES" if a != b else "NO"] for a, b in bits]
    corpus = as_corpus(X, y, numbers="refuse")
    assert '"right","left"' in [str(context) for context in feature_contexts(corpus, corpus.keys)]
