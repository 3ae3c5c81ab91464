"""What users of other tools tripped over, each with a test."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

import corate
from conftest import Cli
from corate.text.formats import read
from shared import assert_one_line

ROWS = "The DT B-NP\ndog NN I-NP\nbarks VBZ B-VP\n\nIt PRP B-NP\nrains VBZ B-VP\n\n"


def write(path: Path, X: list[list[str]], y: list[list[str]]) -> None:
    sentences = (zip(words, labels, strict=True) for words, labels in zip(X, y, strict=True))
    path.write_text("".join("".join(f"{w}\t{t}\n" for w, t in s) + "\n" for s in sentences))


@pytest.fixture
def chunks(cli: Cli, tmp_path: Path) -> Path:
    """A model of words and parts of speech."""
    (tmp_path / "train.txt").write_text(ROWS * 3)
    assert cli("train", "--weights", "fixed", tmp_path / "train.txt", "-m", tmp_path / "m") == (0, "", "")
    return tmp_path / "m"


@pytest.fixture
def words(cli: Cli, tmp_path: Path) -> Path:
    (tmp_path / "train.txt").write_text(ROWS * 3)
    model = tmp_path / "words"
    assert cli("train", "--model", "ep1", tmp_path / "train.txt", "-m", model).code == 0
    return model


def test_columns_called_txt_are_columns_for_every_command(cli: Cli, words: Path, tmp_path: Path) -> None:
    """As CoNLL-2000's own files are called; with another name they get the same labels."""
    text, named = tmp_path / "test.txt", tmp_path / "test.conll"
    for path in (text, named):
        path.write_text(ROWS * 3)
    assert cli("tag", "-m", words, text) == cli("tag", "-m", words, named)
    assert cli("tag", "-m", words, text).out.startswith("The DT B-NP B-NP\n")
    assert cli("eval", "-m", words, text).code == 0


def test_doubts_about_the_format_are_said(cli: Cli, words: Path, tmp_path: Path) -> None:
    for name, content, said in (
        ("a.txt", "The dog\nbarks it\n\n", "read as columns, a token a row: --format text if"),
        ("b.txt", "The dog\nIt barks\nIt rains\n", "read as plain text, though every line has 2 words"),
        ("c.conll", '{"tokens": ["The"]}\n', "read as jsonl, although its name says conll"),
    ):
        (tmp_path / name).write_text(content)
        code, out, err = cli("tag", "-m", words, tmp_path / name)
        assert (code, err.count("\n")) == (0, 1)
        assert err.startswith(f"corate: {tmp_path / name}: {said}")
        named = "--format", {"a": "conll", "b": "text", "c": "jsonl"}[name[0]]
        assert cli("tag", "-m", words, tmp_path / name, *named) == (0, out, "")
    (tmp_path / "d.txt").write_text("The dog barks .\nIt rains\n")
    assert cli("tag", "-m", words, tmp_path / "d.txt").err == ""


def test_a_label_and_columns_rule_plain_text_out(cli: Cli, chunks: Path, tmp_path: Path) -> None:
    """Rows without a blank line among them might be sentences."""
    text = tmp_path / "a.txt"
    text.write_text("The DT B-NP\ndog NN I-NP\nbarks VBZ B-VP\n")
    labelled = "The DT B-NP B-NP\ndog NN I-NP I-NP\nbarks VBZ B-VP B-VP\n"
    assert cli("tag", "-m", chunks, "--label", "3", text) == (0, labelled, "")
    assert cli("tag", "-m", chunks, text) == (0, labelled, "")  # the model looks at columns
    text.write_text("The dog\n")
    assert_one_line(cli("tag", "-m", chunks, "--label", "9", text), "label column 9 is out of range")


def test_an_old_label_that_is_taken_for_a_column_is_said(cli: Cli, chunks: Path, tmp_path: Path) -> None:
    text = tmp_path / "a.conll"
    text.write_text("The\tB-NP\ndog\tI-NP\n")
    code, _, err = cli("tag", "-m", chunks, text)
    assert (code, err.count("\n")) == (0, 1)
    assert "column 2 has labels that the model gives (B-NP)" in err
    assert "--label 2 if it is an old label" in err
    assert_one_line(cli("tag", "-m", chunks, "--label", "2", text), "looks at col2")


def test_python_is_told_of_doubts_by_logging(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "a.txt").write_text("The dog\nIt barks\nIt rains\n")
    with caplog.at_level(logging.WARNING, "corate"):
        assert len(list(read(tmp_path / "a.txt", labelled=False))) == 3
    assert "read as plain text" in caplog.text


# Logging ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["tagger", "crf", "memm", "separate"])
def test_every_step_is_logged(cli: Cli, tmp_path: Path, kind: str) -> None:
    """On stderr with -v, in a file with --log, and nothing without them."""
    text, model, log = tmp_path / "a.conll", tmp_path / "m", tmp_path / "fit.log"
    X, y = corate.load_sample()
    write(text, X[:25], y[:25])
    command = ("train", "--model", kind, "--context", "word", "--context", "suffix2", text, "-m", model)
    assert cli(*command) == (0, "", "")
    code, out, err = cli(*command, "-v", "--log", log)
    assert (code, out) == (0, "")
    steps = [line for line in err.split("\n") if "objective" in line and "gradient norm" in line]
    assert len(steps) > 2
    logged = [line.split(" INFO ")[1] for line in log.read_text().split("\n") if "gradient norm" in line]
    assert logged == steps
    assert_one_line(cli(*command, "--log", tmp_path / "no" / "log"), "the log cannot be written")
    assert not logging.getLogger("corate").handlers


def test_steps_for_python(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "corate"):
        crf = corate.LinearChainCRF().fit([["a", "b"]], [["X", "Y"]])
    steps = [record.message for record in caplog.records if record.message.startswith("iteration")]
    assert len(steps) == len(crf.training_log_)
    assert f"{crf.objective_:,.4f}" in steps[-1]
