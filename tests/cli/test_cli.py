"""The commands as people use them."""

from __future__ import annotations

import ast
import gzip
import io
import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

import corate
from conftest import Cli
from corate.cli.train_options import FITTED
from corate.models.registry import KINDS
from corate.text.formats import FORMATS
from corate.text.sample import FOLDER
from corate.text.spans import valid_transition

TRAIN, TEST = FOLDER / "train.conll", FOLDER / "test.conll"


def two_columns(path: Path, label: str = "upos", part: str = "train") -> Path:
    X, y = corate.load_sample(part, label)
    sentences = (zip(words, labels, strict=True) for words, labels in zip(X, y, strict=True))
    path.write_text("".join("".join(f"{w}\t{t}\n" for w, t in s) + "\n" for s in sentences))
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_train_tag_eval(cli: Cli, tmp_path: Path, kind: str) -> None:
    """Two-column files need no option at all."""
    train, model = two_columns(tmp_path / "train.conll"), tmp_path / "pos.model"
    assert cli("train", "--model", kind, train, "-m", model) == (0, "", "")
    test = two_columns(tmp_path / "test.conll", part="test")
    code, out, err = cli("eval", "-m", model, test, "--json")
    assert (code, err) == (0, "")
    result = json.loads(out)
    crf = corate.load(model)
    assert result["accuracy"] == pytest.approx(crf.score(*corate.load_sample("test")))
    assert {"tokens", "sentences", "accuracy_known", "accuracy_unknown", "unknown_rate"} <= set(result)
    code, out, err = cli("tag", "-m", model, test)
    assert (code, err) == (0, "")
    rows = [line.split("\t") for line in out.split("\n") if line]
    assert [row[:2] for row in rows] == [r.split("\t") for r in test.read_text().split("\n") if r]
    assert [row[2] for row in rows] == [y for s in crf.predict(corate.load_sample("test")[0]) for y in s]


@pytest.mark.parametrize("kind", KINDS)
def test_inspect_and_explain_every_model(cli: Cli, tmp_path: Path, kind: str) -> None:
    """Each shows what it has, or says in one line that it has not."""
    train, model = two_columns(tmp_path / "train.conll"), tmp_path / "pos.model"
    assert cli("train", "--model", kind, train, "-m", model).code == 0
    code, out, err = cli("inspect", model, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["model"] == type(corate.load(model)).__name__
    code, out, err = cli("inspect", model)
    assert (code, err) == (0, "")
    assert "contexts: " in out
    code, out, err = cli("inspect", model, "--word", "dog")
    assert code == 0 if kind not in FITTED else (code, err.count("\n")) == (2, 1)
    code, out, err = cli("explain", "-m", model, "The dog barks .")
    assert "NOUN" in out if kind != "separate" else (code, err.count("\n")) == (2, 1)


def test_options_of_other_models_are_refused(cli: Cli, tmp_path: Path) -> None:
    train, model = two_columns(tmp_path / "train.conll"), tmp_path / "pos.model"
    for kind, option, message in (
        ("crf", ("--pair", "word"), "--pair is for --model ep1, ep2, ecrn and separate, not for crf"),
        ("tagger", ("--c2", "0"), "--c2 is for --model ep2, crf, maxent, memm, piecewise and separate"),
        ("memm", ("--algorithm", "iis-s"), "--algorithm is for --model crf, not for memm"),
        ("crf", ("--shared",), "--shared is for --model memm, not for crf"),
        ("ep1", ("--smoothing", "none"), "--smoothing is for --model hmm, not for ep1"),
        ("maxent", ("--no-ledger",), "--no-ledger is for --model tagger, ep1, ep2, ecrn and hmm"),
        ("crf", ("--c2", "-1"), "c2=-1.0: give a number from 0"),
        ("hmm", ("--words-only",), "--words-only is for --model tagger, crf"),
    ):
        code, _, err = cli("train", "--model", kind, *option, train, "-m", model)
        assert (code, err.count("\n")) == (2, 1)
        assert message in err
        assert not model.exists()


def test_a_fit_that_ends_early_says_so(cli: Cli, tmp_path: Path) -> None:
    train, model = two_columns(tmp_path / "train.conll"), tmp_path / "pos.model"
    code, out, err = cli("train", "--model", "crf", "--max-iterations", "3", train, "-m", model)
    assert (code, out) == (0, "")
    assert err.startswith("corate: LinearChainCRF: no convergence after 3 iterations")
    assert err.count("\n") == 1
    assert corate.load(model).max_iterations == 3
    assert "no convergence, the limit of iterations ended the search" in cli("inspect", model).out
    assert json.loads(cli("inspect", model, "--json").out)["search"] == "limit"


def test_fitted_models_do_not_change(cli: Cli, tmp_path: Path) -> None:
    train, model = two_columns(tmp_path / "train.conll"), tmp_path / "pos.model"
    assert cli("train", "--model", "maxent", train, "-m", model).code == 0
    code, _, err = cli("update", model, train)
    assert (code, err.count("\n")) == (2, 1)
    assert "MaxEntClassifier" in err


def test_tag_plain_text_from_a_pipe(cli: Cli, pos_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BytesIO("The dog barks .\n\nWir sind Köln\n".encode()))
    )
    code, out, _ = cli("tag", "-m", pos_model)
    assert code == 0
    assert out.startswith("The\tDET\ndog\tNOUN\nbarks\t")
    assert out.count("\n\n") == 2
    assert "Köln\t" in out


def test_marginals_and_nbest(cli: Cli, pos_model: Path, tmp_path: Path) -> None:
    text = tmp_path / "a.txt"
    text.write_text("She saw that saw\n")
    _, out, _ = cli("tag", "-m", pos_model, "--marginals", text)
    assert all(0 < float(line.split("\t")[2]) <= 1 for line in out.split("\n") if line)
    _, out, _ = cli("tag", "-m", pos_model, "--nbest", "3", "--to", "jsonl", text)
    records = [json.loads(line) for line in out.split("\n") if line]
    assert len(records) == 3
    assert [r["predicted"] for r in records] == [
        y for y, _ in corate.load(pos_model).predict_nbest([["She", "saw", "that", "saw"]], 3)[0]
    ]
    _, out, _ = cli("tag", "-m", pos_model, "--nbest", "2", text)
    assert out.count("# nbest = ") == 2


def test_entities_are_evaluated_as_spans(cli: Cli, ner_model: Path) -> None:
    code, out, _ = cli("eval", "-m", ner_model, TEST, "--json")
    result = json.loads(out)
    assert code == 0
    assert {"precision", "recall", "f1", "by_type"} <= set(result)
    assert set(result["by_type"]) == {"PER", "LOC", "ORG", "MISC"}
    _, classic, _ = cli("eval", "-m", ner_model, TEST, "--conlleval")
    assert classic.startswith(f"processed {result['tokens']} tokens with ")
    assert f"FB1: {100 * result['f1']:6.2f}" in classic
    code, out, _ = cli("eval", "-m", ner_model, TEST)
    assert code == 0
    assert "unknown words" in out
    assert "LOC" in out


def test_a_second_model_is_compared(cli: Cli, ner_model: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.model"
    assert cli("train", "--model", "ep1", TRAIN, "-m", other, "--label", "-1").code == 0
    code, out, _ = cli("eval", "-m", ner_model, "--against", other, TEST, "--json")
    assert code == 0
    found = json.loads(out)
    assert found["against"]["accuracy"]["a"] == found["accuracy"]
    assert found["against"]["f1"]["a"] == found["f1"]
    assert (
        found["against"]["accuracy"]["b"]
        == json.loads(cli("eval", "-m", other, TEST, "--json").out)["accuracy"]
    )
    _, out, _ = cli("eval", "-m", ner_model, "--against", other, TEST)
    assert "McNemar's exact p" in out
    _, out, _ = cli("eval", "-m", ner_model, "--against", ner_model, TEST, "--json")
    assert json.loads(out)["against"]["accuracy"]["p"] == 1.0
    missing = cli("eval", "-m", ner_model, "--against", tmp_path / "none.model", TEST)
    assert (missing.code, len(missing.err.splitlines())) == (2, 1)
    assert cli("eval", "-m", ner_model, "--against", other, TEST, "--conlleval").code == 2


def test_valid_spans_on_request(cli: Cli, ner_model: Path) -> None:
    _, out, _ = cli("tag", "-m", ner_model, "--valid", "IOB2", TEST)
    labels: list[str | None] = [line.split("\t")[-1] or None for line in out.split("\n")]
    assert all(valid_transition(a, b, "IOB2") for a, b in pairwise(labels))


def test_conllu_survives_tagging(cli: Cli, pos_model: Path, tmp_path: Path) -> None:
    source = "# sent_id = 1\n1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n"
    source += "".join(f"{i}\t{w}\t_\tX\t_\t_\t_\t_\t_\t_\n" for i, w in enumerate(["do", "n't", "worry"], 1))
    source += "3.1\tthen\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    path = tmp_path / "a.conllu"
    path.write_text(source)
    code, out, _ = cli("tag", "-m", pos_model, path)
    before, after = source.split("\n"), out.split("\n")
    assert code == 0
    assert len(before) == len(after)
    assert [line for a, line in zip(before, after, strict=True) if a != line] == [
        line for line in after if line[:2] in ("1\t", "2\t", "3\t")
    ]


def test_other_labels_gzip_and_encoding(cli: Cli, tmp_path: Path) -> None:
    packed = tmp_path / "brown.gz"
    packed.write_bytes(gzip.compress("Der/at Käse/nn reift/vb ./.\n".encode("latin-1")))
    model = tmp_path / "m"
    assert cli("train", packed, "-m", model, "--encoding", "latin-1", "--format", "wordtag").code == 0
    assert corate.load(model).predict([["Käse"]]) == [["nn"]]
    chosen = ["--model", "ecrn", "--mu-oov", "auto", "--held-out", TEST]
    assert cli("train", "--label", "3", TRAIN, "-m", model, *chosen).code == 0
    assert "B-PER" in corate.load(model).classes_


def test_inspect(cli: Cli, pos_model: Path) -> None:
    _, out, _ = cli("inspect", pos_model)
    assert "380 sentences, 5,085 tokens" in out
    assert "NOUN" in out
    _, out, _ = cli("inspect", pos_model, "--json")
    facts = json.loads(out)
    assert sum(row["tokens"] for row in facts["labels"].values()) == facts["tokens"] == 5085
    for word, known in (("that", True), ("unheard-of", False)):
        _, out, _ = cli("inspect", pos_model, "--word", word, "--json")
        facts = json.loads(out)
        assert facts["known"] is known
        assert sum(entry["probability"] for entry in facts["entries"]) == pytest.approx(1.0)
    _, out, _ = cli("inspect", pos_model, "--word", "that")
    assert "SCONJ" in out


def test_explain(cli: Cli, pos_model: Path) -> None:
    code, out, err = cli("explain", "-m", pos_model, "The [/x] barked")
    assert (code, err) == (0, "")
    assert "'The' was DET" in out
    _, out, _ = cli("explain", "-m", pos_model, "--json", "The dog barked")
    tokens = [json.loads(line) for line in out.split("\n") if line]
    assert [token["word"] for token in tokens] == ["The", "dog", "barked"]
    assert all(token["reasons"] for token in tokens)


def test_demo_and_help(cli: Cli) -> None:
    code, out, err = cli("demo")
    assert (code, err) == (0, "")
    assert "Counted 5,085 tokens" in out
    assert "Lisbon (LOC)" in out
    for command in ([], ["train"], ["tag"], ["eval"], ["explain"], ["inspect"], ["demo"]):
        code, out, _ = cli(*command, "--help")
        assert code == 0
        assert "Example" in out


def test_label_in_the_first_column(cli: Cli, tmp_path: Path) -> None:
    """As CRFsuite's files have it."""
    text, model = tmp_path / "a.conll", tmp_path / "m"
    text.write_text("D\tthe\nN\tdog\n")
    assert cli("train", "--label", "1", text, "-m", model).code == 0
    assert cli("tag", "--label", "1", "-m", model, text).out == "D\tthe\tD\nN\tdog\tN\n"
    assert json.loads(cli("eval", "--label", "1", "-m", model, text, "--json").out)["accuracy"] == 1.0


def test_text_that_looks_like_markup(cli: Cli, tmp_path: Path) -> None:
    text, model = tmp_path / "a.conll", tmp_path / "m"
    text.write_text("[bold]\t[/x]\n[red]\t:dog:\n")
    assert cli("train", text, "-m", model).code == 0
    for arguments in (
        ("inspect", model),
        ("inspect", model, "--word", "[bold]"),
        ("eval", "-m", model, text),
    ):
        assert cli(*arguments).code == 0
    assert "[/x]" in cli("inspect", model).out
    assert "[/red]" in cli("demo", "[/red] dog .").out


def test_unsatisfiable_constraints_name_the_line(cli: Cli, tmp_path: Path) -> None:
    text, model = tmp_path / "a.conll", tmp_path / "m"
    text.write_text("a\tO\n\nb\tI-X\n")
    assert cli("train", text, "-m", model).code == 0
    assert cli("tag", "-m", model, "--valid", "IOB2", text).code == 0
    text.write_text("b\tI-X\nb\tI-X\n")
    assert cli("train", text, "-m", model).code == 0
    (tmp_path / "b.txt").write_text("\n\nb\n")
    result = cli("tag", "-m", model, "--valid", "IOB2", tmp_path / "b.txt")
    assert (result.code, result.out) == (2, "")
    assert result.err.endswith("b.txt:3: no label sequence satisfies the constraints\n")


def test_formats_are_called_what_the_registry_calls_them() -> None:
    assert {name: format_.name for name, format_ in FORMATS.items()} == {name: name for name in FORMATS}


def test_public_names_are_known_to_type_checkers() -> None:
    """Those of models come from the registry; a type checker sees but what is imported by name."""
    (block,) = (
        node for node in ast.parse(Path(corate.__file__).read_text()).body if isinstance(node, ast.If)
    )
    imported = {name.name for node in block.body if isinstance(node, ast.ImportFrom) for name in node.names}
    assert imported == {*corate.__all__}


def test_help_imports_nothing_heavy() -> None:
    probe = (
        "import sys; from corate.cli import run; run(['--help']); "
        "heavy = {'numpy', 'scipy', 'rich'} & set(sys.modules); sys.exit(str(heavy) if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", probe], check=True, stdout=subprocess.DEVNULL)


def test_flush_answers_line_by_line(pos_model: Path) -> None:
    """A conversation: the answer to a sentence comes before the next one is asked."""
    command = [sys.executable, "-m", "corate", "tag", "-m", str(pos_model), "--flush", "--format", "text"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for word in (b"dogs", b"The"):
            process.stdin.write(word + b"\n")
            process.stdin.flush()
            assert process.stdout.readline().startswith(word + b"\t")
            assert process.stdout.readline() == b"\n"
        process.stdin.close()
    assert process.returncode == 0


def test_a_closed_pipe_is_no_error(pos_model: Path) -> None:
    command = f"{sys.executable} -m corate tag -m {pos_model} {TRAIN} | head -n 1"
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    done = subprocess.run(command, shell=True, capture_output=True, check=True, env=environment)
    assert done.stderr == b""
