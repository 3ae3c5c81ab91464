"""Row weights: what a CRF adds beside the counts where there are few data."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import corate
from corate import InputError, LinearChainCRF, Tagger, load
from corate.arrays import owners
from corate.contexts.views import view
from corate.counts.names import fields, table_of, vocabulary_of
from corate.models.tagger.row_weights import UNIT, RowWeights, fit_rows, row_tables, share
from corate.models.tagger.settings import SETTINGS
from corate.text.tokens import as_corpus
from shared import by

X, Y = corate.load_sample("train", "entity")
TEST, GOLD = corate.load_sample("test", "entity")
FEATURES = [[{"w": word, "title": word.istitle()} for word in words] for words in X]


def named(tagger: Tagger) -> dict[tuple[str, ...], float]:
    """Each weight by its table, the values of its context and the label."""
    assert tagger.row_weights_ is not None
    weights, found = iter((UNIT * tagger.row_weights_).tolist()), {}
    for name in row_tables(tagger._contexts):
        vocabularies = [tagger.counts_.vocabularies[vocabulary_of(field)] for field in fields(name)]
        for row in tagger.counts_.tables[name].ids.tolist():
            key = (name, *(v[k] for v, k in zip(vocabularies, row, strict=True)))
            found[key] = next(weights)
    assert next(weights, None) is None
    return found


def test_candidates_have_the_weights_of_their_rows() -> None:
    tagger = Tagger(contexts=["word", "shape", "word-1,word"]).fit(X[:30], Y[:30])
    weights, (words, *_) = named(tagger), X
    rows = RowWeights(tagger.rates(), tagger.row_weights_)  # type: ignore[arg-type]
    n = len(tagger.classes_)
    positions, labels = np.arange(len(words) + 1) * n, np.tile(np.arange(n, dtype=np.int32), len(words))
    corpus = tagger._corpus([words])
    quick, slow = (by(how, rows.scores, corpus, positions, labels) for how in ("native", "numpy"))
    np.testing.assert_allclose(quick, slow, atol=1e-12)
    before = ["\0", *words[:-1]]
    shapes = [*map(view("shape"), words)]
    for c, (i, y) in enumerate(zip(owners(positions).tolist(), labels.tolist(), strict=True)):
        label = tagger.classes_[y]
        wanted = [("word.y", words[i]), ("shape.y", shapes[i]), ("word-1.word.y", before[i], words[i])]
        assert quick[c] == pytest.approx(sum(weights.get((*key, label), 0.0) for key in wanted), abs=1e-9)
    a, b = tagger.classes_.index("O"), tagger.classes_.index("O")
    assert rows.pair[a, b] == weights["y.y", "O", "O"]


def test_they_are_those_of_a_crf() -> None:
    """Without the penalty on |w|, and with r = 1, the same objective as LinearChainCRF's."""
    contexts = ["word", "lower"]
    tagger = Tagger("fixed", contexts).fit(X[:40], Y[:40])
    settings = replace(SETTINGS, rows_l1=0.0, rows_l2=0.1, rows_steps=500, rows_tolerance=1e-12)
    found = UNIT * fit_rows(as_corpus(X[:40], Y[:40]), tagger.rates(), 1.0, settings=settings)
    crf = LinearChainCRF(c2=0.1, contexts=contexts, tolerance=1e-12).fit(X[:40], Y[:40])
    tagger.row_weights_ = (found / UNIT).astype(np.int32)
    theirs = crf.named_weights()
    for (table, *values, label), weight in named(tagger).items():
        name = ("", values[0], label) if table == "y.y" else (f"{table[:-2]}={values[0]}", label)
        assert weight == pytest.approx(theirs[name], abs=2e-3)


def test_they_go_with_their_rows(tmp_path: Path) -> None:
    first = Tagger().fit(X[:30], Y[:30])
    before = named(first)
    first.partial_fit(X[30:34], Y[30:34])
    after = named(first)
    assert {key: after[key] for key in before} == before
    assert not any(weight for key, weight in after.items() if key not in before)
    first.forget(X[:4], Y[:4])
    left = named(first)
    assert left == {key: weight for key, weight in after.items() if key in left}
    assert len(left) < len(after)
    first.save(tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert named(loaded) == left
    assert loaded.predict(TEST) == first.predict(TEST)


def test_a_merge_takes_the_mean() -> None:
    a, b = Tagger().fit(X[:20], Y[:20]), Tagger().fit(X[20:50], Y[20:50])
    both, part = named(a + b), a.counts_.n_tokens / (a.counts_.n_tokens + b.counts_.n_tokens)
    one, other = named(a), named(b)
    for key, weight in both.items():
        mean = part * one.get(key, 0.0) + (1 - part) * other.get(key, 0.0)
        assert weight == pytest.approx(mean, abs=2 * UNIT)
    fixed = Tagger("fixed").fit(X[:20], Y[:20])
    assert (fixed + fixed).row_weights_ is None


def test_they_fade_as_there_is_more_text() -> None:
    rates = Tagger("fixed").fit(X, Y).rates()
    shares = [share(rates, n) for n in (1, 100, 1_000, 10_000, SETTINGS.rows_tokens)]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] < 1
    assert shares[-1] == 0.0
    assert share(rates, 100, replace(SETTINGS, rows_work=99 * rates.n_labels**2)) == 0.0
    own = Tagger("fixed").fit(FEATURES[:20], Y[:20]).rates()
    assert share(own, 100) > share(rates, 100)  # nobody knows good weights for these


def test_features_and_columns_have_them() -> None:
    tagger = Tagger().fit(FEATURES[:40], Y[:40])
    assert any(key[0] == table_of(tagger._contexts[0]) for key, weight in named(tagger).items() if weight)
    rows = [list(zip(words, words, strict=True)) for words in X[:40]]
    assert named(Tagger().fit(rows, Y[:40]))


@pytest.mark.parametrize(
    "change", [lambda rows: rows[:-1], lambda rows: rows.astype(np.int64), lambda rows: rows + 2**30]
)
def test_crafted_files_are_refused(change: Any, tmp_path: Path) -> None:
    tagger = Tagger().fit(X[:20], Y[:20])
    tagger.row_weights_ = change(tagger.row_weights_)
    with pytest.raises(InputError, match="row"):  # what would not load is not saved
        tagger.save(tmp_path / "m")


def test_few_sentences_gain_by_them() -> None:
    """Names in the sample, from sixty sentences; the share is what the formula says."""
    chosen = random.Random(1).sample(range(len(X)), 60)
    part = [X[k] for k in chosen], [Y[k] for k in chosen]
    with_rows = Tagger().fit(*part)
    without = Tagger().fit(*part)
    without.row_weights_ = None
    assert with_rows.score(TEST, GOLD) >= without.score(TEST, GOLD)
