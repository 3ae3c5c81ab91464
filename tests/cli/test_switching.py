"""What users of other tools tripped over, each with a test."""

from __future__ import annotations

import io
import json
import logging
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import corate
from conftest import Cli
from corate.contexts.files import parse_contexts
from corate.text.formats import Sentence, open_format, read
from corate.text.formats import reader as reading
from corate.text.tokenise import tokenise
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


# Threads ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["conll", "crlf", "conllu", "jsonl", "text"])
def test_two_threads_write_the_same_bytes(
    cli: Cli, pos_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Also where parts are small, and where something is wrong in the midst of it."""
    monkeypatch.setattr(reading, "PART_LETTERS", 2000)
    monkeypatch.setattr("corate.text.formats.lines.BLOCK_BYTES", 1000)
    X, y = corate.load_sample("test")
    sentences = [Sentence([words], labels) for words, labels in zip(X[:150], y[:150], strict=True)]
    name = "conll" if kind == "crlf" else kind
    written = "".join(open_format(name, labelled=kind != "text").write(s) for s in sentences)
    text = tmp_path / "a.file"
    text.write_text(written.replace("\n", "\r\n") if kind == "crlf" else written, newline="")
    command = ("tag", "-m", pos_model, "--format", name, text)
    one, two = cli(*command), cli(*command, "--threads", "2")
    assert one.code == 0
    assert one == two
    assert len(one.out) > 15_000
    if kind in ("conll", "jsonl"):
        text.write_text(written + "a\tb\tc\td\n\n" + written)
        one, two = cli(*command), cli(*command, "--threads", "2")
        assert (one.code, one.err.count("\n")) == (2, 1)
        assert f"a.file:{written.count(chr(10)) + 1}: " in one.err
        assert one == two


def told(sentences: Iterator[Sentence]) -> list[str]:
    """What a reader says, up to the first thing that is wrong."""
    said = []
    try:
        for s in sentences:
            said.append(f"{s.line} {s.lines} {s.columns}")
    except corate.InputError as error:
        said.append(str(error))
    return said


ROW = st.sampled_from(["a X", "b Y", "", "", " ", "# c", "-DOCSTART- O", "# d e", "a X\r", "\r"])


@given(rows=st.lists(ROW), seed=st.integers())
def test_parts_of_a_file_are_read_as_the_whole(rows: list[str], seed: int) -> None:
    """Wherever it is cut behind a sentence's end."""
    lines, chance = ["first X", *rows], random.Random(seed)
    whole = open_format("conll", labelled=False)
    expected = told(whole.read(lines, "f"))
    cuts = [k for k in range(1, len(lines)) if k in (whole.end_of_last(lines[:n], 0) for n in (k, k + 1))]
    cuts = sorted(chance.sample(cuts, chance.randint(0, len(cuts))))
    parts = open_format("conll", labelled=False)
    found: list[str] = []
    for a, b in zip([0, *cuts], [*cuts, len(lines)], strict=True):
        found += told(parts.read(lines[a:b], "f", a + 1)) if a < b else []
    assert found[: len(expected)] == expected
    assert len(found) == len(expected) or expected[-1].startswith("f:")


def test_a_worker_that_dies_is_one_line() -> None:
    from corate.cli.workers import in_order

    def work(part: int) -> int:
        if part == 3:
            sys.exit(1)
        return part * part

    found = in_order(work, range(9), 2)
    assert [next(found) for _ in range(3)] == [0, 1, 4]
    with pytest.raises(corate.InputError, match="a process that labels text has ended"):
        list(found)


# What tag adds ---------------------------------------------------------------------------------------


def test_all_that_is_known_of_labels(cli: Cli, pos_model: Path, tmp_path: Path) -> None:
    """Marginals of all labels, with the n best, and the probability of each: as Python has them."""
    text, words = tmp_path / "a.jsonl", ["She", "saw", "that"]
    text.write_text(json.dumps({"tokens": words}) + "\n")
    model = corate.load(pos_model)
    marginals = model.predict_marginals([words])[0]
    command = ("tag", "-m", pos_model, text, "--nbest", "2", "--all-marginals")
    records = [json.loads(line) for line in cli(*command).out.splitlines()]
    for rank, (record, (labels, p)) in enumerate(
        zip(records, model.predict_nbest([words], 2)[0], strict=True), 1
    ):
        assert (record["rank"], record["predicted"]) == (rank, labels)
        assert record["probability"] == pytest.approx(p)
        assert record["probabilities"] == [
            round(m.get(y, 0.0), 4) for m, y in zip(marginals, labels, strict=True)
        ]
        assert [set(token) for token in record["marginals"]] == [set(model.classes_)] * 3
        assert record["marginals"][1]["VERB"] == pytest.approx(marginals[1]["VERB"], abs=1e-6)
        assert "comment" not in record
    out = cli("tag", "-m", pos_model, text, "--to", "conll", "--probability", "--all-marginals").out
    assert out.startswith(f"# probability = {records[0]['probability']:.6g}\nShe\tPRON\t")
    assert "\tVERB=0.9559|NOUN=0.0441|" in out.split("\n")[2]
    out = cli("tag", "-m", pos_model, text, "--to", "conllu", "--all-marginals").out
    assert "Probs=PRON:" in out.split("\n")[0]


def test_output_as_crfpp_writes_it(cli: Cli, pos_model: Path, tmp_path: Path) -> None:
    """crf_test, crf_test -v1, crf_test -v2 and crf_test -n 2."""
    text = tmp_path / "test.data"
    text.write_text("She PRP PRON\nsaw VBD VERB\n\n")
    model = corate.load(pos_model)
    labels, p = model.predict_nbest([["She", "saw"]], 1)[0][0]
    command = ("tag", "-m", pos_model, "--format", "crfpp", "--label", "3", text)
    assert cli(*command).out == f"She PRP PRON\t{labels[0]}\nsaw VBD VERB\t{labels[1]}\n\n"
    rows = cli(*command, "--marginals").out.split("\n")
    assert rows[0] == f"# {p:.6g}"
    assert rows[1].startswith(f"She PRP PRON\t{labels[0]}/")
    rows = cli(*command, "--all-marginals").out.split("\n")
    chosen, *every = rows[2].split("\t")[1:]
    assert chosen in every
    assert [cell.rpartition("/")[0] for cell in every] == model.classes_
    assert sum(float(cell.rpartition("/")[2]) for cell in every) == pytest.approx(1, abs=1e-4)
    rows = cli(*command, "--nbest", "2").out.split("\n")
    assert rows[0] == f"# 0 {p:.6g}"
    assert rows[4].startswith("# 1 ")
    plain = tmp_path / "plain.txt"
    plain.write_text("She saw\n")
    assert (
        cli("tag", "-m", pos_model, "--to", "crfpp", plain).out == f"She\t{labels[0]}\nsaw\t{labels[1]}\n\n"
    )


def test_files_of_crfsuite(cli: Cli, tmp_path: Path) -> None:
    """Read, learned from, tagged, written; against the same features from Python."""
    X, y = corate.load_sample()
    rows = [[[f"w={w}", f"s={w[-2:]}", *["cap"] * w[0].isupper()] for w in words] for words in X[:40]]
    text, model, old = tmp_path / "train.crfsuite", tmp_path / "m", tmp_path / "old.crfsuite"

    def escaped(feature: str) -> str:
        return feature.replace("\\", "\\\\").replace(":", "\\:")

    def written(labels: list[list[str]]) -> str:
        return "".join(
            "".join("\t".join([t, *map(escaped, f)]) + "\n" for t, f in zip(tags, tokens, strict=True)) + "\n"
            for tags, tokens in zip(labels, rows, strict=True)
        )

    text.write_text(written(y[:40]))
    for kind, made in (("crf", corate.LinearChainCRF()), ("tagger", corate.Tagger("fixed"))):
        options = ("--weights", "fixed") if kind == "tagger" else ()
        assert cli("train", "--model", kind, *options, text, "-m", model) == (0, "", "")
        expected = made.fit(rows, y[:40]).predict(rows)
        old.write_text(written([["?"] * len(tokens) for tokens in rows]))
        assert cli("tag", "-m", model, old) == (0, written(expected), "")
        assert cli("eval", "-m", model, text).code == 0
    first = cli("tag", "-m", model, old, "--marginals").out.split("\t")[0]
    label, _, probability = first.rpartition(":")
    assert label == expected[0][0]
    assert 0 < float(probability) <= 1
    words = tmp_path / "a.conll"
    words.write_text("a:b\tX\n\n")
    assert cli("train", "--model", "ep1", words, "-m", tmp_path / "w").code == 0
    assert (
        cli("tag", "-m", tmp_path / "w", "--label", "2", "--to", "crfsuite", words).out == "X\tword=a\\:b\n\n"
    )
    text.write_text("X\tlength:5\n")
    assert_one_line(cli("train", text, "-m", model), "train.crfsuite:1: 'length:5' has a weight other than 1")


def test_bad_lines_are_skipped_on_request(cli: Cli, pos_model: Path, tmp_path: Path) -> None:
    """Whatever is wrong with a line, the next one is labelled; the exit code and stderr tell."""
    bad = [
        b"{",
        b'{"tokens": 7}',
        b'{"tokens": ["\xff"]}',
        b"null",
        b'{"tokens": ["a\0"]}',
        b'{"tokens": ["\\ud800"]}',
    ]
    lines = [b'{"tokens": ["The"]}', *bad, b'{"tokens": ["dog"]}']
    text = tmp_path / "a.jsonl"
    text.write_bytes(b"\n".join(lines) + b"\n")
    for more in ((), ("--flush",)):
        code, out, err = cli("tag", "-m", pos_model, "--skip-bad", *more, text)
        assert (code, len(out.splitlines())) == (3, 2)
        assert err.count(": skipped\n") == len(bad)
        assert err.endswith(f"{len(bad)} bad lines skipped\n")
    assert cli("tag", "-m", pos_model, text).code == 2
    text.write_bytes(lines[0] + b"\n")
    assert cli("tag", "-m", pos_model, "--skip-bad", text).code == 0


@pytest.mark.parametrize(
    ("line", "tokens"),
    [
        ("I live in Brussels.", "I live in Brussels ."),
        ('She said: "Why not?!"', 'She said : " Why not ? ! "'),
        ("(Mr. Smith, e.g., paid 3.14 ...)", "( Mr. Smith , e.g. , paid 3.14 ... )"),
        ("J. R. don't co-occur", "J. R. don't co-occur"),
        ("« Ça va ? »", "« Ça va ? »"),
        ("etc. etc.", "etc . etc ."),
        ("... . ''", "... . ''"),
    ],
)
def test_tokens_by_the_rules(line: str, tokens: str) -> None:
    assert tokenise(line, {"Mr.", "..."}) == tokens.split(" ")


@given(st.text())
def test_tokenising_loses_nothing(text: str) -> None:
    parts = [part for part in text.replace("\t", " ").split(" ") if part]
    assert "".join(tokenise(text)) == "".join(parts)


def test_glued_punctuation_is_hinted_at(
    cli: Cli, pos_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = tmp_path / "a.txt"
    text.write_text("The dog barked.\n")
    code, out, err = cli("tag", "-m", pos_model, text)
    assert (code, err.count("\n")) == (0, 1)
    assert "1 of 3 tokens end in punctuation that training had apart, such as 'barked.'" in err
    code, out, err = cli("tag", "-m", pos_model, "--tokenise", text)
    assert (code, err) == (0, "")
    assert out.split("\n")[3] == ".\tPUNCT"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"The dog barked .\n")))
    assert cli("tag", "-m", pos_model).err == ""


# Python ----------------------------------------------------------------------------------------------


def test_cross_val_predict() -> None:
    """Sentences of different lengths, and of equal ones; against folds by hand."""
    from sklearn.model_selection import KFold, cross_val_predict

    X, y = corate.load_sample()
    for n, width in ((60, None), (30, 3)):
        A, b = [x[:width] for x in X[:n]], [labels[:width] for labels in y[:n]]
        found = cross_val_predict(corate.Tagger("fixed"), A, b, cv=3)
        for train, test in KFold(3).split(A):
            model = corate.Tagger("fixed").fit([A[i] for i in train], [b[i] for i in train])
            assert list(found[test]) == model.predict([A[i] for i in test])


def test_sum_merges() -> None:
    X, y = corate.load_sample()
    parts = [corate.HMM().fit(X[a : a + 20], y[a : a + 20]) for a in (0, 20, 40)]
    merged: Any = sum(parts)
    assert merged.counts_ == corate.HMM().fit(X[:60], y[:60]).counts_
    with pytest.raises(TypeError):
        1 + parts[0]


def test_labels_of_numpy_come_back_as_strings() -> None:
    model = corate.Tagger("fixed").fit([["a", "b"]], [np.array(["X", "Y"])])
    assert {type(label) for labels in model.predict([["a", "b"]]) for label in labels} == {str}
    assert {*map(type, model.classes_)} == {str}


def test_articles() -> None:
    a, b = (cls().fit([["a"]], [["X"]]) for cls in (corate.EmpiricalCRF, corate.HMM))
    with pytest.raises(corate.InputError, match="an EmpiricalCRF and an HMM do not merge"):
        a + b


def test_the_start_of_a_sentence_is_a_reason() -> None:
    """In a shared MEMM all scores of a sentence's labels add up to what is normalised."""
    X, y = corate.load_sample()
    for models in ("own", "shared"):
        model = corate.MEMM(models=models).fit(X[:30], y[:30])
        reasons = model.explain(X[0])[0].reasons
        start = [reason for reason in reasons if reason.text.startswith("the start of the sentence before")]
        assert start
        weights = {name: w for name, w in model.named_weights().items() if "^" in name[1:-1]}
        assert {reason.score for reason in start} <= {*weights.values()}


def test_help_of_the_hmm_stands_alone() -> None:
    assert "above" not in (corate.HMM.__doc__ or "")


# Fits that end early ---------------------------------------------------------------------------------


def test_ctrl_c_is_told_by_the_exit_code_and_the_file(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from corate.models.loglinear.optimise import Search

    step = Search.step

    def interrupted(self: Search, *args: Any) -> bool:
        if len(self.log) == 3:
            raise KeyboardInterrupt
        return step(self, *args)

    monkeypatch.setattr(Search, "step", interrupted)
    text, model = tmp_path / "a.conll", tmp_path / "m"
    write(text, *(part[:20] for part in corate.load_sample()))
    for kind in ("crf", "separate"):
        command = ("train", "--model", kind, text, "-m", model)
        code, _, err = cli(*command)
        assert code == 130
        assert "interrupted after 2 iterations; the best weights so far are kept" in err
        assert corate.load(model).ended_ == "interrupted"
        assert "(interrupted)" in cli("inspect", model).out
        assert cli(*command, "--keep-on-interrupt").code == 0
    monkeypatch.undo()
    assert cli("train", "--model", "crf", text, "-m", model).code == 0
    assert corate.load(model).ended_ == "converged"


def test_too_few_sentences_for_weights_are_said(cli: Cli, tmp_path: Path) -> None:
    text, model = tmp_path / "a.conll", tmp_path / "m"
    write(text, *(part[:5] for part in corate.load_sample()))
    code, _, err = cli("train", text, "-m", model)
    assert (code, err) == (0, "corate: weights are fixed: there were too few sentences to fit them\n")
    assert "weights: fixed: there were too few sentences" in cli("inspect", model).out
    assert cli("train", "--weights", "fixed", text, "-m", model).err == ""


def test_ctrl_c_during_imports_is_one_line() -> None:
    probe = (
        "import runpy, sys\n"
        "class Stop:\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'click': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Stop())\n"
        "runpy.run_module('corate', run_name='__main__')\n"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "corate: interrupted\n")


def test_a_template_of_labels_alone(cli: Cli, tmp_path: Path) -> None:
    text, template = tmp_path / "a.conll", tmp_path / "template"
    text.write_text("a\tX\n")
    for lines in ("B\n", "# Bigram\nB01\nU02:\n"):
        template.write_text(lines)
        result = cli("train", "--contexts", template, text, "-m", tmp_path / "m")
        assert_one_line(result, "template: a template of labels alone, such as B")


# Operators -------------------------------------------------------------------------------------------


def test_notes_stay_outside_of_equality(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one the file says who wrote it when; without, equal models have equal bytes. Updates keep it."""
    X, y = corate.load_sample()
    texts = [tmp_path / "a.conll", tmp_path / "b.conll", tmp_path / "ab.conll"]
    for text, (a, b) in zip(texts, ((0, 15), (15, 30), (0, 30)), strict=True):
        write(text, X[a:b], y[a:b])
    plain, noted, both = (tmp_path / name for name in ("plain", "noted", "both"))
    hmm = ("train", "--model", "hmm")
    assert cli(*hmm, texts[2], "-m", plain) == (0, "", "")
    assert "note:" not in cli("inspect", plain).out
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert cli(*hmm, texts[0], "-m", noted, "--note", "for the Monday run") == (0, "", "")
    assert cli("update", noted, texts[1]).code == 0
    about = {"note": "for the Monday run", "corate": corate.__version__, "written": "1970-01-02T00:00:00Z"}
    assert json.loads(cli("inspect", noted, "--json").out)["about"] == about
    assert f"note: for the Monday run (corate {corate.__version__}, 1970-01-02" in cli("inspect", noted).out
    model = corate.load(noted)
    assert model.counts_ == corate.load(plain).counts_
    model.about_ = None
    model.save(both)
    assert both.read_bytes() == plain.read_bytes()
    assert cli("update", noted, texts[0], "--force", "-q", "--note", "again").code == 0
    assert corate.load(noted).about_["note"] == "again"
    assert_one_line(cli(*hmm, texts[0], "-m", noted, "--note", "x" * 10_001), "at most 10,000 characters")


def test_inspect_of_a_network_for_programs(cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("networkx")
    table, model = tmp_path / "t.csv", tmp_path / "m"
    table.write_text("a,b\nx,1\nx,1\ny,2\n")
    assert cli("network", "train", table, "-m", model).code == 0
    facts = json.loads(cli("inspect", model, "--json").out)
    assert (facts["model"], facts["rows"], facts["edges"]) == ("RateNetwork", 3, [["a", "b"]])


def test_correct_relabels_in_one_step(cli: Cli, tmp_path: Path) -> None:
    """The result is the model of the right labels; whatever is wrong, the file stays."""
    X, y = corate.load_sample()
    old, new, rest = (tmp_path / name for name in ("old.conll", "new.conll", "rest.conll"))
    right = [["X" if t == "NOUN" else t for t in labels] for labels in y[:10]]
    write(old, X[:10], y[:10])
    write(new, X[:10], right)
    write(rest, X[10:30], y[10:30])
    model, expected = tmp_path / "m", tmp_path / "expected"
    for kind in ("hmm", "tagger"):
        fixed = ("--weights", "fixed") if kind == "tagger" else ()
        assert cli("train", "--model", kind, *fixed, old, rest, "-m", model).code == 0
        assert cli("train", "--model", kind, *fixed, new, rest, "-m", expected).code == 0
        before = model.read_bytes()
        for arguments, message in (
            ((new, old), "were never learned"),
            ((old, rest), "20 sentences where"),
            ((rest, new), "10 sentences where"),
        ):
            assert_one_line(cli("correct", model, *arguments), message)
            assert model.read_bytes() == before
        assert cli("correct", model, old, new) == (0, "", "")
        assert corate.load(model).counts_ == corate.load(expected).counts_
    assert cli("train", "--model", "hmm", old, "-m", model).code == 0
    assert cli("correct", model, old, new).code == 0  # all that it knows
    write(new, [[f"{w}!" for w in words] for words in X[:10]], y[:10])
    assert_one_line(cli("correct", model, old, new), "has other words than in")


def test_the_manual_page_has_every_command_and_option(cli: Cli) -> None:
    from corate.cli import cli as root

    code, out, err = cli("man")
    assert (code, err) == (0, "")
    for name, command in root.commands.items():
        assert f"corate {name}" in out
        for parameter in command.params:
            for option in parameter.opts if parameter.param_type_name == "option" else []:
                assert option.replace("-", "\\-") in out
    if shutil.which("groff"):
        made = subprocess.run(
            ["groff", "-man", "-Tutf8", "-ww"], input=out.encode(), capture_output=True, check=True
        )
        assert made.stderr == b""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_completion(cli: Cli, shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, err = cli("completion", shell)
    assert (code, err) == (0, "")
    assert "_CORATE_COMPLETE" in out
    environment = {"_CORATE_COMPLETE": f"{shell}_complete", "COMP_WORDS": "corate tr", "COMP_CWORD": "1"}
    if shell == "fish":
        environment["COMP_CWORD"] = "tr"
    done = subprocess.run(
        [sys.executable, "-m", "corate"], env={**os.environ, **environment}, capture_output=True, check=False
    )
    assert b"train" in done.stdout
    assert b"tag" not in done.stdout


def test_templates_of_wapiti() -> None:
    """As far as corate has the same contexts; the rest is told apart."""
    lines = ["u:%x[-1,0]", "*:%X[0,0]", "b", 'u:p=%m[0,0,"^.?.?.?"]', 'u:s=%m[1,1,".?.?$"]']
    found = parse_contexts(lines, "t")
    assert found == ("word-1", "lower", "pair:lower", "prefix3", "col2:suffix2+1")
    for bad in ('u:%t[0,0,"\\u"]', "u:%m[0,0]", 'u:%x[0,0,"^."]', 'u:%m[0,0,"a*"]'):
        with pytest.raises(corate.InputError, match=r"^t:1: .*%"):
            parse_contexts([bad], "t")
