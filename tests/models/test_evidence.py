"""The Tagger's evidence: kernels against NumPy, with all counts and without some; the score by its terms."""

from __future__ import annotations

import numpy as np
import pytest

from corate import Tagger, load_sample
from corate._native import using
from corate.arrays import owners
from corate.contexts.template import parse_all
from corate.counts.events import Events
from corate.counts.names import table_of
from corate.lattice.narrow import keep
from corate.models.tagger.evidence import Kinds, PairEvidence, Rows
from corate.models.tagger.lattices import evidence_of
from corate.models.tagger.tagger import LABELS_ALONE
from corate.models.tagger.weights import Weights
from corate.rates.rates import Rates
from corate.text.corpus import Corpus
from corate.text.tokens import as_corpus
from shared import KERNELS, by

X, Y = load_sample()

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
    return whole.without(part), Rates(events.count().without(part), contexts)


def assert_same_rows(fast: Kinds, slow: Kinds) -> None:
    assert isinstance(fast, Rows)
    assert isinstance(slow, Rows)
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
            by(kernel, evidence_of, r, theirs, 2, gold, everything=everything)
            for r, kernel in zip(rates, KERNELS, strict=True)
        )
        assert_same_rows(fast.kinds, slow.kinds)
        assert_same_rows(fast.tokens, slow.tokens)
        for name in ("log_prior", "start", "end", "pair"):
            mine, theirs = getattr(fast.of_labels, name), getattr(slow.of_labels, name)
            np.testing.assert_allclose(mine, theirs, atol=1e-12)
        if gold is not None:
            assert np.isin(
                gold + 100 * np.arange(len(gold)), fast.tokens.labels + 100 * owners(fast.tokens.positions)
            ).all()


def test_rates_of_pairs_and_triples(rates: tuple[Rates, Rates]) -> None:
    corpus = tagged(80, 180)
    assert corpus.labels is not None
    shown = evidence_of(rates[0], corpus, gold=corpus.labels.encode(rates[0].counts.labels))
    lattice = shown.lattice(Weights.fixed(rates[0]))
    x = keep(lattice, np.ones(len(lattice.labels), bool))
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
    of_triples = [
        by(kernel, PairEvidence.of, r, corpus, x, 2).triple for r, kernel in zip(rates, KERNELS, strict=True)
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
        [np.diff(whole.tables(group).first_row) for group in (whole.groups.alone, whole.groups.around)]
    )
    assert {n_labels_of.min() < 9, (n_labels_of == 12).any(), n_labels_of.max() > 32} == {True}
    cases = (
        (whole, whole),
        (whole.without(part), Rates(whole.counts.without(part), contexts)),
    )
    asked = as_corpus(X[90:130], names[90:130])
    assert asked.labels is not None
    gold = asked.labels.encode(whole.counts.labels)
    for both in cases:
        fast, slow = (
            by(kernel, evidence_of, r, asked, 2, gold) for r, kernel in zip(both, KERNELS, strict=True)
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
            by(kernel, PairEvidence.of, r, asked, x).triple for r, kernel in zip(both, KERNELS, strict=True)
        ]
        np.testing.assert_allclose(triples[0], triples[1], atol=1e-12)


def test_weighing(rates: tuple[Rates, Rates]) -> None:
    rows = evidence_of(rates[0], tagged(80, 180)).tokens
    rng = np.random.default_rng(0)
    n_labels, n = rates[0].n_labels, rows.rates.shape[1]
    weights = rng.normal(size=(6, n)), rng.normal(size=(n_labels, n))
    only = np.repeat(np.diff(rows.positions) == 1, np.diff(rows.positions))
    surplus = np.where(only, 0.0, rng.normal(size=len(rows.labels)))
    scores, gradients = [], []
    for kernel in KERNELS:
        with using(kernel):
            scores.append(np.ones(len(surplus)))
            rows.weigh(*weights, scores[-1])
            gradients.append([np.zeros_like(each) for each in weights])
            rows.add_gradient(surplus, *gradients[-1])
    np.testing.assert_allclose(scores[0], scores[1], atol=1e-4)
    for quick, reference in zip(*gradients, strict=True):
        np.testing.assert_allclose(quick, reference, atol=1e-3, rtol=1e-5)
    # ⟨surplus, weigh(w)⟩ = ⟨unweigh(surplus), w⟩
    back = sum((g * w).sum() for g, w in zip(gradients[0], weights, strict=True))
    assert (scores[0] - 1.0) @ surplus == pytest.approx(back, rel=1e-6)


def test_the_score_is_the_sum_of_its_terms(rates: tuple[Rates, Rates]) -> None:
    """By the formula, one number at a time: what `explain` shows is what `scores` adds up."""
    corpus = tagged(80, 90)
    shown = evidence_of(rates[0], corpus)
    rng = np.random.default_rng(2)
    fixed = Weights.fixed(rates[0])
    weights = fixed.like(fixed.vector() + rng.normal(size=len(fixed.vector())))
    scores, positions = shown.scores(weights), shown.tokens.positions
    for i in range(corpus.n_tokens):
        for c in range(int(positions[i]), int(positions[i + 1])):
            terms = shown.terms(weights, i, int(shown.tokens.labels[c]))
            assert terms.label + terms.contexts.sum() == pytest.approx(scores[c], abs=1e-5)


@pytest.mark.parametrize("weights", ["fixed", "fitted"])
def test_threads_change_nothing(weights: str) -> None:
    """Neither training nor tagging."""
    test = load_sample("test")[0]
    n = 150 if weights == "fixed" else 60
    one = Tagger(weights).fit(X[:n], Y[:n])
    for n_jobs in (2, 3):
        many = Tagger(weights, n_jobs=n_jobs).fit(X[:n], Y[:n])
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


def test_a_context_adds_to_the_first_one_what_that_did_not_say() -> None:
    """log P(y | f) − log P(y | parent), by hand: the parent is the first of all contexts."""
    X = [["the", "bank"], ["the", "bank"], ["we", "bank"], ["we", "run"]]
    Y = [["D", "N"], ["D", "N"], ["P", "V"], ["P", "V"]]
    contexts = parse_all(["word", "word-1,word"])
    corpus = as_corpus(X, Y)
    rates = Rates(Events(corpus, [*LABELS_ALONE, *map(table_of, contexts)]).count(), contexts)
    s, labels = rates.smoothing, "DNPV"

    def smoothed(n: dict[str, int], above: dict[str, float]) -> dict[str, float]:
        a = s.alpha * len(n)
        return {y: (n.get(y, 0) + a * above[y]) / (sum(n.values()) + a) for y in labels}

    prior = dict.fromkeys(labels, (2 + s.prior_count) / (8 + 4 * s.prior_count))
    bank = smoothed({"N": 2, "V": 1}, prior)
    the_bank, we_bank = smoothed({"N": 2}, bank), smoothed({"V": 1}, bank)
    for words, joint in ((X[0], the_bank), (X[2], we_bank)):
        shown = evidence_of(rates, as_corpus([words]), everything=True).tokens
        assert isinstance(shown, Rows)
        here = slice(int(shown.positions[1]), int(shown.positions[2]))
        found = dict(zip((labels[y] for y in shown.labels[here]), shown.rates[here, 0].tolist(), strict=True))
        assert found == pytest.approx({y: np.log(joint[y] / bank[y]) for y in "NV"}, abs=1e-6)
