"""Decoding on trees, against enumeration and against chains; the kernel against its twin."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from corate._native import using
from corate.arrays import offsets_of
from corate.lattice import decode
from corate.lattice.forest import passed
from corate.lattice.lattice import Lattice
from corate.lattice.narrow import max_marginals
from corate.lattice.triple_blocks import edge_ends, triple_offsets

N_LABELS = 4


def random_forest(rng: random.Random, order: int = 2, chain: bool = False) -> Lattice:
    """Two sentences of up to six positions, a few impossible scores among them."""
    lengths = [rng.randint(1, 6), rng.randint(0, 4)]
    sentences = np.cumsum([0, *lengths])
    n = int(sentences[-1])
    left = np.full(n, -1)
    for s, length in enumerate(lengths):
        places = list(range(length))
        if not chain:
            rng.shuffle(places)
        for k, place in enumerate(places):
            if k and (chain or rng.random() < 0.9):
                left[sentences[s] + place] = sentences[s] + (
                    places[k - 1] if chain else rng.choice(places[:k])
                )
    labels = [sorted(rng.sample(range(N_LABELS), rng.randint(1, N_LABELS))) for _ in range(n)]
    positions = offsets_of(np.array([len(each) for each in labels], np.int64))
    flat = np.array([label for each in labels for label in each], np.int32)

    def some(size: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return np.array([rng.gauss(0, 2) if rng.random() < 0.97 else -math.inf for _ in range(size)])

    pair = some(N_LABELS**2).reshape(N_LABELS, N_LABELS)
    none = np.zeros(n + 1, np.int64), np.empty(0)
    x = Lattice(sentences, positions, flat, some(len(flat)), pair, *none, left=left)
    if order == 1:
        return x
    edges = edge_ends(sentences, positions, left)[2]
    x = replace(x, edges=edges, edge_scores=some(int(edges[-1])))
    triples = triple_offsets(x)
    return replace(x, triples=triples, triple_scores=some(int(triples[-1])))


def score(x: Lattice, s: int, chosen: dict[int, int]) -> float:
    """Of own candidates of all positions of a sentence, by the definition."""
    assert x.left is not None
    total = 0.0
    width = np.diff(x.positions)
    for v in x.span(s):
        p = int(x.left[v])
        g = int(x.left[p]) if p >= 0 else -1
        total += x.scores[x.positions[v] + chosen[v]]
        if p >= 0 and len(x.edge_scores):
            total += x.edge_scores[x.edges[v] + chosen[p] * width[v] + chosen[v]]
        elif p >= 0:
            total += x.pair_scores[x.labels[x.positions[p] + chosen[p]], x.labels[x.positions[v] + chosen[v]]]
        if g >= 0 and x.triples is not None and x.triple_scores is not None:
            total += x.triple_scores[x.triples[v] + (chosen[g] * width[p] + chosen[p]) * width[v] + chosen[v]]
    return float(total)


@pytest.mark.parametrize("kernel", ["native", "numpy"])
@pytest.mark.parametrize("order", [1, 2])
def test_against_enumeration(kernel: str, order: int) -> None:
    for seed in range(60):
        rng = random.Random(seed)
        x = random_forest(rng, order)
        with using(kernel):
            best, found, margins = decode.viterbi(x), decode.posteriors(x), max_marginals(x)
            ranked = decode.nbest(x, 3)
            gold = x.labels[
                x.positions[:-1] + np.array([rng.randrange(w) for w in np.diff(x.positions)], int)
            ]
            of_gold = decode.sequence_scores(x, gold)
        for s in range(x.n_sentences):
            span = list(x.span(s))
            widths = [range(int(x.positions[v + 1] - x.positions[v])) for v in span]
            every = [dict(zip(span, each, strict=True)) for each in product(*widths)]
            scores = np.array([score(x, s, chosen) for chosen in every])
            assert best.scores[s] == pytest.approx(scores.max())
            if not np.isfinite(scores.max()):
                continue
            assert score(x, s, {v: int(best.candidates[v] - x.positions[v]) for v in span}) == pytest.approx(
                scores.max()
            )
            log_z = float(np.logaddexp.reduce(scores))
            assert found.log_z[s] == pytest.approx(log_z, abs=1e-9)
            assert ranked.scores[:, s].tolist() == pytest.approx(
                (sorted(scores, reverse=True) + [-math.inf] * 3)[:3]
            )
            right = [
                k
                for k, chosen in enumerate(every)
                if all(x.labels[x.positions[v] + q] == gold[v] for v, q in chosen.items())
            ]
            assert of_gold[s] == pytest.approx(scores[right[0]])
            for v in span:
                for q in range(int(x.positions[v + 1] - x.positions[v])):
                    through = [each for each, chosen in zip(scores, every, strict=True) if chosen[v] == q]
                    p = math.fsum(np.exp(np.array(through) - log_z))
                    assert found.probabilities[x.positions[v] + q] == pytest.approx(p, abs=1e-9)
                    assert margins[x.positions[v] + q] == pytest.approx(max(through) - scores.max())


def test_the_kernel_is_its_twin() -> None:
    for seed in range(40):
        x = random_forest(random.Random(seed))
        for maximum in (False, True):
            with using("numpy"):
                slow = passed(x, maximum)
            quick = passed(x, maximum)
            for a, b in zip(slow[:4], quick[:4], strict=True):
                assert np.allclose(a, b, rtol=0, atol=1e-9, equal_nan=True)


def test_a_chain_is_a_tree() -> None:
    for seed in range(40):
        x = random_forest(random.Random(seed), chain=True)
        chain = replace(x, left=None)
        one, other = decode.posteriors(x), decode.posteriors(chain)
        possible = np.isfinite(other.log_z)
        assert np.isfinite(one.log_z).tolist() == possible.tolist()
        assert one.log_z[possible] == pytest.approx(other.log_z[possible], abs=1e-9)
        if possible.all():
            assert one.probabilities == pytest.approx(other.probabilities, abs=1e-9)
            assert one.edges == pytest.approx(other.edges, abs=1e-9)
            assert one.triples == pytest.approx(other.triples, abs=1e-9)


@pytest.mark.parametrize("left", [[1, 0], [5, -1], [-2, -1]], ids=["circle", "outside", "below"])
def test_bad_trees_are_refused(left: list[int]) -> None:
    none = np.zeros(3, np.int64), np.empty(0)
    x = Lattice(
        np.array([0, 2]), np.array([0, 1, 2]), np.zeros(2, np.int32), np.zeros(2), np.zeros((1, 1)), *none
    )
    from corate._native import kernels

    edges = np.zeros(3, np.int64)
    with pytest.raises(ValueError, match="parent"):
        kernels.forest(
            x.sentences, x.positions, np.array(left), x.scores, edges, np.empty(0), edges, np.empty(0), True
        )


def test_sequences_that_are_no_candidates_are_impossible() -> None:
    rng, checked = random.Random(8), 0
    for _ in range(40):
        x = random_forest(rng)
        labels = np.array([rng.randrange(N_LABELS) for _ in range(x.n_positions)], np.int32)
        for s, found in enumerate(decode.sequence_scores(x, labels).tolist()):
            own = range(int(x.sentences[s]), int(x.sentences[s + 1]))
            places = [x.labels[x.candidates(i)].tolist() for i in own]
            missing = any(labels[i] not in there for i, there in zip(own, places, strict=True))
            chosen = {} if missing else {i: p.index(labels[i]) for i, p in zip(own, places, strict=True)}
            assert found == pytest.approx(-math.inf if missing else score(x, s, chosen))
            checked += missing
    assert checked > 10
