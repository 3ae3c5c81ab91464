"""corate train --engine disk: the same model as in memory, whatever happens on the way."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import corate
from corate.cli import run
from corate.counts.engines import disk, runs
from corate.errors import InputError
from corate.text.formats import read_chunks

pytest.importorskip("duckdb")
X, Y = corate.load_sample("train")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A folder of files."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    for k in range(8):
        sentences = zip(X[k::8], Y[k::8], strict=True)
        text = "".join("\n".join(map("\t".join, zip(*s, strict=True))) + "\n\n" for s in sentences)
        (folder / f"{k}.conll").write_text(text, encoding="utf-8")
    return folder


def test_folders_and_patterns_are_files_in_the_order_of_names(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = [tmp_path / f"{name}.model" for name in ("files", "folder", "pattern", "disk")]
    files = [str(corpus / f"{k}.conll") for k in range(8)]
    given = (
        files,
        [str(corpus)],
        [f"{corpus}/*.conll"],
        [f"{corpus}/*.conll", "--engine", "disk", "--memory", "300M"],
    )
    for arguments, model in zip(given, models, strict=True):
        assert run(["train", *arguments, "-m", str(model), "--weights", "fixed"]) == 0, (
            capsys.readouterr().err
        )
    assert len({model.read_bytes() for model in models}) == 1
    assert run(["train", f"{corpus}/*.txt", "-m", str(models[0])]) == 2
    assert "no file fits this pattern" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["corpus", *(m.name for m in models)])


def test_min_count_is_prune(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cut, pruned = tmp_path / "cut.model", tmp_path / "pruned.model"
    assert run(["train", str(corpus), "-m", str(pruned), "--weights", "fixed"]) == 0
    assert run(["prune", str(pruned), "--below", "3", "-q"]) == 0
    assert run(["train", str(corpus), "-m", str(cut), "--weights", "fixed", "--min-count", "3"]) == 0
    assert cut.read_bytes() == pruned.read_bytes()
    assert run(["forget", str(cut), str(corpus / "0.conll")]) == 2
    assert "pruned" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--memory", "1G"], "--memory is for --engine disk"),
        (["--resume"], "--resume is for --engine disk"),
        (["--engine", "disk", "--model", "crf"], "models that are counted"),
        (["--engine", "disk", "--memory", "much"], "is no size"),
        (["--engine", "disk", "--memory", "1M"], "give 268,435,456 or more"),
        (["--engine", "disk", "--temp", "nowhere"], "nowhere: no such folder"),
        (["--model", "hmm", "--min-count", "2"], "--min-count is for"),
    ],
)
def test_what_makes_no_sense_is_one_line(
    arguments: list[str], message: str, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["train", str(corpus), "-m", str(tmp_path / "m.model"), *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["corpus"]


# Killed, interrupted, resumed ------------------------------------------------------------------------


def trained(corpus: Path, folder: Path, resume: bool = False, ledger: bool = True) -> corate.Tagger:
    """Training in small chunks."""
    chunks = read_chunks(sorted(corpus.iterdir()), chunk_tokens=1)
    with disk.Disk(folder, resume=resume) as engine:
        return corate.Tagger(weights="fixed", ledger=ledger).fit_chunks(chunks, engine=engine)


def break_after(n: int, monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Let the run after so many fail, as a full disk or Ctrl-C would."""
    made = iter(range(n))
    plain = runs.write_run

    def write(*arguments: object) -> None:
        if next(made, None) is None:
            raise error
        plain(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(runs, "write_run", write)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_nothing_is_left_behind(
    error: BaseException,
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    break_after(0, monkeypatch, error)
    assert run(["train", str(corpus), "-m", str(tmp_path / "m.model"), "--engine", "disk"]) in (2, 130)
    said = capsys.readouterr().err.lstrip()  # what click prints after ^C
    assert said.count("\n") == 1
    assert "interrupted" in said or "No space left on device" in said
    assert [path.name for path in tmp_path.iterdir()] == ["corpus"]


def test_a_training_goes_on_behind_the_last_whole_chunk(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "work"
    with monkeypatch.context() as patch:
        break_after(5, patch, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            trained(corpus, folder, resume=True)
    assert len([*folder.glob("*.run")]) == 5
    (folder / "cut.part").write_bytes(b"cut off")
    with pytest.raises(InputError, match="other parameters"):
        trained(corpus, folder, resume=True, ledger=False)
    text = (corpus / "3.conll").read_text(encoding="utf-8")
    (corpus / "3.conll").write_text(text.replace("the\t", "teh\t"), encoding="utf-8")
    with pytest.raises(InputError, match="chunk 4 of the corpus is not the one"):
        trained(corpus, folder, resume=True)
    (corpus / "3.conll").write_text(text, encoding="utf-8")
    less = shutil.copytree(corpus, tmp_path / "less", ignore=shutil.ignore_patterns("[1-7].conll"))
    with pytest.raises(InputError, match="5 chunks were counted, and the corpus has 1"):
        trained(less, folder, resume=True)
    with disk.Disk(folder, resume=True), pytest.raises(InputError, match="another training"):
        trained(corpus, folder)
    expected = corate.Tagger(weights="fixed").fit_chunks(read_chunks(sorted(corpus.iterdir())))
    made = trained(corpus, folder, resume=True)
    assert made.counts_ == expected.counts_
    assert made.ledger_ == expected.ledger_
    assert not folder.exists()


def test_runs_that_were_left_while_they_were_removed(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who is killed while removing them leaves any of them, and perhaps no word of their task."""
    expected = corate.Tagger(weights="fixed").fit_chunks(read_chunks(sorted(corpus.iterdir())))
    for name in ("task.json", "00000000.run", "00000002.run"):
        with monkeypatch.context() as patch:
            break_after(5, patch, KeyboardInterrupt())
            with pytest.raises(KeyboardInterrupt):
                trained(corpus, tmp_path / "work", resume=True)
        (tmp_path / "work" / name).unlink()
        assert trained(corpus, tmp_path / "work", resume=True).counts_ == expected.counts_


def killed_at_random(corpus: Path, tmp_path: Path, n: int) -> int:
    """Kill trainings at any moment, and go on; how many were really killed."""
    rng, model = random.Random(n), tmp_path / "killed.model"
    program = (
        "import sys; from corate.text.formats import reader; from corate.cli import run; "
        "plain = reader.read_chunks; import corate.text.formats as f; "
        "f.read_chunks = lambda *a, **k: plain(*a, chunk_tokens=60, **k); sys.exit(run(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", program, "train", str(corpus), "-m", str(model), "--weights", "fixed"]
    command += ["--engine", "disk", "--resume"]
    expected = tmp_path / "expected.model"
    assert run(["train", str(corpus), "-m", str(expected), "--weights", "fixed"]) == 0
    started = time.perf_counter()
    subprocess.run(command, check=True)
    whole, n_killed = time.perf_counter() - started, 0
    assert model.read_bytes() == expected.read_bytes()
    model.unlink()
    for _ in range(n):
        child = subprocess.Popen(command, stderr=subprocess.PIPE)
        try:
            child.wait(rng.uniform(0.3, 1.1) * whole)
        except subprocess.TimeoutExpired:
            os.kill(child.pid, signal.SIGKILL)
            n_killed += 1
        _, said = child.communicate()
        assert child.returncode in (0, -signal.SIGKILL), said
        if model.exists():
            assert model.read_bytes() == expected.read_bytes()
            model.unlink()
    subprocess.run(command, check=True)
    assert model.read_bytes() == expected.read_bytes()
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".counting")]
    return n_killed


def test_a_few_kills(corpus: Path, tmp_path: Path) -> None:
    killed_at_random(corpus, tmp_path, 2)


@pytest.mark.long
def test_a_hundred_kills(corpus: Path, tmp_path: Path) -> None:
    n_killed = 0
    for _ in range(20):
        n_killed += killed_at_random(corpus, tmp_path, 10)
        if n_killed >= 100:
            return
    pytest.fail(f"only {n_killed} trainings were killed")
