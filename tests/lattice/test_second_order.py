"""Lattices of the second order against enumeration."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_force import lattices, log_z, second_order_lattices, sequences
from corate import load_sample
from corate.arrays import offsets_of, owners
from corate.lattice import decode
from corate.lattice.lattice import Lattice
from corate.lattice.narrow import keep, max_marginals
from corate.lattice.triple_blocks import edge_ends, triple_ends, triple_offsets
from shared import KERNELS, by

X, Y = load_sample()


def chosen(x: Lattice, s: int, path: tuple[int, ...]) -> list[int]:
    """A path's candidates, numbered over the whole lattice."""
    return [int(x.positions[i]) + q for i, q in zip(x.span(s), path, strict=True)]


@pytest.mark.parametrize("kernel", KERNELS)
@settings(max_examples=100, deadline=None)
@given(x=second_order_lattices(), n=st.integers(1, 10))
def test_best_sequences(kernel: str, x: Lattice, n: int) -> None:
    best, ranked = by(kernel, decode.viterbi, x), by(kernel, decode.nbest, x, n)
    for s in range(x.n_sentences):
        span = x.span(s)
        expected = [(score, chosen(x, s, path)) for score, path in sequences(x, s)[:n]]
        found = [
            (ranked.scores[k, s], ranked.candidates[k, span.start : span.stop].tolist())
            for k in range(n)
            if ranked.scores[k, s] > -math.inf
        ]
        assert [score for score, _ in found] == [score for score, _ in expected]
        assert len({*map(str, found)}) == len(found)
        assert all(item in [(e, chosen(x, s, p)) for e, p in sequences(x, s)] for item in found)
        if expected:
            assert (best.scores[s], best.candidates[span.start : span.stop].tolist()) == expected[0]
            assert found[0] == expected[0]
        else:
            assert best.scores[s] == -math.inf


@pytest.mark.parametrize("kernel", KERNELS)
@settings(max_examples=100, deadline=None)
@given(x=second_order_lattices())
def test_posteriors_are_sums_over_all(kernel: str, x: Lattice) -> None:
    assert x.triples is not None
    every = [sequences(x, s) for s in range(x.n_sentences)]
    found = by(kernel, decode.posteriors, x)
    assert np.array_equal(found.probabilities, by(kernel, decode.marginals, x).probabilities)
    expected = np.zeros(len(x.labels))
    pairs: dict[tuple[int, ...], float] = {}
    triples: dict[tuple[int, ...], float] = {}
    for s, scored in enumerate(every):
        if not scored:
            assert found.log_z[s] == -math.inf
            continue
        assert found.log_z[s] == pytest.approx(log_z(scored), abs=1e-9)
        for score, path in scored:
            p, here = math.exp(score - log_z(scored)), chosen(x, s, path)
            expected[here] += p
            for k in range(1, len(here)):
                pairs[tuple(here[k - 1 : k + 1])] = pairs.get(tuple(here[k - 1 : k + 1]), 0.0) + p
            for k in range(2, len(here)):
                triples[tuple(here[k - 2 : k + 1])] = triples.get(tuple(here[k - 2 : k + 1]), 0.0) + p
    possible = np.repeat([bool(scored) for scored in every], np.diff(x.sentences))[owners(x.positions)]
    left, right, _ = edge_ends(x.sentences, x.positions)
    first, middle, last = triple_ends(x, x.triples)
    np.testing.assert_allclose(found.probabilities[possible], expected[possible], atol=1e-12)
    for names, values, table in (
        (np.stack([left, right]), found.edges, pairs),
        (np.stack([first, middle, last]), found.triples, triples),
    ):
        wanted = [table.get(tuple(name), 0.0) for name in names.T.tolist()]
        sure = possible[names[-1]]
        np.testing.assert_allclose(values[sure], np.array(wanted)[sure], atol=1e-12)


@settings(max_examples=100, deadline=None)
@given(x=second_order_lattices(), k=st.integers(0, 2), factor=st.sampled_from([1.0, 300.0, 1e5]))
def test_posteriors_beyond_the_range_of_products(x: Lattice, k: int, factor: float) -> None:
    """Sentences that are decoded in logarithms, beside others that are not: the NumPy twin says the same."""
    assert x.triple_scores is not None
    scores = [x.scores, x.edge_scores, x.triple_scores]
    scores[k] = scores[k] * factor
    x = replace(x, scores=scores[0], edge_scores=scores[1], triple_scores=scores[2])
    found, expected = by("native", decode.posteriors, x), by("numpy", decode.posteriors, x)
    np.testing.assert_allclose(found.log_z, expected.log_z, atol=1e-9)
    for name in ("probabilities", "edges", "triples"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-9)
    assert np.array_equal(by("native", decode.marginals, x).probabilities, found.probabilities)


@settings(max_examples=50, deadline=None)
@given(x=second_order_lattices())
def test_sequence_scores(x: Lattice) -> None:
    for s in range(x.n_sentences):
        for score, path in sequences(x, s)[:8]:
            labels = np.full(x.n_positions, -7, np.int32)  # nothing that the other sentences have
            labels[x.span(s).start : x.span(s).stop] = x.labels[chosen(x, s, path)]
            for kernel in KERNELS:
                assert by(kernel, decode.sequence_scores, x, labels)[s] == score


@pytest.mark.parametrize("kernel", KERNELS)
@settings(max_examples=100, deadline=None)
@given(x=lattices())
def test_max_marginals(kernel: str, x: Lattice) -> None:
    margins = by(kernel, max_marginals, x)
    for s in range(x.n_sentences):
        every = sequences(x, s)
        expected = np.full(len(x.labels), -math.inf)
        for score, path in every:
            here = chosen(x, s, path)
            expected[here] = np.maximum(expected[here], score - every[0][0])
        span = x.span(s)
        own = slice(int(x.positions[span.start]), int(x.positions[span.stop]))
        assert margins[own].tolist() == (expected[own].tolist() if every else [0.0] * len(margins[own]))


@settings(max_examples=60, deadline=None)
@given(x=lattices())
def test_kept_candidates_score_as_before(x: Lattice) -> None:
    """Blocks are cut out of blocks, or made of pair scores."""
    kept = np.arange(len(x.labels)) % 3 != 1
    kept[x.positions[:-1]] = True  # at least one a position
    small, old = keep(x, kept), np.flatnonzero(kept)
    for s in range(x.n_sentences):
        before = {tuple(chosen(x, s, path)): score for score, path in sequences(x, s)}
        after = {tuple(old[chosen(small, s, path)].tolist()): score for score, path in sequences(small, s)}
        assert after == {path: score for path, score in before.items() if kept[[*path]].all()}


def chain(widths: list[int], scores: np.ndarray, edges: list[np.ndarray], triples: np.ndarray) -> Lattice:
    """One sentence of the second order."""
    positions = offsets_of(np.array(widths, np.int64))
    labels = (np.arange(positions[-1]) - positions[owners(positions)]).astype(np.int32)
    x = Lattice(
        np.array([0, len(widths)]),
        positions,
        labels,
        scores,
        np.zeros((max(widths), max(widths))),
        offsets_of(np.array([0, *(edge.size for edge in edges)])),
        np.concatenate([edge.ravel() for edge in edges]),
    )
    return replace(x, triples=triple_offsets(x), triple_scores=triples)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"triples": np.array([0, 0, 0, 7])}, "triple offsets must run"),
        ({"triples": np.array([0, 0, 0])}, "for every position"),
        ({"triples": np.array([0, 0, 8, 8])}, "another size"),
        ({"edges": np.array([0, 0, 4, 4]), "edge_scores": np.zeros(4)}, "needs its block"),
    ],
)
def test_kernels_refuse_triples_that_do_not_fit(change: dict[str, np.ndarray], message: str) -> None:
    x = replace(chain([2] * 3, np.zeros(6), [np.zeros((2, 2))] * 2, np.zeros(8)), **change)
    for decoder in (decode.viterbi, decode.posteriors):
        with pytest.raises(ValueError, match=message):
            decoder(x)


@pytest.mark.parametrize("size", [1.0, 300.0, 750.0, 1e5])
def test_numbers_out_of_range_fall_back(size: float) -> None:
    """Plain products cannot hold this; the logarithms can, and are asked."""
    rng = np.random.default_rng(3)
    edges = [rng.normal(size=(2, 2)) * size for _ in range(3)]
    x = chain([2] * 4, rng.normal(size=8) * size, edges, rng.normal(size=16) * size)
    every = sequences(x, 0)
    found, slow = decode.posteriors(x), by("numpy", decode.posteriors, x)
    assert found.log_z[0] == pytest.approx(log_z(every), rel=1e-12)
    for name in ("probabilities", "edges", "triples", "log_z"):
        np.testing.assert_allclose(getattr(found, name), getattr(slow, name), rtol=1e-9, atol=1e-12)
    assert decode.viterbi(x).scores[0] == pytest.approx(every[0][0], rel=1e-14)


def test_a_long_sentence_neither_underflows_nor_drifts() -> None:
    rng = np.random.default_rng(4)
    n = 3000
    edges = [rng.normal(size=(3, 3)) * 5 for _ in range(n - 1)]
    x = chain([3] * n, rng.normal(size=3 * n) * 9, edges, rng.normal(size=27 * (n - 2)) * 5)
    found, slow = decode.posteriors(x), by("numpy", decode.posteriors, x)
    np.testing.assert_allclose(np.add.reduceat(found.probabilities, x.positions[:-1]), 1.0, atol=1e-12)
    np.testing.assert_allclose(found.triples, slow.triples, atol=1e-9)
    assert found.log_z[0] == pytest.approx(slow.log_z[0], rel=1e-12)
