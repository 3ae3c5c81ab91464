"""Models of which no more is read than is asked for: the same labels, and what is used was checked before."""

from __future__ import annotations

import copy
import hashlib
import os
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Cli
from corate import ModelFileError, Tagger, load, load_sample
from corate.arrays import pack
from corate.counts.table import Table
from corate.counts.unread import FencedTable, UnreadTables, parts_of
from corate.rates.lookup import PartIndex
from corate.storage import archive, modelfile
from shared import assert_one_line

X, Y = load_sample()
TEST, _ = load_sample("test")
SENTENCE = ["The", "old", "neighbours", "repainted", "it", "."]


@pytest.fixture(scope="module", autouse=True)
def small_blocks() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(archive, "LEAST_BLOCK", 512)
        patch.setattr("corate.counts.unread.STEP", 16)
        yield


@pytest.fixture(scope="module")
def saved(small_blocks: None, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("lazily") / "m.model"
    Tagger("fixed").fit(X, Y).save(path)
    return path.read_bytes()


@pytest.fixture
def path(saved: bytes, tmp_path: Path) -> Path:
    (tmp_path / "m.model").write_bytes(saved)
    return tmp_path / "m.model"


def features(sentences: list[list[str]]) -> list[list[dict[str, Any]]]:
    return [[{"w": word, "end": word[-2:], "long": len(word) > 6} for word in words] for words in sentences]


@pytest.mark.parametrize("kind", ["words", "fitted", "features", "pruned", "columns"])
def test_the_same_labels_and_probabilities(kind: str, tmp_path: Path) -> None:
    given, asked, labels = X[:80], TEST[:25], Y[:80]
    if kind == "features":
        given, asked = features(given), features(asked)  # type: ignore[assignment]
    if kind == "columns":
        given = [[(word, word[-1:]) for word in words] for words in given]  # type: ignore[misc]
        asked = [[(word, word[-1:]) for word in words] for words in asked]  # type: ignore[misc]
    contexts = ("word", "word-1", "word+1", "suffix2", "pair:suffix2-1") if kind == "fitted" else None
    model = Tagger("fitted" if kind == "fitted" else "fixed", contexts=contexts).fit(given, labels)
    if kind == "pruned":
        model.prune(2)
    model.save(tmp_path / "m")
    in_parts = load(tmp_path / "m", lazily=True)
    for sentence in asked:
        assert in_parts.predict([sentence]) == model.predict([sentence])
    fresh = load(tmp_path / "m", lazily=True)
    assert fresh.predict_marginals(asked[:3]) == model.predict_marginals(asked[:3])
    assert fresh.predict(asked, exact=True) == model.predict(asked, exact=True)
    assert in_parts.counts_ == model.counts_


def test_little_is_read_for_a_sentence(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    whole = archive.OpenFile.read

    def counted(self: archive.OpenFile, start: int, end: int) -> archive.Bytes:
        read.append(end - start)
        return whole(self, start, end)

    monkeypatch.setattr(archive.OpenFile, "read", counted)
    model = load(path, lazily=True)
    model.predict([SENTENCE])
    assert not model.counts_.tables.is_read
    assert sum(read) < path.stat().st_size / 2


def test_many_tokens_are_looked_up_in_all_counts(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PartIndex, "most_tokens", 30)
    model, whole = load(path, lazily=True), load(path)
    assert model.predict(TEST[:1]) == whole.predict(TEST[:1])
    assert not model.counts_.tables.is_read
    assert model.predict(TEST) == whole.predict(TEST)
    assert model.counts_.tables.is_read
    assert model.predict(TEST[:1]) == whole.predict(TEST[:1])


def test_what_is_done_with_a_model_otherwise(path: Path, tmp_path: Path) -> None:
    """Learning, forgetting, saving, copies, explanations: as if it had been read at once."""
    whole, model = load(path), load(path, lazily=True)
    assert model.explain(SENTENCE) == whole.explain(SENTENCE)
    assert model.word_entries("the") == whole.word_entries("the")
    for copied in (
        copy.deepcopy(load(path, lazily=True)),
        pickle.loads(pickle.dumps(load(path, lazily=True))),
    ):
        assert copied.predict([SENTENCE]) == whole.predict([SENTENCE])
        assert copied.counts_ == whole.counts_
    model = load(path, lazily=True)
    model.predict([SENTENCE])
    model.partial_fit([["Zorro", "rides"]], [["PROPN", "VERB"]])
    whole.partial_fit([["Zorro", "rides"]], [["PROPN", "VERB"]])
    assert model.predict([["Zorro"]]) == whole.predict([["Zorro"]])
    model.save(tmp_path / "a")
    whole.save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    model.forget([["Zorro", "rides"]], [["PROPN", "VERB"]]).save(tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == path.read_bytes()


# Files that change or are wrong ----------------------------------------------------------------------


def test_a_file_that_is_cut_off_or_written_to(path: Path, saved: bytes) -> None:
    """While it is in use: an error, never a crash. One that is replaced is still the old one."""
    expected = load(path).predict([SENTENCE])
    for change in (lambda: os.truncate(path, 1000), lambda: path.write_bytes(b"\0" * len(saved))):
        path.write_bytes(saved)
        model = load(path, lazily=True)
        change()
        with pytest.raises(ModelFileError, match=r"m\.model: damaged: the (file ends|checksum)"):
            model.predict([SENTENCE])
        with pytest.raises(ModelFileError, match=r"m\.model: damaged: the (file ends|checksum)"):
            model.partial_fit(X[:1], Y[:1])
    path.write_bytes(saved)
    model = load(path, lazily=True)
    path.unlink()
    path.write_bytes(b"another")
    assert model.predict([SENTENCE]) == expected


def test_damage_is_found_where_it_is_used(path: Path, saved: bytes, cli: Cli) -> None:
    """At any place: the labels are right, or there is one line that says what is wrong."""
    text = path.with_name("text")
    text.write_text(" ".join(SENTENCE) + "\n")
    right = cli("tag", "-m", path, text).out
    rng, n_found = np.random.default_rng(0), 0
    for place in rng.integers(0, len(saved), 60).tolist():
        damaged = bytearray(saved)
        damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        found = cli("tag", "-m", path, text)
        if found.code:
            n_found += 1
            assert_one_line(found, f"{path}: ")
        else:
            assert found.out == right
        with pytest.raises(ModelFileError):
            load(path)
    assert 0 < n_found < 60


def test_a_model_that_comes_through_a_pipe(path: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    if os.fork() == 0:  # pragma: no cover - another process
        pipe.write_bytes(path.read_bytes())
        os._exit(0)
    assert load(pipe, lazily=True).predict([SENTENCE]) == load(path).predict([SENTENCE])
    os.wait()


# Tables and blocks -----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_rows", [0, 1, 15, 16, 17, 200])
def test_rows_of_values_are_those_of_the_table(n_rows: int, tmp_path: Path) -> None:
    """Beside a plain search, for values that are there and others; runs of rows go over fences."""
    rng = np.random.default_rng(n_rows)
    columns = [rng.integers(0, most, 3 * n_rows) for most in (4, 5, 30)]
    table = Table.of(columns, rng.integers(1, 9, 3 * n_rows)) if n_rows else Table.of([np.empty(0, int)] * 3)
    table = table.only(np.arange(len(table.n)) < n_rows)
    modelfile.write(
        tmp_path / "t", modelfile.Contents({}, {}, {f"t.{k}": a for k, a in parts_of(table).items()})
    )
    fenced = FencedTable(modelfile.opened(tmp_path / "t"), "t", 3)
    every = np.arange(8 * 8)
    for keys in (every, every[:0], *every[:, None], rng.permutation(every)[:9]):
        ascending = np.sort(keys)
        expected = table.only(np.isin(pack(table.ids.T[:2], [3, 3]), ascending))
        assert fenced.with_values(ascending, [3, 3]) == expected


def test_digests_of_blocks() -> None:
    for size, n in ((1, 3), (4, 4), (4, 5), (7, 0), (100, 9)):
        data = bytes(range(n))
        cut: list[bytes | memoryview] = [data[:2], b"", memoryview(data)[2:]]
        expected = [hashlib.sha256(data[k : k + size]).hexdigest() for k in range(0, max(1, n), size)]
        assert archive.digests(cut, size) == "".join(expected)


def test_large_files_have_large_blocks() -> None:
    assert archive.block_size(0) == archive.LEAST_BLOCK
    for n_bytes in (10**6, 10**9, 10**12):
        size = archive.block_size(n_bytes)
        assert size * archive.MOST_BLOCKS >= n_bytes
        assert size == archive.LEAST_BLOCK or size // 2 * archive.MOST_BLOCKS < n_bytes


def test_unread_tables_are_a_mapping(path: Path) -> None:
    tables, whole = load(path, lazily=True).counts_.tables, load(path).counts_.tables
    assert isinstance(tables, UnreadTables)
    assert (sorted(tables), len(tables)) == (sorted(whole), len(whole))
    assert not tables.is_read
    assert dict(tables) == dict(whole)
