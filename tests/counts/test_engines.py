"""Every engine makes the same model file as `fit` on everything at once, in however many chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corate
from corate.counts.engines.base import Engine
from corate.counts.engines.disk import Disk
from corate.counts.engines.memory import Chunks
from corate.errors import InputError
from corate.storage.modelfile import to_bytes
from corate.text.corpus import Corpus
from corate.text.passages import Passages, beginning_between, tokens_between
from corate.text.spool import Spool
from corate.text.tokens import as_corpus

X, Y = corate.load_sample("train", "entity")
ENGINES = ["memory", "disk"]


@pytest.fixture
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    if request.param == "memory":
        yield Chunks
        return
    pytest.importorskip("duckdb")
    with Disk(tmp_path / "work") as disk:
        yield disk
    assert not [*tmp_path.iterdir()]


def words() -> Corpus:
    return as_corpus(X[:120], Y[:120])


def with_column() -> Corpus:
    tokens = [[(word, word[:1]) for word in sentence] for sentence in X[:100]]
    return as_corpus(tokens, Y[:100])


def partly_labelled() -> Corpus:
    return as_corpus(X[:100], [[None if i % 7 == 0 else y for i, y in enumerate(ys)] for ys in Y[:100]])


def of_word(word: str, place: int) -> dict[str, str]:
    """Features of which some are there for few words, so that chunks differ in their keys."""
    every = {"lower": word.lower(), "tail": word[-2:], "first": str(place == 0)}
    return every if word[0].isalpha() else {"sign": word}


def features() -> Corpus:
    tokens = [[of_word(w, i) for i, w in enumerate(sentence)] for sentence in X[:60]]
    return as_corpus(tokens, Y[:60], "refuse", says_no=True)


def cut(corpus: Corpus, n_chunks: int) -> Iterator[Corpus]:
    """Chunks with no more keys than their own tokens have."""
    bounds = np.linspace(0, corpus.n_sentences, n_chunks + 1).astype(int).tolist()
    for first, last in pairwise(bounds):
        chunk = corpus.select(first, last)
        there = [k for k, _ in enumerate(corpus.keys) if chunk.columns[k].values not in ([], ["\0"])]
        if corpus.keys:
            columns, keys = tuple(chunk.columns[k] for k in there), tuple(corpus.keys[k] for k in there)
            chunk = Corpus(columns, chunk.labels, chunk.offsets, keys)
        yield chunk


def bytes_of(model: Any) -> bytes:
    return to_bytes(model._contents())


@cache
def fitted_whole(case: str) -> tuple[Corpus, bytes]:
    corpus = CASES[case][0]()
    return corpus, bytes_of(CASES[case][1]().fit(corpus))


CASES: dict[str, tuple[Callable[[], Corpus], Callable[[], Any]]] = {
    "fixed": (words, lambda: corate.Tagger(weights="fixed")),
    "fitted": (words, corate.Tagger),
    "columns": (with_column, lambda: corate.Tagger(weights="fixed")),
    "partly labelled": (partly_labelled, corate.Tagger),
    "no ledger": (words, lambda: corate.Tagger(weights="fixed", ledger=False)),
    "features": (features, corate.Tagger),
    "fixed features": (features, lambda: corate.Tagger(weights="fixed")),
    "named features": (features, lambda: corate.Tagger(contexts=['"sign"', '"never"', '"tail"'])),
    "ECRN": (words, lambda: corate.EmpiricalCRF("signature", "word")),
    "chosen exponent": (words, lambda: corate.EmpiricalCRF(mu_oov=None)),
    "HMM": (words, corate.HMM),
}
SLOW = ("fitted", "partly labelled", "features", "named features")


@pytest.mark.parametrize("engine", ENGINES, indirect=True)
@pytest.mark.parametrize("case", [*CASES])
def test_chunks_make_the_same_model(case: str, engine: Engine) -> None:
    (corpus, expected), model = fitted_whole(case), CASES[case][1]
    for n_chunks in (7,) if case in SLOW or engine is not Chunks else (1, 7, 64):
        assert bytes_of(model().fit_chunks(cut(corpus, n_chunks), engine=engine)) == expected, n_chunks


@pytest.mark.parametrize("engine", ENGINES, indirect=True)
@pytest.mark.parametrize("case", ["fixed", "fitted", "ECRN", "chosen exponent"])
def test_what_is_cut_while_counting_is_what_prune_drops(case: str, engine: Engine) -> None:
    corpus, model = CASES[case][0](), CASES[case][1]
    pruned = model().fit(corpus).prune(3)
    made = model().fit_chunks(cut(corpus, 5), engine=engine, min_count=3)
    assert (made.pruned_, made.ledger_) == (3, None)
    assert bytes_of(made) == bytes_of(pruned)
    with pytest.raises(InputError, match="pruned"):
        made.forget(corpus.select(0, 1))


@pytest.mark.parametrize("engine", ENGINES, indirect=True)
def test_what_cannot_be_learned_from_is_refused(engine: Engine) -> None:
    with pytest.raises(InputError, match="no labelled token"):
        corate.Tagger().fit_chunks([], engine=engine)
    with pytest.raises(InputError, match=r"\[1, 2\] columns do not join"):
        corate.HMM().fit_chunks([words(), with_column()], engine=engine)
    with pytest.raises(InputError, match="cannot be pruned"):
        corate.HMM().fit_chunks([words()], engine=engine, min_count=2)
    with pytest.raises(InputError, match="nothing would be left"):
        corate.EmpiricalCRF().fit_chunks([words()], engine=engine, min_count=10**6)
    with pytest.raises(InputError, match="whole number from 2"):
        corate.Tagger().fit_chunks([words()], engine=engine, min_count=1)


# Sentences by place ----------------------------------------------------------------------------------


def strings(text: Corpus) -> list[str]:
    return text.words.strings()


@settings(deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 4), max_size=4), min_size=1, max_size=4),
    st.integers(0, 20),
    st.integers(0, 20),
)
def test_passages_are_those_of_the_whole_text(chunks: list[list[int]], a: int, b: int) -> None:
    """Against the definition, over lists: lengths of sentences, in chunks."""
    lengths = [length for chunk in chunks for length in chunk]
    names = [[f"{s}.{i}" for i in range(length)] for s, length in enumerate(lengths)]
    whole, spool = as_corpus(names, [["y"] * n for n in lengths]), Spool()
    bounds = np.cumsum([0, *map(len, chunks)]).tolist()
    for first, last in pairwise(bounds):
        spool.add(whole.select(first, last))
    begins = np.cumsum([0, *lengths]).tolist()
    begun = [w for s, ws in enumerate(names) if a <= begins[s] < b for w in ws]
    texts: list[Passages] = [whole, spool]
    for text in texts:
        assert (text.n_tokens, text.n_sentences) == (sum(lengths), len(lengths))
        assert strings(beginning_between(text, a, b)) == begun
        if a < min(b, text.n_tokens):
            assert strings(tokens_between(text, a, b)) == [w for ws in names for w in ws][a:b]
        first = min(a, len(names))
        found = text.sentences(first, max(first, min(b, len(names))))
        assert [w for piece in found for w in strings(piece)] == [w for ws in names[a:b] for w in ws]
