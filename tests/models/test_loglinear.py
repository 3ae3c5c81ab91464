"""Log-linear chains: kernel, NumPy twin and enumeration agree; expectations are derivatives of log Z."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corate import InputError
from corate.arrays import Float, Ids
from corate.contexts.template import parse_all
from corate.models.loglinear.attributes import Attributes
from corate.models.loglinear.chains import Chains
from corate.models.loglinear.expectations import expectations, lattice, position_scores
from corate.models.loglinear.features import Features, observed, seen_features
from corate.text.tokens import as_corpus
from shared import by

Problem = tuple[Features, Chains, Ids]


def problem(seed: int, n_labels: int, kind: str = "seen") -> Problem:
    """Random sentences with attributes of words and of word pairs."""
    rng = np.random.default_rng(seed)
    X = [[str(w) for w in rng.choice(list("abcde"), size=n)] for n in (3, 0, 1, 4, 2, 2)]
    Y = [[f"y{y:02}" for y in rng.integers(0, n_labels, size=len(x))] for x in X]
    corpus = as_corpus(X, Y)
    attributes, states = Attributes.of(corpus, parse_all(["word", "word-1"]))
    pair_attributes, pairs = Attributes.of(corpus, parse_all(["pair:word-1,word", "pair:word"]))
    chains = Chains.of(corpus.offsets, states, pairs).counting(rng.integers(1, 4, size=len(X)).astype(float))
    assert corpus.labels is not None
    labels = corpus.labels.encode([f"y{y:02}" for y in range(n_labels)])
    everything = kind == "all"
    features = seen_features(
        chains,
        labels,
        n_labels,
        len(attributes),
        len(pair_attributes),
        transitions=kind != "none",
        all_states=everything,
        all_transitions=everything,
    )
    return features, chains, labels


def enumerated(features: Features, chains: Chains, weights: Float) -> tuple[Float, Float]:
    """log Z and expectations by going through every label sequence."""
    log_z, expected = np.zeros(chains.n_chains), np.zeros(len(features))
    for s in range(chains.n_chains):
        begin, end = int(chains.offsets[s]), int(chains.offsets[s + 1])
        one = chains.select(np.array([s]))
        paths = list(itertools.product(range(features.n_labels), repeat=end - begin))
        fired = np.array([observed(features, one, np.array(path, np.int32)) for path in paths]) / one.times[0]
        scores = fired @ weights
        log_z[s] = np.logaddexp.reduce(scores)
        expected += one.times[0] * (np.exp(scores - log_z[s]) @ fired)
    return log_z, expected


@pytest.mark.parametrize("kind", ["seen", "all", "none"])
@pytest.mark.parametrize("size", [0.0, 1.0, 20.0])
def test_kernel_and_reference_equal_enumeration(kind: str, size: float) -> None:
    features, chains, _ = problem(1, 3, kind)
    weights = size * np.random.default_rng(2).normal(size=len(features))
    wanted = enumerated(features, chains, weights)
    for kernel in ("native", "numpy"):
        found = by(kernel, expectations, features, chains, weights)
        assert found[0] == pytest.approx(wanted[0], rel=1e-10, abs=1e-10)
        assert found[1] == pytest.approx(wanted[1], rel=1e-8, abs=1e-10)


@given(st.integers(0, 1000), st.sampled_from([2, 17, 24]), st.sampled_from([0.1, 3.0, 30.0, 2000.0]))
@settings(max_examples=25, deadline=None)
def test_kernel_equals_reference(seed: int, n_labels: int, size: float) -> None:
    """Few labels and many, that is the dense loops and the sparse ones; weights up to where exp overflows."""
    features, chains, _ = problem(seed, n_labels)
    weights = size * np.random.default_rng(seed).normal(size=len(features))
    wanted = by("numpy", expectations, features, chains, weights)
    found = expectations(features, chains, weights, n_threads=3)
    assert found[0] == pytest.approx(wanted[0], rel=1e-11, abs=1e-11)
    assert found[1] == pytest.approx(wanted[1], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("n_labels", [3, 20])
def test_expectations_are_the_gradient_of_log_z(n_labels: int) -> None:
    features, chains, _ = problem(3, n_labels)
    weights = np.random.default_rng(4).normal(size=len(features))

    def log_z(w: Float) -> float:
        return float(chains.times @ expectations(features, chains, w)[0])

    steps = 1e-6 * np.eye(len(features))
    slopes = [(log_z(weights + step) - log_z(weights - step)) / 2e-6 for step in steps]
    assert expectations(features, chains, weights)[1] == pytest.approx(slopes, abs=1e-7)


def with_last(array: np.ndarray, value: int) -> np.ndarray:
    changed: np.ndarray = array.copy()
    changed[-1] = value
    return changed


def test_kernels_refuse_what_does_not_fit() -> None:
    features, chains, _ = problem(5, 3)
    weights = np.zeros(len(features))
    groups = np.zeros(chains.n_positions, np.int32)
    some, none = np.ones((1, 3), np.uint8), np.ones((0, 3), np.uint8)
    states = chains.states
    wrong = [
        (replace(features, state_labels=with_last(features.state_labels, 3)), chains, "label is out of"),
        (replace(features, state_offsets=with_last(features.state_offsets, 1)), chains, "feature offsets"),
        (replace(features, left=features.left[::-1].copy()), chains, "transitions must be sorted"),
        (replace(features, pair_left=features.pair_left[1:]), chains, "feature offsets must run"),
        (replace(features, pair_right=features.pair_right[1:]), chains, "two labels"),
        (replace(features, n_labels=1 << 20), chains, "too many labels"),
        (replace(features, state_offsets=features.state_offsets[-1:] * 0, state_labels=features.left[:0]),
         chains, "attribute is out of range"),
        (features, replace(chains, offsets=with_last(chains.offsets, 99)), "chain offsets"),
        (features, replace(chains, states=replace(states, ids=with_last(states.ids, -1))), "an attribute"),
        (features, chains.counting(chains.times[1:]), "for every chain"),
        (features, replace(chains, groups=groups[1:], allowed=some), "for every position"),
        (features, replace(chains, groups=groups, allowed=none), "group is out of range"),
        (features, replace(chains, groups=groups, allowed=some[:, 1:].copy()), "every label"),
    ]  # fmt: skip
    for their_features, their_chains, message in wrong:
        with pytest.raises(ValueError, match=message):
            expectations(their_features, their_chains, np.zeros(len(their_features)))
    with pytest.raises(ValueError, match="weight is needed"):
        expectations(features, chains, weights[1:])


def test_labels_that_are_not_allowed_have_no_part() -> None:
    features, chains, _ = problem(5, 3)
    groups = np.arange(chains.n_positions, dtype=np.int32) % 2
    masked = replace(chains, groups=groups, allowed=np.array([[1, 1, 0], [0, 1, 1]], np.uint8))
    weights = np.random.default_rng(6).normal(size=len(features))
    native, reference = (by(k, expectations, features, masked, weights) for k in ("native", "numpy"))
    assert native[0] == pytest.approx(reference[0])
    assert native[1] == pytest.approx(reference[1], abs=1e-12)
    assert native[0] != pytest.approx(expectations(features, chains, weights)[0])


def test_results_do_not_depend_on_threads() -> None:
    rng = np.random.default_rng(7)
    X = [[str(w) for w in rng.integers(0, 50, size=12)] for _ in range(1500)]
    Y = [[str(y) for y in rng.integers(0, 20, size=12)] for _ in X]
    corpus = as_corpus(X, Y)
    attributes, states = Attributes.of(corpus, parse_all(["word"]))
    assert corpus.labels is not None
    labels = corpus.labels.encode(sorted(corpus.labels.values))
    chains = Chains.of(corpus.offsets, states)
    features = seen_features(chains, labels, 20, len(attributes))
    weights = rng.normal(size=len(features))
    one, four = (expectations(features, chains, weights, n) for n in (1, 4))
    assert np.array_equal(one[0], four[0])
    assert np.array_equal(one[1], four[1])


def test_lattice_has_the_scores_of_the_reference() -> None:
    features, chains, _ = problem(8, 3)
    weights = np.random.default_rng(9).normal(size=len(features))
    found = lattice(features, chains, weights)
    for s in range(chains.n_chains):
        begin, end = int(chains.offsets[s]), int(chains.offsets[s + 1])
        states, edges = position_scores(features, chains, weights, begin, end)
        for k in range(end - begin):
            assert found.scores[found.candidates(begin + k)] == pytest.approx(states[k])
            if k:
                assert found.edge(begin + k) == pytest.approx(edges[k])


# Attributes ------------------------------------------------------------------------------------------


def test_attributes_of_positions() -> None:
    corpus = as_corpus([["Going", "home"], ["cats"]])
    contexts = parse_all(["word", "ending", "word-1,ending"])
    attributes, rows = Attributes.of(corpus, contexts)
    spoken = [[attributes.name(a) for a in rows.ids[b:e]] for b, e in itertools.pairwise(rows.offsets)]
    assert spoken == [
        ["word=Going", "ending=ing", "word-1,ending=/ing"],
        ["word=home", "word-1,ending=Going/"],  # no ending is no attribute, but part of one
        ["word=cats", "ending=s", "word-1,ending=/s"],
    ]
    unseen = attributes.encode(as_corpus([["king"], ["Going", "cats"]]))
    spoken = [[attributes.name(a) for a in unseen.ids[b:e]] for b, e in itertools.pairwise(unseen.offsets)]
    assert spoken == [
        ["ending=ing", "word-1,ending=/ing"],
        ["word=Going", "ending=ing", "word-1,ending=/ing"],
        ["word=cats", "ending=s"],
    ]


def test_wide_contexts_keep_values_apart() -> None:
    """Seven parts of a large vocabulary do not fit into one integer."""
    rng = np.random.default_rng(1)
    words = [str(w) for w in rng.integers(0, 600, size=3000)]
    corpus = as_corpus([words])
    name = ",".join(f"word{k:+d}" if k else "word" for k in range(-3, 5))
    attributes, rows = Attributes.of(corpus, parse_all([name]))
    assert np.array_equal(attributes.encode(corpus).ids, rows.ids)
    windows = {(*words[max(0, i - 3) : i + 5], i < 3, i > 2995) for i in range(3000)}
    assert len(attributes) == len(windows)


def test_too_many_features() -> None:
    features, chains, labels = problem(1, 3)
    with pytest.raises(InputError, match="features: take those that occur"):
        seen_features(chains, labels, 8_000, 1_000_000, all_states=True)
    assert len(features)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"state_labels": -1}, "a label that is not there"),
        ({"left": -1}, "a label that is not there"),
        ({"pair_right": -1}, "a label that is not there"),
        ({"state_labels": 3}, "a label that is not there"),
        ({"right": 3}, "a label that is not there"),
        ({"pair_left": 3}, "a label that is not there"),
        ({"right": np.int64}, "a label that is not there"),
        ({"state_offsets": np.int32}, "do not fit their attributes"),
        ({"pair_offsets": 1}, "do not fit their attributes|decrease"),
        ({"left": slice(1, None)}, "a pair of labels lacks one"),
        ({"pair_right": slice(1, None)}, "a pair of labels lacks one"),
        ({"pair_left": slice(1, None), "pair_right": slice(1, None)}, "do not fit their attributes"),
        ({"state_offsets": slice(None, -1)}, "do not fit their attributes"),
        ({"state_offsets": slice(1, None)}, "do not fit their attributes"),
        ({"state_offsets": slice(0, 0)}, "do not fit their attributes"),
        ({"left": slice(None, None, -1), "right": slice(None, None, -1)}, "transitions are not sorted"),
    ],
)
def test_features_from_outside(changes: dict[str, Any], message: str) -> None:
    """A number is put at the first place, a type is another one, a slice is what is left."""
    features, _, _ = problem(0, 3)
    features.check()
    made = {}
    for name, change in changes.items():
        array = getattr(features, name).copy()
        if isinstance(change, slice):
            array = array[change]
        elif isinstance(change, int):
            array[0] = change
        else:
            array = array.astype(change)
        made[name] = array
    with pytest.raises(ValueError, match=message):
        replace(features, **made).check()


def test_offsets_that_decrease() -> None:
    features, _, _ = problem(0, 3)
    offsets = features.state_offsets.copy()
    offsets[1] = offsets[2] + 1
    with pytest.raises(ValueError, match="offsets of features decrease"):
        replace(features, state_offsets=offsets).check()
