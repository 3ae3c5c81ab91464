"""Lattices of the second order against enumeration; the kernels that fill them against NumPy."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from brute_force import lattices, log_z, second_order_lattices, sequences
from corate import Tagger, load_sample
from corate._native import using
from corate.arrays import offsets_of, owners
from corate.contexts.template import parse_all
from corate.counts.count import Events
from corate.counts.names import table_of
from corate.lattice import decode
from corate.lattice.lattice import Lattice
from corate.lattice.narrow import keep, max_marginals
from corate.lattice.triple_blocks import edge_ends, triple_ends, triple_offsets
from corate.models.tagger.evidence import Rows, Weights, evidence, triple_rates
from corate.models.tagger.tagger import LABELS_ALONE
from corate.rates.lookup import Rates
from corate.text.corpus import Corpus
from corate.text.tokens import as_corpus
from shared import KERNELS, by

X, Y = load_sample()


def chosen(x: Lattice, s: int, path: tuple[int, ...]) -> list[int]:
    """A path's candidates, numbered over the whole lattice."""
    return [int(x.positions[i]) + q for i, q in zip(x.span(s), path, strict=True)]


@pytest.mark.parametrize("kernel", KERNELS)
@settings(max_examples=100, deadline=None)
@given(x=second_order_lattices())
def test_best_sequences(kernel: str, x: Lattice) -> None:
    n = 5
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


# The kernels that fill a lattice ---------------------------------------------------------------------

CONTEXTS = (
    *("word", "tail2", "shape", "lower", "col2", "word,col2", "word-1", "tail2-1", "col2-1,col2"),
    *(
        "word-2,word-1",
        "word-1,word",
        "shape-1,shape,shape+1",
        "pair:tail2-1",
        "pair:shape-1,shape",
        "pair:col2",
    ),
)


def tagged(first: int, last: int) -> Corpus:
    """Words with a second column, and the sample's entities as labels."""
    entities = load_sample(label="entity")[1][first:last]
    rows = [list(zip(*pair, strict=True)) for pair in zip(X[first:last], Y[first:last], strict=True)]
    return as_corpus(rows, entities)


@pytest.fixture(scope="module", params=["all", "without a part"])
def rates(request: pytest.FixtureRequest) -> tuple[Rates, Rates]:
    """Rates, and the same ones for NumPy."""
    contexts = parse_all(CONTEXTS)
    events = Events(tagged(0, 300), [*LABELS_ALONE, *map(table_of, contexts)])
    whole = Rates(events.count(), contexts)
    if request.param == "all":
        return whole, whole
    part = events.count(100, 160)
    return Rates(events.count(), contexts, part, whole), Rates(events.count().without(part), contexts)


def assert_same_rows(fast: Rows, slow: Rows) -> None:
    for name in ("positions", "labels", "buckets"):
        assert np.array_equal(getattr(fast, name), getattr(slow, name)), name
    np.testing.assert_allclose(fast.rates, slow.rates, atol=1e-5)


@pytest.mark.parametrize("required", [False, True])
@pytest.mark.parametrize("everything", [False, True])
def test_evidence(rates: tuple[Rates, Rates], required: bool, everything: bool) -> None:
    corpus = tagged(90, 170)  # some of it is known, some left out
    for theirs in (Corpus.join([corpus, tagged(300, 380)]), corpus.select(3, 4), corpus.select(0, 0)):
        assert theirs.labels is not None
        gold = theirs.labels.encode(rates[0].counts.labels) if required else None
        fast, slow = (
            by(kernel, evidence, r, theirs, 2, gold, everything=everything)
            for r, kernel in zip(rates, KERNELS, strict=True)
        )
        assert_same_rows(fast.kinds, slow.kinds)
        assert_same_rows(fast.tokens, slow.tokens)
        for name in ("log_prior", "start", "end", "pair"):
            np.testing.assert_allclose(getattr(fast, name), getattr(slow, name), atol=1e-12)
        if gold is not None:
            assert np.isin(
                gold + 100 * np.arange(len(gold)), fast.tokens.labels + 100 * owners(fast.tokens.positions)
            ).all()


def test_rates_of_pairs_and_triples(rates: tuple[Rates, Rates]) -> None:
    corpus = tagged(80, 180)
    assert corpus.labels is not None
    shown = evidence(rates[0], corpus, gold=corpus.labels.encode(rates[0].counts.labels))
    rows = shown.rows()
    no_edges = np.zeros(len(rows.positions), np.int64)
    x = Lattice(
        corpus.offsets,
        rows.positions,
        rows.labels,
        np.zeros(len(rows.labels)),
        shown.pair,
        no_edges,
        np.empty(0),
    )
    x = keep(x, np.ones(len(rows.labels), bool))
    single = np.repeat(np.diff(x.edges) == 1, np.diff(x.edges))
    for skip in (False, True):
        fast, slow = (
            by(kernel, r.pair_rates, corpus, x.positions, x.labels, x.edges, skip, 2)
            for r, kernel in zip(rates, KERNELS, strict=True)
        )
        assert fast.shape == (len(x.edge_scores), 3)
        assert (np.abs(fast).max(axis=0) > 0.1).all()
        assert fast[single].any() != skip
        np.testing.assert_allclose(fast, slow, atol=1e-5)
    places = triple_offsets(x)
    of_triples = [
        by(kernel, triple_rates, x, places, r.triple, 2) for r, kernel in zip(rates, KERNELS, strict=True)
    ]
    assert np.abs(of_triples[0]).max() > 0.1
    np.testing.assert_allclose(of_triples[0], of_triples[1], atol=1e-12)


@pytest.mark.parametrize("n_finer", [3, 60])
def test_contexts_with_few_and_with_many_labels(n_finer: int) -> None:
    """The kernels look labels up in other ways where a context was seen with many."""
    names = [
        [f"{y}{sum(map(ord, word)) % n_finer}" for word, y in zip(*s, strict=True)]
        for s in zip(X, Y, strict=True)
    ]
    corpus = as_corpus(X[:300], names[:300])
    contexts = parse_all(
        ["shape", "tail1", "tail2", "word", "word-1", "tail1-1,tail1", "pair:shape", "pair:word"]
    )
    events = Events(corpus, [*LABELS_ALONE, *map(table_of, contexts)])
    whole, part = Rates(events.count(), contexts), events.count(100, 160)
    n_labels_of = np.concatenate(
        [np.diff(whole.tables(group).first_row) for group in (whole.alone, whole.around)]
    )
    assert {n_labels_of.min() < 9, (n_labels_of == 12).any(), n_labels_of.max() > 32} == {True}
    cases = (
        (whole, whole),
        (Rates(whole.counts, contexts, part, whole), Rates(whole.counts.without(part), contexts)),
    )
    asked = as_corpus(X[90:170], names[90:170])
    assert asked.labels is not None
    gold = asked.labels.encode(whole.counts.labels)
    for both in cases:
        fast, slow = (
            by(kernel, evidence, r, asked, 2, gold) for r, kernel in zip(both, KERNELS, strict=True)
        )
        assert_same_rows(fast.kinds, slow.kinds)
        assert_same_rows(fast.tokens, slow.tokens)
        lattice = fast.lattice(Weights.fixed(whole))
        x = keep(lattice, np.ones(len(lattice.labels), bool))
        pairs = [
            by(kernel, r.pair_rates, asked, x.positions, x.labels, x.edges)
            for r, kernel in zip(both, KERNELS, strict=True)
        ]
        np.testing.assert_allclose(pairs[0], pairs[1], atol=1e-5)
        triples = [
            by(kernel, triple_rates, x, triple_offsets(x), r.triple)
            for r, kernel in zip(both, KERNELS, strict=True)
        ]
        np.testing.assert_allclose(triples[0], triples[1], atol=1e-12)


def test_weighing(rates: tuple[Rates, Rates]) -> None:
    rows = evidence(rates[0], tagged(80, 180)).rows()
    rng = np.random.default_rng(0)
    n_labels, n = rates[0].n_labels, rows.rates.shape[1]
    by_bucket, by_label = rng.normal(size=(6, n)), rng.normal(size=(n_labels, n))
    surplus = rng.normal(size=len(rows.labels))
    for skip_single in (False, True):
        fast, slow = np.ones(len(surplus)), np.ones(len(surplus))
        rows.weigh(by_bucket, by_label, fast, skip_single)
        by("numpy", rows.weigh, by_bucket, by_label, slow, skip_single)
        np.testing.assert_allclose(fast, slow, atol=1e-4)
    both = zip(rows.unweigh(surplus, n_labels), by("numpy", rows.unweigh, surplus, n_labels), strict=True)
    for quick, reference in both:
        np.testing.assert_allclose(quick, reference, atol=1e-3, rtol=1e-5)
    # ⟨surplus, weigh(w)⟩ = ⟨unweigh(surplus), w⟩
    forward = np.zeros(len(surplus))
    rows.weigh(by_bucket, by_label, forward, skip_single=True)
    back = [
        (g * w).sum() for g, w in zip(rows.unweigh(surplus, n_labels), (by_bucket, by_label), strict=True)
    ]
    assert forward @ surplus == pytest.approx(sum(back), rel=1e-6)


@pytest.mark.parametrize("weights", ["fixed", "fitted"])
def test_threads_change_nothing(weights: str) -> None:
    """Neither training nor tagging."""
    test = load_sample("test")[0]
    one = Tagger(weights).fit(X[:150], Y[:150])
    for n_jobs in (2, 3):
        many = Tagger(weights, n_jobs=n_jobs).fit(X[:150], Y[:150])
        assert np.array_equal(many.weights_.vector(), one.weights_.vector())
        assert many.predict(test) == one.predict(test)
        assert many.predict_marginals(test) == one.predict_marginals(test)
        assert many.predict_nbest(test[:30], 3) == one.predict_nbest(test[:30], 3)


def test_without_kernels() -> None:
    """Training and tagging in NumPy alone."""
    test, names = load_sample("test")[0][:12], ["word", "tail2", "word-1", "pair:tail2-1"]
    quick = Tagger(contexts=names).fit(X[:20], Y[:20])
    expected = quick.predict(test)
    with using("numpy"):
        slow = Tagger(contexts=names).fit(X[:20], Y[:20])
        assert slow.predict(test) == expected
    np.testing.assert_allclose(slow.weights_.vector(), quick.weights_.vector(), atol=1e-4)
