"""Garbage in: one clear line, exit code 2, and whatever is on disk stays as it is."""

from __future__ import annotations

import io
import json
import os
import resource
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Cli, Result
from corate import load
from corate.storage import modelfile
from corate.storage.archive import MANIFEST
from corate.text.sample import FOLDER
from drafts import Draft
from shared import assert_no_permission, assert_one_line

TRAIN = FOLDER / "train.conll"


# Training text ---------------------------------------------------------------------------------------

TEXTS: list[tuple[str, bytes, str]] = [
    ("a.conll", b"", "a.conll: empty file"),
    ("a.conll", b"\n\n \n", "a.conll: no sentence"),
    ("a.conll", b"# only\n# comments\n", "a.conll: no sentence"),
    ("a.conll", b"-DOCSTART- O\n\n", "a.conll: no sentence"),
    ("a.conll", b"dog\n", "a.conll:1: no label"),
    ("a.conll", b"the\tD\ndog\n", "a.conll:2: 1 column where the first row has 2"),
    ("a.conll", b"the D\nold dog N\n", "a.conll:2: 3 columns where the first row has 2"),
    ("a.conll", b"the\tD\ndog\t\n", "a.conll:2: empty label"),
    ("a.conll", b"the\tD\n\tN\n", "a.conll:2: empty word"),
    ("a.conll", b"the\tD\ndo\0g\tN\n", "a.conll:2: NUL"),
    ("a.conll", b"the\tD\n\nK\xe4se\tN\n", "a.conll:3: byte 0xe4 is not utf-8"),
    ("a.conll", "the\tD\n".encode("utf-16"), "a.conll:1: byte 0xff"),
    ("a.conll", b"the\tD\n\nthe\tD\rdog\tN\r\r", "a.conll:3: a carriage return inside a line"),
    ("a.conllu", b"1\tdog\t_\n\n", "a.conllu:1: "),
    ("a.conllu", b"1\tdog\t_\t_\t_\t_\t_\t_\t_\t_\n\n", "a.conllu:1: "),
    ("a.conllu", b"x\tdog\t_\tN\t_\t_\t_\t_\t_\t_\n\n", "a.conllu:1: "),
    ("a.conllu", b"2\tdog\t_\tN\t_\t_\t_\t_\t_\t_\n\n", "a.conllu:1: "),
    ("a.jsonl", b'{"tokens": ["a"], "labels": ["X"]}\n{"tokens": [', "a.jsonl:2: invalid JSON"),
    ("a.jsonl", b"[1, 2]\n", "a.jsonl:1: not a JSON object"),
    ("a.jsonl", b'{"tokens": ["a"], "labels": ["X"], "n": NaN}\n', "a.jsonl:1: invalid JSON: NaN"),
    ("a.jsonl", b'{"tokens": ["a"]}\n', 'a.jsonl:1: no key "labels"'),
    ("a.jsonl", b'{"tokens": ["a", "b"], "labels": ["X"]}\n', "a.jsonl:1: 2 tokens and 1 labels"),
    ("a.jsonl", b'{"tokens": ["a"], "labels": [1]}\n', "a.jsonl:1: label 1 is 1"),
    ("a.jsonl", b'{"tokens": [7], "labels": ["X"]}\n', "a.jsonl:1: token 1 is 7"),
    ("a.jsonl", b"[" * 100_000 + b"\n", "a.jsonl:1: invalid JSON"),
    ("brown", b"The/at dog barks/vb loudly/rb\n", "brown:1: "),
    ("brown", b"The/at /nn barks/vb loudly/rb\n", "brown:1: "),
    ("a.conll.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\3garbage", "a.conll.gz: corrupt gzip"),
    ("a.conll.gz", b"the\tD\n", "a.conll.gz: not a gzip file"),
    ("a.txt", b"just some prose here\nand a little more of it\n", "a.txt: format not recognised"),
]


@pytest.mark.parametrize(("name", "content", "message"), TEXTS)
def test_malformed_text(cli: Cli, tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    model = tmp_path / "model"
    assert_one_line(cli("train", tmp_path / name, "-m", model), message)
    assert not model.exists()


# Options and paths -----------------------------------------------------------------------------------

ECRN = ["train", str(TRAIN), "-m", "{tmp}/m", "--model", "ecrn"]
OPTIONS: list[tuple[list[str], str]] = [
    (["train"], "Missing argument 'FILE...'"),
    (["train", str(TRAIN)], "Missing option '-m'"),
    (["train", str(TRAIN), "-m", "{tmp}/m", "--model", "lstm"], "'lstm' is not one of"),
    (["train", str(TRAIN), "-m", "{tmp}/m", "--label", "9"], "train.conll:1: label column 9 is out of range"),
    (["train", str(TRAIN), "-m", "{tmp}/m", "--label", "upos"], "label column 'upos'"),
    (["train", str(TRAIN), "-m", "{tmp}/m", "--format", "conllu"], "train.conll:1: "),
    (["train", str(TRAIN), "-m", "{tmp}/m", "--format", "csv"], "'csv' is not one of"),
    (["train", str(TRAIN), "-m", "{tmp}/m", "--encoding", "klingon"], "unknown encoding 'klingon'"),
    (["train", str(TRAIN), "-m", "{tmp}/m", "--encoding", "utf-16"], "not utf-16"),
    (["train", str(TRAIN), "-m", "{tmp}/m", "--context", "sufix3"], "no view is called 'sufix3'"),
    (
        ["train", str(TRAIN), "-m", "{tmp}/m", "--model", "ecrn", "--mu-oov", "big"],
        "'big' is neither a number nor 'auto'",
    ),
    ([*ECRN, "--mu-oov", "-1"], "mu_oov=-1.0"),
    ([*ECRN, "--mu-oov", "nan"], "mu_oov=nan"),
    ([*ECRN, "--mu-oov", "auto"], "needs --held-out"),
    (
        ["train", str(TRAIN), "-m", "{tmp}/m", "--model", "ecrn", "--held-out", str(TRAIN)],
        "--held-out is used by",
    ),
    (["train", "{tmp}/nothing", "-m", "{tmp}/m"], "nothing: no such file"),
    (["train", "{tmp}", "-m", "{tmp}/m"], "letter.docx: a corate model, or another zip archive"),
    (["train", str(TRAIN), "-m", "{tmp}"], "is a directory"),
    (["train", str(TRAIN), "-m", "{tmp}/no/folder/m"], "does not exist"),
    (["train", str(TRAIN), "-m", "/dev/full"], "not a regular file"),
    (["train", str(TRAIN), "-m", "{tmp}/notes.txt"], "exists and is not a model"),
    (["train", str(TRAIN), "-m", "{tmp}/letter.docx"], "exists and is not a model"),
    (["tag", "-m", "{tmp}/nothing"], "nothing: cannot be read: No such file"),
    (["tag", "-m", "{model}", "{tmp}/nothing"], "nothing: no such file"),
    (["tag", "-m", "{model}", "--nbest", "0", str(TRAIN)], "0 is not in the range"),
    (["tag", "-m", "{model}", "--tokenise", "--format", "conll", str(TRAIN)], "--tokenise is for plain text"),
    (["tag", "-m", "{model}", "--skip-bad", "--format", "conll", str(TRAIN)], "--skip-bad is for JSON lines"),
    (["tag", "-m", "{model}", "--threads", "0", str(TRAIN)], "0 is not in the range"),
    (["tag", "-m", "{model}", "--threads", "99999999999", str(TRAIN)], "is not in the range"),
    (["tag", "-m", "{model}", "--valid", "IOB2", str(TRAIN)], "label 'ADJ' is not of the scheme IOB2"),
    (["tag", "-m", "{model}", "--to", "pdf", str(TRAIN)], "'pdf' is not one of"),
    (["eval", "-m", "{model}", "{tmp}/nothing"], "nothing: no such file"),
    (["eval", "-m", "{model}", str(TRAIN), "--label", "2", "--conlleval"], "plain tags"),
    (["eval", "-m", "{model}", str(TRAIN), "--json", "--conlleval"], "do not go together"),
    (["inspect", "{tmp}"], "cannot be read: Is a directory"),
    (["demo", ""], "an empty sentence"),
    (["explain", "-m", "{model}", " "], "an empty sentence"),
    (["parse", "x"], "No such command 'parse'"),
    (["--colour"], "No such option"),
]


@pytest.mark.parametrize(("arguments", "message"), OPTIONS)
def test_malformed_options(
    cli: Cli, tmp_path: Path, pos_model: Path, arguments: list[str], message: str
) -> None:
    (tmp_path / "notes.txt").write_text("my notes")
    with zipfile.ZipFile(tmp_path / "letter.docx", "w") as letter:
        letter.writestr("word/document.xml", "<w/>")
    before = pos_model.read_bytes()
    filled = [argument.format(tmp=tmp_path, model=pos_model) for argument in arguments]
    assert_one_line(cli(*filled), message)
    assert pos_model.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["letter.docx", "notes.txt"]
    assert (tmp_path / "notes.txt").read_text() == "my notes"


# Model files -----------------------------------------------------------------------------------------


def repack(data: bytes, change: Callable[[dict[str, bytes]], None]) -> bytes:
    """Change members of a model file and repair the checksums, to reach the checks behind them."""
    draft = Draft.of(data)
    members = {MANIFEST: json.dumps(draft.manifest).encode(), **draft.members}
    change(members)
    manifest = json.loads(members.pop(MANIFEST))
    return Draft(manifest, members).data(list_all=False)


def manifest(**changes: Any) -> Callable[[bytes], bytes]:
    def change(members: dict[str, bytes]) -> None:
        content = json.loads(members["manifest.json"])
        content["header"] |= changes.pop("header", {})
        members["manifest.json"] = json.dumps(content | changes).encode()

    return lambda data: repack(data, change)


def member(name: str, content: bytes | Any) -> Callable[[bytes], bytes]:
    def change(members: dict[str, bytes]) -> None:
        if callable(content):
            array = np.load(io.BytesIO(members[name]))
            members[name] = b"".join(modelfile._npy(content(array.copy())))
        else:
            members[name] = content

    return lambda data: repack(data, change)


def set_first(value: int) -> Callable[[np.ndarray], np.ndarray]:
    def change(array: np.ndarray) -> np.ndarray:
        array.flat[0] = value
        return array

    return change


def deflated(data: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", b" " * 50_000_000)
    return buffer.getvalue()


def pickled(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    return buffer.getvalue()


HEADER = b"{'descr': '<i8', 'fortran_order': False, 'shape': (99999999999999,), }"
HUGE = (b"\x93NUMPY\x01\x00v\x00" + HEADER).ljust(127) + b"\n"
N, IDS = "counts/word.y.n.npy", "counts/word.y.ids.npy"

MODELS: list[tuple[str, Callable[[bytes], bytes], str]] = [
    ("empty", lambda data: b"", "not a corate model file"),
    ("text", lambda data: b"hello", "not a corate model file"),
    ("random", lambda data: os.urandom(999), "not a corate model file"),
    ("half", lambda data: data[: len(data) // 2], "damaged"),
    ("one byte short", lambda data: data[:-1], "damaged"),
    ("one byte more", lambda data: data + b"x", "damaged"),
    ("bit flipped early", lambda data: data[:90] + bytes([data[90] ^ 1]) + data[91:], "damaged"),
    ("bit flipped late", lambda data: data[:-3000] + bytes([data[-3000] ^ 4]) + data[-2999:], "damaged"),
    ("zip bomb", deflated, "not plainly stored"),
    ("other version", manifest(version=99), "version 99"),
    ("other format", manifest(format="tar"), "not a corate model file"),
    ("unknown model", manifest(header={"model": "Oracle"}), "'Oracle'"),
    ("unknown parameter", manifest(header={"params": {"depth": 3}}), "not a sound model"),
    ("wrong parameter", manifest(header={"params": {"unknown": "magic"}}), "not a sound model"),
    ("no sentences", manifest(header={"n_sentences": 0}), "not a sound model"),
    ("too many sentences", manifest(header={"n_sentences": 10**9}), "not a sound model"),
    ("text for a number", manifest(header={"n_sentences": "many"}), "not a sound model"),
    ("learned nothing", manifest(header={"learned": {}}), "not a sound model"),
    ("learned nonsense", manifest(header={"learned": {"mu_oov": "NaN"}}), "not a sound model"),
    ("negative count", member(N, set_first(-5)), "not a sound model"),
    ("huge count", member(N, set_first(2**62)), "not a sound model"),
    ("wrong dtype", member(N, lambda a: a.astype(np.float64)), "not a sound model"),
    ("wrong shape", member(IDS, lambda a: a.reshape(-1)), "not a sound model"),
    ("word out of range", member(IDS, set_first(10**6)), "not a sound model"),
    ("negative id", member(IDS, set_first(-1)), "not a sound model"),
    ("rows out of order", member(IDS, lambda a: a[::-1]), "not a sound model"),
    ("rows missing", member(N, lambda a: a[:-1]), "not a sound model"),
    ("pickle", member(N, pickled(np.empty(0))), "damaged"),
    ("a shape beyond memory", member(N, HUGE), "damaged"),
    ("no npy", member(N, b"nothing"), "damaged"),
    ("no json", member("word.json", b"[1,"), "damaged"),
    ("numbers for words", member("word.json", b"[1]"), "damaged"),
    ("deep json", member("word.json", b"[" * 99_999), "damaged"),
    ("a stranger's member", member("extra.npy", b""), "missing or not listed"),
]


@pytest.mark.parametrize(("change", "message"), [row[1:] for row in MODELS], ids=[row[0] for row in MODELS])
def test_malformed_models(
    cli: Cli, tmp_path: Path, pos_model: Path, change: Callable[[bytes], bytes], message: str
) -> None:
    path = tmp_path / "bad.model"
    path.write_bytes(change(pos_model.read_bytes()))
    assert_one_line(cli("tag", "-m", path, TRAIN), message)
    assert_one_line(cli("inspect", path), message)


# The world around ------------------------------------------------------------------------------------


def test_a_disk_that_is_full_keeps_the_old_model(tmp_path: Path, pos_model: Path) -> None:
    """The process may write 4 kB a file: the save fails midway, as it does on a full disk."""
    model = tmp_path / "pos.model"
    model.write_bytes(pos_model.read_bytes())
    done = subprocess.run(
        [sys.executable, "-m", "corate", "train", str(TRAIN), "-m", str(model)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert_one_line(Result(done.returncode, done.stdout, done.stderr), "cannot be written: File too large")
    assert model.read_bytes() == pos_model.read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["pos.model"]


def test_output_that_cannot_be_written(pos_model: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "corate", "tag", "-m", str(pos_model), str(TRAIN)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert_one_line(Result(done.returncode, "", done.stderr), "No space left on device")


@pytest.mark.parametrize("closed", ["1", "2"])
def test_closed_streams(tmp_path: Path, pos_model: Path, closed: str) -> None:
    """Nobody may be listening; the work is done all the same."""
    model = tmp_path / "m"
    for arguments in (["train", str(TRAIN), "-m", str(model)], ["inspect", str(pos_model)]):
        command = " ".join([sys.executable, "-m", "corate", *arguments])
        done = subprocess.run(f"{command} {closed}>&-", shell=True, capture_output=True, check=True)
        assert done.stderr == b""
    assert load(model).classes_


def test_no_permission(tmp_path: Path, pos_model: Path) -> None:
    """As a user who may neither read the text nor write the folder."""
    tmp_path.chmod(0o755)
    text, folder = tmp_path / "a.conll", tmp_path / "closed"
    text.write_text("a\tX\n")
    text.chmod(0)
    folder.mkdir(mode=0o555)
    # The interpreter itself may be closed to that user: one good run first imports everything.
    script = (
        "import os, sys; from corate.cli import run; good, text, model = sys.argv[1:]; "
        "run(['train', good, '-m', good + '.model', '-q']); os.geteuid() or os.seteuid(65534); "
        "print(run(['train', text, '-m', model]))"
    )
    good = tmp_path / "good.conll"
    good.write_text("a\tX\n")
    # Folders above tmp_path may be closed to others, too; only what is said of the two paths matters.
    for text_path, model in ((text, "m.model"), (TRAIN, folder / "m")):
        assert_no_permission(script, good, text_path, model, folder=Path("/tmp"))


def test_forcing_the_text_format_on_training(cli: Cli, tmp_path: Path) -> None:
    assert_one_line(cli("train", TRAIN, "-m", tmp_path / "m", "--format", "text"), "plain text has no labels")
