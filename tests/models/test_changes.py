"""Models add and subtract: the same bytes, whatever the way to the same sentences."""

from __future__ import annotations

import io
import random
import zipfile
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import corate
from corate import HMM, EmpiricalCRF, InputError, Tagger, load, merge
from corate.counts.table import Table
from corate.evaluation.folds import label_folds
from corate.storage import modelfile
from corate.text.tokens import as_corpus
from shared import by

X, Y = corate.load_sample("train", "entity")
TEST, _ = corate.load_sample("test", "entity")

Labelled = list[list[tuple[str, "str | None"]]]

tokens = st.tuples(
    st.sampled_from(["a", "b", "ab", "Ba", "1-b", "zé"]), st.sampled_from(["N", "V", "X", None])
)
sentences = st.lists(tokens, min_size=1, max_size=4)
corpora = st.lists(sentences, min_size=1, max_size=4).filter(lambda c: any(y for s in c for _, y in s))


def xy(data: Labelled) -> tuple[list[list[str]], list[list[str | None]]]:
    return [[x for x, _ in s] for s in data], [[y for _, y in s] for s in data]


def in_bytes(model: Any) -> bytes:
    return modelfile.to_bytes(model._contents())


MODELS = [
    Tagger("fixed", contexts=("suffix1", "word", "word-1", "word-1,word", "pair:shape-1")),
    EmpiricalCRF(pair="word"),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@settings(max_examples=150, deadline=None)
@given(a=corpora, b=corpora)
def test_training_on_all_is_adding_is_merging_and_forgetting_undoes_it(
    model: Any, a: Labelled, b: Labelled
) -> None:
    def fit(data: Labelled) -> Any:
        return type(model)(**model.get_params()).fit(*xy(data))

    whole, only_a, only_b = fit(a + b), fit(a), fit(b)
    all_of_it, part = in_bytes(whole), in_bytes(only_a)
    assert in_bytes(only_a + only_b) == in_bytes(only_b + only_a) == all_of_it
    assert in_bytes(only_a.partial_fit(*xy(b))) == in_bytes(only_b.partial_fit(*xy(a))) == all_of_it
    for model in (whole, only_a, only_b):
        assert in_bytes(model.forget(*xy(b))) == part


def test_fitted_weights_are_kept_and_every_count_is_the_same() -> None:
    def members(model: Any) -> dict[str, bytes]:
        archive = zipfile.ZipFile(io.BytesIO(in_bytes(model)))
        return {n: archive.read(n) for n in archive.namelist() if n != "manifest.json" and "weights" not in n}

    a, b = (X[:200], Y[:200]), (X[200:], Y[200:])
    whole, first = Tagger().fit(X, Y), Tagger().fit(*a)
    added = Tagger().fit(*a).partial_fit(*b)
    assert members(added) == members(whole) == members(first + Tagger().fit(*b))
    assert members(Tagger().fit(X, Y).forget(*b)) == members(first)
    kept = first.weights_.relabelled(first.classes_, whole.classes_)
    assert np.array_equal(added.weights_.vector(), kept.vector())
    assert in_bytes(added.refit(X, Y)) == in_bytes(whole)


@pytest.mark.parametrize(("model", "n_shards", "n_orders"), [(MODELS[0], 50, 30), (Tagger(), 10, 5)])
def test_shards_make_one_model_in_any_order(model: Any, n_shards: int, n_orders: int) -> None:
    parts = [(X[k:100:n_shards], Y[k:100:n_shards]) for k in range(n_shards)]
    shards = [type(model)(**model.get_params()).fit(*part) for part in parts]
    merged = set()
    for seed in range(n_orders):
        random.Random(seed).shuffle(shards)
        merged.add(in_bytes(merge(*shards)))
    assert len(merged) == 1


def test_changes_show_at_once_as_if_the_model_had_been_loaded(tmp_path: Path) -> None:
    model = Tagger("fixed").fit(X[:300], Y[:300])
    model.predict(TEST)
    for step, args in (("partial_fit", (X[300:], Y[300:])), ("forget", (X[:20], Y[:20])), ("prune", (2,))):
        getattr(model, step)(*args)
        model.save(tmp_path / "y.model")
        assert model.predict_marginals(TEST) == load(tmp_path / "y.model").predict_marginals(TEST)


@pytest.mark.parametrize("model", [Tagger("fixed"), EmpiricalCRF()], ids=lambda model: type(model).__name__)
def test_what_a_copy_learns_is_its_own(model: Any, tmp_path: Path) -> None:
    model.fit(X[:300], Y[:300])
    before, bytes_before = model.predict_marginals(TEST), in_bytes(model)
    for change in ("partial_fit", "forget", "prune"):
        args = () if change == "prune" else (X[:20], Y[:20])
        getattr(copy(model), change)(*args)
        assert model.predict_marginals(TEST) == before
        assert in_bytes(model) == bytes_before


def test_a_model_that_could_not_be_loaded_is_not_made() -> None:
    long = Tagger("fixed", ("word", "word-2,word-1,word,word+1,word+2"))
    long.fit([[f"w{k}" for k in range(4000)]], [["N"] * 4000])
    before = in_bytes(long)
    with pytest.raises(InputError, match="too many values"):
        long.partial_fit([[f"x{k}" for k in range(200)]], [["N"] * 200])
    assert in_bytes(long) == before
    with pytest.raises(InputError, match="ledger=1"):
        Tagger(ledger=1).fit(X, Y)  # type: ignore[arg-type]


def test_parameters_that_are_set_after_training_wait_for_the_next_one() -> None:
    model = EmpiricalCRF().fit(X[:300], Y[:300]).set_params(unknown="maxent").partial_fit(X[300:], Y[300:])
    assert in_bytes(model) == in_bytes(EmpiricalCRF().fit(X, Y))


def test_refit_where_some_words_are_far_from_any_label() -> None:
    some = [[y if k == 0 or s % 3 else None for k, y in enumerate(labels)] for s, labels in enumerate(Y)]
    model = Tagger().fit(X, some)
    assert in_bytes(Tagger().fit(X, some).refit(X, some)) == in_bytes(model)


def test_new_words_and_labels_at_any_time() -> None:
    model = Tagger("fixed").fit(X, Y).partial_fit([["Quux", "flies"]], [["B-NEW", "O"]])
    assert "B-NEW" in model.classes_
    assert model.predict([["Quux", "flies"]]) == [["B-NEW", "O"]]
    model.forget([["Quux", "flies"]], [["B-NEW", "O"]])
    assert "B-NEW" not in model.classes_


def test_a_forgotten_word_is_not_in_the_file() -> None:
    canary = [["The", "xylocanary7", "sang", "."]], [["O"] * 4]
    model = Tagger().fit(X + canary[0], Y + canary[1])
    assert b"xylocanary7" in in_bytes(model)
    assert b"xylocanary" not in in_bytes(model.forget(*canary))


def test_what_was_never_learned_is_not_forgotten() -> None:
    for model in (Tagger("fixed").fit(X, Y), EmpiricalCRF().fit(X, Y)):
        before = in_bytes(model)
        with pytest.raises(
            InputError, match=r"1 of 2 sentences were never learned, the first of them 'stranger'"
        ):
            model.forget([X[0], ["stranger"]], [Y[0], ["O"]])
        with pytest.raises(InputError, match="nothing would be left"):
            model.forget(X, Y)
        with pytest.raises(InputError, match="no labels"):
            model.forget(X)
        assert in_bytes(model) == before
        less = in_bytes(type(model)(**model.get_params()).fit(X[1:], Y[1:]))
        assert in_bytes(model.forget([X[0], ["stranger"]], [Y[0], ["O"]], force=True)) == less
    bare = Tagger("fixed", ledger=False).fit(X, Y)
    with pytest.raises(InputError, match="never counted"):
        bare.forget([["stranger"]], [["O"]])


def test_the_ledger_counts_how_often() -> None:
    model = EmpiricalCRF().fit([["a"], ["a"], ["b"]], [["N"], ["N"], ["N"]])
    asked = [["a"], ["a"], ["a"], ["c"]], [["N"]] * 4
    assert model.known(*asked).tolist() == [True, True, False, False]
    assert not model.known([["a"]], [["V"]]).any(), "another label is another sentence"


def test_models_that_differ_do_not_merge() -> None:
    one = Tagger("fixed").fit(X, Y)
    with pytest.raises(InputError, match="different contexts do not merge"):
        one + Tagger("fixed", contexts=("word",)).fit(X, Y)
    with pytest.raises(InputError, match="different weights do not merge, 'fixed' and 'fitted'"):
        one + Tagger().fit(X, Y)
    with pytest.raises(InputError, match="a Tagger and an EmpiricalCRF do not merge"):
        merge(one, EmpiricalCRF().fit(X, Y))
    bare = Tagger("fixed", ledger=False).fit(X, Y)
    with pytest.raises(InputError, match=r"different ledger .*--no-ledger"):
        one + bare
    assert merge(one, bare, ledger=False).counts_ == one.counts_ + bare.counts_
    with pytest.raises(InputError, match=r"looks at col2"):
        Tagger("fixed").fit([[("a", "DT")]], [["X"]]).partial_fit([["a"]], [["X"]])


def test_a_pruned_model_learns_and_does_not_forget(tmp_path: Path) -> None:
    for model in (Tagger("fixed").fit(X, Y), EmpiricalCRF(pair="word").fit(X, Y)):
        whole = in_bytes(model)
        model.prune(3)
        assert len(in_bytes(model)) < len(whole)
        model.save(tmp_path / "x.model")
        again = load(tmp_path / "x.model")
        assert again.predict(TEST) == model.predict(TEST)
        assert min(t.n.min() for name, t in again.counts_.tables.items() if name.startswith("word")) == 3
        with pytest.raises(InputError, match="pruned"):
            again.forget(X[:1], Y[:1])
        assert again.partial_fit(X[:1], Y[:1]).predict([X[0]])
    with pytest.raises(InputError, match="below=1"):
        Tagger("fixed").fit(X, Y).prune(1)


def features(words: list[str], sentence: int) -> list[dict[str, Any]]:
    """What a tutorial takes for features; one key is in few sentences only."""
    before = ["<s>", *words]
    made: list[dict[str, Any]] = [
        {"word": w.lower(), "end": w[-3:], "title": w.istitle(), "before": b.lower()}
        | ({"rare": w[0]} if sentence < 3 else {})
        for w, b in zip(words, before, strict=False)
    ]
    return made


FOLDED = {
    "fixed": Tagger("fixed"),
    "fitted": Tagger(),
    "features": Tagger(),
    "features, fixed": Tagger("fixed"),
    "ECRN": EmpiricalCRF(unknown="signature", pair="word"),
    "EP1, chosen": EmpiricalCRF(mu_oov=None),
    "EP2": EmpiricalCRF(unknown="maxent"),
    "HMM": HMM(),
}


@pytest.mark.parametrize("name", FOLDED)
def test_folds_are_labelled_as_by_a_training_on_the_rest(name: str) -> None:
    model, n = FOLDED[name], 100 if name in ("fitted", "features") else len(X)
    inputs: list[Any] = X[:n]
    if name.startswith("features"):
        inputs = [features(words, sentence) for sentence, words in enumerate(X[:n])]
    folds = list(label_folds(model, as_corpus(inputs, Y[:n], model.numbers, says_no=model._says_no), 4))
    assert [fold.first for fold in folds] == [n * k // 4 for k in range(4)]
    for fold in folds:
        a, b = fold.first, fold.last
        rest = type(model)(**model.get_params()).fit(inputs[:a] + inputs[b:], Y[:a] + Y[b:n])
        assert fold.labels == rest.predict(inputs[a:b])
        assert fold.known_words == rest.known_words()


@example(data=[[("a", "N")], [("a", None), ("a", "N"), ("a", None)]])  # no label has a neighbour
@given(data=st.lists(sentences, min_size=2, max_size=5))
@settings(deadline=None, max_examples=25)
def test_folds_of_any_sentences(data: Labelled) -> None:
    """Words, labels and all may occur in one fold alone."""
    x, y = xy(data)
    for model in (Tagger("fixed"), HMM(), EmpiricalCRF(unknown="signature")):
        folds = label_folds(model, as_corpus(x, y), len(x))
        if sum(any(labels) for labels in y) < 2:
            with pytest.raises(InputError, match="all the labels there are"):
                list(folds)
            return
        for s, fold in enumerate(folds):
            rest = type(model)(**model.get_params()).fit(x[:s] + x[s + 1 :], y[:s] + y[s + 1 :])
            assert fold.labels == rest.predict(x[s : s + 1])


def test_folds_that_cannot_be_made() -> None:
    corpus = as_corpus(X, Y)
    with pytest.raises(InputError, match="1 folds of 380 sentences"):
        next(label_folds(Tagger("fixed").fit(corpus), corpus, 1))


rows = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=8)


@given(a=rows, b=rows)
@settings(deadline=None)
def test_rows_are_found_and_put_in_by_the_kernel_as_by_numpy(
    a: list[tuple[int, int]], b: list[tuple[int, int]]
) -> None:
    one, other = (Table.of([np.array([row[k] for row in each], np.int32) for k in (0, 1)]) for each in (a, b))
    places, found = one.find(other.ids)
    for mine, theirs in zip((places, found), by("numpy", one.find, other.ids), strict=True):
        assert np.array_equal(mine, theirs)
    new = places[~found], other.ids[~found], other.n[~found]
    assert one._insert(*new) == by("numpy", one._insert, *new)
    assert one + other == Table.of([np.array([row[k] for row in a + b], np.int32) for k in (0, 1)])
