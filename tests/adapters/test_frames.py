"""Data frames in and out, and evaluations to look at."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sklearn.metrics import confusion_matrix

import corate
from conftest import Cli
from corate import HMM, LinearChainCRF
from corate.adapters.pandas import evaluate_frame, from_frame, label_frame
from corate.errors import InputError
from corate.evaluation.evaluate import evaluate
from corate.models.explanation import Explanations

FRAME = pd.DataFrame(
    {
        "document": ["a", "a", "a", "b", "b"],
        "sentence": [1, 1, 2, 2, 2],
        "word": ["the", "dog", "It", "the", "cat"],
        "tag": ["D", "N", "P", "D", "N"],
        "label": ["O", "B-X", None, "O", "B-X"],
    },
    index=[10, 11, 12, 13, 14],
)


def test_a_frame_as_sentences() -> None:
    X, y = from_frame(FRAME, sentence=["document", "sentence"])
    assert X == [["the", "dog"], ["It"], ["the", "cat"]]
    assert y == [["O", "B-X"], ["_"], ["O", "B-X"]]
    X, y = from_frame(FRAME, words=["word", "tag"], label=None)
    assert X == [[("the", "D"), ("dog", "N")], [("It", "P"), ("the", "D"), ("cat", "N")]]
    assert y is None
    assert from_frame(FRAME[:0]) == ([], [])


def test_a_frame_with_labels() -> None:
    keys = ["document", "sentence"]
    crf = LinearChainCRF(c2=0.01).fit(*from_frame(FRAME, words=["word", "tag"], sentence=keys))
    labelled = label_frame(crf, FRAME, words=["word", "tag"], sentence=keys)
    assert list(labelled.columns) == [*FRAME.columns, "predicted", "probability"]
    assert list(labelled.index) == list(FRAME.index)
    assert "predicted" not in FRAME
    found = evaluate_frame(labelled, sentence=keys)
    assert (found.tokens, found.f1) == (4, 1.0)


@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        (FRAME, {"words": "token"}, "no column 'token': the frame has 'document', 'sentence'"),
        (FRAME, {"words": "label"}, "column 'label', row 2: a value is missing"),
        (FRAME, {"words": "sentence"}, "column 'sentence', row 0 is 1: give strings"),
        (FRAME, {"sentence": "text"}, "no column 'text'"),
    ],
)
def test_frames_that_will_not_do(frame: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        from_frame(frame, **options)


GOLD = [["B-PER", "I-PER", "O"], ["B-LOC", "O"], ["O", "<b>&"]]
FOUND = [["B-PER", "O", "O"], ["B-LOC", "B-LOC"], ["O", "O"]]


def test_print_is_the_table_of_the_command_line(tmp_path: Path, cli: Cli, ner_model: Path) -> None:
    words, labels = corate.load_sample(label="entity")
    lines = (
        "".join(f"{w}\t{y}\n" for w, y in zip(x, some, strict=True)) + "\n"
        for x, some in zip(words[:40], labels[:40], strict=True)
    )
    (tmp_path / "test.conll").write_text("".join(lines))
    model = corate.load(ner_model)
    found = evaluate(labels[:40], model.predict(words[:40]), words[:40], model.known_words())
    printed = cli("eval", "-m", ner_model, tmp_path / "test.conll")
    assert printed.code == 0
    assert [line.split() for line in str(found).splitlines()] == [x.split() for x in printed.out.splitlines()]


def test_frames_of_an_evaluation() -> None:
    found = evaluate(GOLD[:2], FOUND[:2])
    frame = found.to_frame()
    assert frame.loc["LOC", "precision"] == 0.5
    assert frame["support"].tolist() == [1, 1]
    tags = evaluate(GOLD, FOUND, scheme=None)
    matrix = tags.confusion_frame()
    flat = ([y for some in part for y in some] for part in (GOLD, FOUND))
    assert matrix.to_numpy().tolist() == confusion_matrix(*flat, labels=list(matrix.index)).tolist()
    assert tags.to_frame().loc["O", "recall"] == pytest.approx(2 / 3)


def test_html_is_escaped() -> None:
    text = evaluate(GOLD, FOUND, scheme=None)._repr_html_()
    assert "<b>" not in text
    assert "&lt;b&gt;&amp;" in text
    assert "all words" in text


def test_corate_imports_none_of_them() -> None:
    """Only what is asked for is imported."""
    code = (
        "import sys, corate, corate.cli, corate.evaluation.evaluate, corate.adapters.crfsuite\n"
        "corate.LinearChainCRF, corate.Tagger\n"
        "print({'pandas', 'spacy', 'nltk', 'sklearn', 'matplotlib', 'seqeval'} & {*sys.modules})"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        == "set()\n"
    )


def test_html_of_models_escapes() -> None:
    hmm = HMM().fit([["<i>"]], [["<script>"]])
    assert "<script>" not in hmm._repr_html_()
    assert "has not been trained" in HMM()._repr_html_()
    told = hmm.explain(["<i>"])
    assert isinstance(told, Explanations)
    assert "&lt;i&gt;" in told._repr_html_()
    assert "<i>" not in told._repr_html_()
