"""Measuring in child processes: what is kept, found again, stopped, and not begun."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from corate import InputError, load_sample
from corate.evaluation.evaluate import evaluate
from corate.evaluation.significance import compare
from experiments import measure, tagging_table
from experiments.models import MODELS
from lab import store
from lab.corpora import Part, Split, Splits

SPLIT, LARGER = "small", "larger"
MODELS_HERE = ["ep1", "ecrn"]


@pytest.fixture(scope="module")
def corpus() -> Splits:
    (X, y), (X_test, y_test) = load_sample(), load_sample("test")
    test = Part([list(words) for words in X_test[:60]], [list(labels) for labels in y_test[:60]])
    small = Part(X[:100], y[:100])
    return Splits(test, {SPLIT: Split(small, test), LARGER: Split(Part(X, y), test)})


def measured(corpus: Splits, folder: Path | None, cap: int = 60) -> measure.Measurements:
    made = measure.Measurements("sample", corpus, store.Store(folder), cap)
    made.add(SPLIT, MODELS_HERE)
    return made


def test_a_child_measures_what_the_model_does(corpus: Splits, tmp_path: Path) -> None:
    found = measured(corpus, tmp_path).splits[SPLIT]
    split = corpus.splits[SPLIT]
    predicted = {}
    for key in MODELS_HERE:
        predicted[key] = (
            MODELS[key].made().fit(split.train.words, split.train.labels).predict(split.test.words)
        )
        expected = evaluate(split.test.labels, predicted[key], split.test.words, split.train.vocabulary())
        record = found["models"][key]
        assert record["status"] == measure.DONE
        assert record["overall"] == 100 * expected.accuracy
        assert record["unknown"] == 100 * (expected.accuracy_unknown or 0)
        assert record["f1"] is record["spans"] is None
        assert measure.outcomes_of(record, found["lengths"]).accuracy == expected.accuracy
    (pair,) = found["comparisons"]
    alone = compare(split.test.labels, predicted["ep1"], predicted["ecrn"]).to_json()
    assert pair == {"a": "ep1", "b": "ecrn", **alone, "holm": alone["accuracy"]["p"]}
    assert json.loads(json.dumps(found)) == found


def test_what_was_measured_is_not_measured_again(
    corpus: Splits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = measured(corpus, tmp_path).splits
    with monkeypatch.context() as without:
        without.setattr(measure, "run_child", None)
        assert measured(corpus, tmp_path).splits == first
    (damaged, *_) = (tmp_path / "cache").iterdir()
    damaged.write_text("{")
    again = measured(corpus, tmp_path).splits[SPLIT]["models"]
    assert {key: of["overall"] for key, of in again.items()} == {
        key: of["overall"] for key, of in first[SPLIT]["models"].items()
    }
    asked = []

    def note(split: Path, key: str, cap: int) -> store.Record:
        asked.append(key)
        return dict(again[key])

    monkeypatch.setattr(measure, "sources_of", lambda package: "changed")
    monkeypatch.setattr(measure, "run_child", note)
    measured(corpus, tmp_path)
    assert asked == MODELS_HERE


def test_the_cap_stops_a_child(corpus: Splits, tmp_path: Path) -> None:
    """One second of CPU does not suffice to optimise a CRF on 50 times the sample."""
    train = corpus.splits[LARGER].train
    many = Split(Part(train.words * 50, train.labels * 50), corpus.splits[LARGER].test)
    path = tmp_path / "split.json"
    measure.write_split(path, many, corpus.held_out)
    assert measure.run_child(path, "crf-tuned", 1) == {"status": measure.STOPPED, "cap": 1}


def test_what_would_take_too_long_is_not_begun(corpus: Splits) -> None:
    made = measured(corpus, None)
    made.splits[SPLIT]["models"]["ep1"]["seconds"] = 50.0
    made.splits[SPLIT]["models"]["ecrn"] = {"status": measure.STOPPED, "cap": 60}
    made.add(LARGER, MODELS_HERE)
    small, large = (made.splits[name]["sizes"]["tokens"] for name in (SPLIT, LARGER))
    ep1, ecrn = (made.splits[LARGER]["models"][key] for key in MODELS_HERE)
    assert ep1 == {"status": measure.NOT_RUN, "seconds": 50 * large / small, "scaled_from": SPLIT}
    assert ecrn["seconds"] == 60 * large / small
    assert made.splits[LARGER]["comparisons"] == []
    assert tagging_table.ours_of(ep1, "seconds").startswith("not run: ≈ ")
    assert tagging_table.ours_of(ep1, "overall") == ""
    nothing = measure.Measurements("sample", corpus, store.Store(None), measure.KEPT_ONLY)
    nothing.add(SPLIT, MODELS_HERE)
    for record in nothing.splits[SPLIT]["models"].values():
        assert tagging_table.ours_of(record, "seconds") == "not run"


@pytest.mark.parametrize(
    "values",
    [np.array([True, False, True] * 7), np.array([], np.bool_), np.arange(12).reshape(4, 3)],
    ids=["bits", "nothing", "numbers"],
)
def test_packed_arrays_come_back(values: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> None:
    packed = json.loads(json.dumps(store.pack(values)))
    np.testing.assert_array_equal(store.unpack(packed), values)


def test_a_peer_that_is_missing_is_one_clear_sentence() -> None:
    with pytest.raises(InputError, match="no-such-peer is not installed: pip install"):
        store.sources_of("no-such-peer")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.04, "0.04 s"), (12.3, "12 s"), (119, "119 s"), (300, "5 min"), (7200, "2 h"), (4_571_807, "53 days")],
)
def test_durations_as_people_say_them(seconds: float, text: str) -> None:
    assert tagging_table.duration(seconds) == text
