"""Viterbi, marginals and n-best against enumeration; C++ against NumPy; one thread against many."""

from __future__ import annotations

import copy
import gc
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_force import lattices, log_z, sequences
from corate import InputError, _native
from corate._native import HAS_KERNELS, kernels
from corate.arrays import ragged_arange
from corate.lattice import decode
from corate.lattice.lattice import Lattice
from shared import KERNELS, by


def test_kernels_are_built() -> None:
    assert HAS_KERNELS


@pytest.mark.parametrize("kernel", KERNELS)
@settings(max_examples=150, deadline=None)
@given(x=lattices())
def test_viterbi_is_the_best_of_all(kernel: str, x: Lattice) -> None:
    best = by(kernel, decode.viterbi, x)
    for s in range(x.n_sentences):
        score, path = next(iter(sequences(x, s)), (-math.inf, None))
        assert best.scores[s] == score
        if path is None:
            continue
        chosen = best.candidates[x.span(s)] - x.positions[x.span(s)]
        assert chosen.tolist() == list(path)


@pytest.mark.parametrize("kernel", KERNELS)
@settings(max_examples=150, deadline=None)
@given(x=lattices())
def test_marginals_are_sums_over_all(kernel: str, x: Lattice) -> None:
    result = by(kernel, decode.marginals, x)
    for s in range(x.n_sentences):
        every = sequences(x, s)
        if not every:
            assert result.log_z[s] == -math.inf
            continue
        total = log_z(every)
        assert result.log_z[s] == pytest.approx(total, abs=1e-9)
        for k, i in enumerate(x.span(s)):
            expected = np.zeros(x.candidates(i).stop - x.candidates(i).start)
            for score, path in every:
                expected[path[k]] += math.exp(score - total)
            np.testing.assert_allclose(result.probabilities[x.candidates(i)], expected, atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
@settings(max_examples=150, deadline=None)
@given(x=lattices(), n=st.integers(1, 10))
def test_nbest_are_the_first_of_all(kernel: str, x: Lattice, n: int) -> None:
    best = by(kernel, decode.nbest, x, n)
    for s in range(x.n_sentences):
        chosen = best.candidates[:, x.span(s)] - x.positions[x.span(s)]
        paths = map(tuple, chosen.tolist())
        found = [pair for pair in zip(best.scores[:, s], paths, strict=True) if pair[0] > -math.inf]
        assert found == sequences(x, s)[:n]
        assert (best.candidates[len(found) :, x.span(s)] == -1).all(), "no sequence, no candidate"


def test_lattices_are_alive() -> None:
    """What the tests above look at: most sentences have many sequences, and some have none."""
    n_sequences: list[int] = []

    @settings(max_examples=200, deadline=None, derandomize=True, database=None)
    @given(x=lattices())
    def look(x: Lattice) -> None:
        n_sequences.extend(len(sequences(x, s)) for s in range(x.n_sentences) if x.span(s))

    look()
    shares = [sum(a <= n <= b for n in n_sequences) / len(n_sequences) for a, b in ((0, 0), (5, 256))]
    assert 0.01 < shares[0] < 0.2
    assert shares[1] > 0.5


def random_lattice(n_sentences: int, length: int, n_labels: int, seed: int = 0) -> Lattice:
    rng = np.random.default_rng(seed)
    n = n_sentences * length
    widths = rng.integers(1, 5, n)
    labels = ragged_arange(rng.integers(0, n_labels - widths + 1), widths)
    return Lattice(
        np.arange(n_sentences + 1, dtype=np.int64) * length,
        np.concatenate([[0], np.cumsum(widths)]).astype(np.int64),
        labels.astype(np.int32),
        rng.normal(size=len(labels)) * 3,
        rng.normal(size=(n_labels, n_labels)) * 3,
        np.zeros(n + 1, np.int64),
        np.empty(0),
    )


def test_results_do_not_depend_on_threads() -> None:
    x = random_lattice(400, 20, 12)
    one, many = decode.viterbi(x), decode.viterbi(x, n_threads=7)
    assert np.array_equal(one.candidates, many.candidates)
    assert np.array_equal(one.scores, many.scores)
    assert np.array_equal(decode.marginals(x).probabilities, decode.marginals(x, n_threads=7).probabilities)
    assert np.array_equal(decode.nbest(x, 4).candidates, decode.nbest(x, 4, n_threads=7).candidates)


def test_marginals_at_the_millionth_token() -> None:
    """One sentence of a million tokens: neither underflow nor drift.

    Where a position has one candidate the chain falls apart, so the stretch between two such positions has
    the marginals that it would have as a sentence of its own.
    """
    x = random_lattice(1, 1_000_000, 8)
    result = decode.marginals(x)
    sums = np.add.reduceat(result.probabilities, x.positions[:-1])
    np.testing.assert_allclose(sums, 1.0, atol=1e-12)
    single = np.flatnonzero(np.diff(x.positions) == 1)
    for first, last in zip(single[-500:-20:20], single[-480::20], strict=True):
        here = slice(x.positions[first], x.positions[last + 1])
        part = Lattice(
            np.array([0, last + 1 - first]),
            x.positions[first : last + 2] - x.positions[first],
            x.labels[here],
            x.scores[here],
            x.pair_scores,
            np.zeros(last + 2 - first, np.int64),
            np.empty(0),
        )
        alone = by("numpy", decode.marginals, part).probabilities
        np.testing.assert_allclose(result.probabilities[here], alone, atol=1e-9)


@settings(max_examples=50, deadline=None)
@given(x=lattices())
def test_sequence_scores_against_enumeration(x: Lattice) -> None:
    for s in range(x.n_sentences):
        for score, path in sequences(x, s)[:8]:
            labels = np.zeros(x.n_positions, np.int32)
            for i, q in zip(x.span(s), path, strict=True):
                labels[i] = x.labels[x.candidates(i)][q]
            for kernel in KERNELS:
                assert by(kernel, decode.sequence_scores, x, labels)[s] == score


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": np.array([0, 9], np.int32)}, "label is out of range"),
        ({"labels": np.array([0], np.int32)}, "as many labels as scores"),
        ({"sentences": np.array([0, 5], np.int64)}, "sentence offsets must run"),
        ({"sentences": np.array([0, 7, 2], np.int64)}, "at least one candidate"),
        ({"positions": np.array([0, 2, 2], np.int64)}, "at least one candidate"),
        ({"edges": np.array([0, 0, 3], np.int64), "edge_scores": np.zeros(3)}, "edge block"),
        ({"pair_scores": np.zeros((2, 3))}, "square"),
    ],
)
def test_kernels_refuse_arrays_that_do_not_fit(change: dict[str, np.ndarray], message: str) -> None:
    x = Lattice(
        np.array([0, 2], np.int64),
        np.array([0, 1, 2], np.int64),
        np.array([0, 1], np.int32),
        np.zeros(2),
        np.zeros((2, 2)),
        np.zeros(3, np.int64),
        np.empty(0),
    )
    x = replace(x, **change)
    with pytest.raises(ValueError, match=message):
        decode.viterbi(x)


def test_wrong_dtype_is_refused() -> None:
    with pytest.raises(TypeError):
        kernels.Lattice(*([np.zeros(2, np.float32)] * 7))  # type: ignore[arg-type]


def test_what_the_kernels_read_is_made_once_and_never_stale() -> None:
    x = random_lattice(20, 5, 6)
    best, made = decode.viterbi(x), x.native
    decode.marginals(x)
    assert x.native is made
    other = replace(x, scores=-x.scores)
    assert not np.array_equal(decode.viterbi(other).candidates, best.candidates)
    for copied in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert "native" not in vars(copied)
        assert np.array_equal(decode.viterbi(copied).candidates, best.candidates)


def test_kernels_hold_on_to_arrays() -> None:
    x = random_lattice(20, 5, 6)
    best, made = decode.viterbi(x), copy.deepcopy(x).native  # whose arrays nobody else has
    gc.collect()
    others = [np.full(k, 99, np.int64) for k in range(200)]
    assert np.array_equal(kernels.viterbi(made, 1)[0], best.candidates)
    assert len(others) == 200


@pytest.mark.parametrize("kernel", KERNELS)
def test_n_may_be_an_integer_of_numpy(kernel: str) -> None:
    x = random_lattice(3, 4, 5)
    for n in (np.int64(2), np.int32(2), np.uint8(2)):
        found = by(kernel, decode.nbest, x, n)
        assert np.array_equal(found.candidates, decode.nbest(x, 2).candidates)
    for wrong in (np.int64(0), np.float64(2), np.int64(decode.MOST_PATHS + 1)):
        with pytest.raises(InputError, match="ask for 1 to"):
            by(kernel, decode.nbest, x, wrong)


def test_missing_kernels_warn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_native, "HAS_KERNELS", False)
    _native._warn_once.cache_clear()
    x = random_lattice(2, 3, 4)
    with pytest.warns(RuntimeWarning, match="compiled kernels are missing"):
        slow = decode.viterbi(x)
    assert np.array_equal(slow.candidates, decode.viterbi(x).candidates)
