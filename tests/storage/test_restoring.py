"""Model files whose checksums are right and whose contents are not: each is refused in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corate import EmpiricalCRF, LinearChainCRF, ModelFileError, load, merge
from corate.storage.locks import locked
from drafts import Draft

X, Y = [["a", "b", "a"], ["b", "c"]], [["P", "Q", "P"], ["Q", "P"]]


def loaded(tmp_path: Path, model: Any, change: Callable[[Draft], object]) -> Any:
    path = tmp_path / "m"
    model.fit(X, Y).save(path)
    draft = Draft.of(path.read_bytes())
    change(draft)
    path.write_bytes(draft.data())
    return load(path)


def array(name: str, change: Callable[[Any], Any]) -> Callable[[Draft], object]:
    def changed(draft: Draft) -> None:
        draft.put(f"{name}.npy", change(draft.array(f"{name}.npy").copy()))

    return changed


def put(at: tuple[int, ...], value: Any) -> Callable[[Any], Any]:
    def changed(given: Any) -> Any:
        given[at] = value
        return given

    return changed


VALUES = "states/0"  # of the first context


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("weights", lambda w: w[:-1], "weight"),
        ("weights", lambda w: w.astype(np.int64), "weight"),
        ("weights", put((0,), np.inf), "weight"),
        (VALUES, lambda v: v.astype(np.int64), "the values of the context word have another shape"),
        (VALUES, lambda v: v[:, 0].copy(), "the values of the context word have another shape"),
        (VALUES, lambda v: np.repeat(v, 2, axis=1), "the values of the context word have another shape"),
        (VALUES, put((0, 0), 3), "a value of the context word is outside its vocabulary"),
        (VALUES, put((0, 0), -1), "a value of the context word is outside its vocabulary"),
    ],
)
def test_log_linear_models(tmp_path: Path, name: str, change: Callable[[Any], Any], message: str) -> None:
    model = LinearChainCRF(contexts=["word"])
    assert loaded(tmp_path, model, lambda draft: None).predict(X) == model.predict(X)
    with pytest.raises(ModelFileError, match=message):
        loaded(tmp_path, model, array(name, change))


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("pruned", 1, "events below 1 are said to have been dropped"),
        ("pruned", -2, "events below -2 are said"),
        ("pruned", 2.0, "events below 2.0 are said"),
        ("pruned", 2, "ledger=True"),
        ("learned", [], r"\[\] is said to have been learned"),
        ("n_sentences", 3, "3 sentences with 5 labelled tokens"),
        ("n_sentences", 1, "2 sentences in the ledger, 1 counted"),
    ],
)
def test_headers_of_counted_models(tmp_path: Path, key: str, value: Any, message: str) -> None:
    with pytest.raises(ModelFileError, match=message):
        loaded(tmp_path, EmpiricalCRF(), lambda draft: draft.header.update({key: value}))


def test_a_pruned_model_without_a_ledger_loads(tmp_path: Path) -> None:
    model = EmpiricalCRF(ledger=False).fit(X * 2, Y * 2).prune(2)
    model.save(tmp_path / "m")
    assert load(tmp_path / "m").counts_ == model.counts_


def test_what_models_that_merge_may_differ_in() -> None:
    a, b = EmpiricalCRF(n_jobs=2).fit(X, Y), EmpiricalCRF(ledger=False).fit(X, Y)
    assert merge(a, b, ledger=False).ledger_ is None
    with pytest.raises(ValueError, match="models with different ledger do not merge, True and False"):
        merge(a, b)
    with pytest.raises(ValueError, match="models with different pair do not merge"):
        merge(a, EmpiricalCRF(pair="word").fit(X, Y), ledger=False)


@pytest.mark.parametrize(
    ("name", "reason"), [("a\0b", "null"), ("none", "No such file"), ("loop", "loop|many")]
)
def test_what_cannot_be_locked(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with (
        pytest.raises(ModelFileError, match=f"cannot be read: .*({reason})") as raised,
        locked(tmp_path / name),
    ):
        pass
    assert "Errno" not in str(raised.value)
