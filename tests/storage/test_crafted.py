"""Model files that were made to do harm, and saves that must not: whatever happens, the old file stays."""

from __future__ import annotations

import json
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Cli
from corate import (
    HMM,
    MEMM,
    EmpiricalCRF,
    InputError,
    LinearChainCRF,
    MaxEntClassifier,
    ModelFileError,
    PiecewiseCRF,
    SeparateCRF,
    Tagger,
    load,
    load_sample,
)
from corate.storage import archive
from corate.text.sample import FOLDER
from drafts import Draft, overlapping
from shared import assert_one_line

X, Y = load_sample(label="entity")
MODELS: list[Any] = [
    Tagger("fixed", contexts=("word", "shape")),
    EmpiricalCRF("maxent", "word", ("suffix2", "initial"), c2=1.0),
    HMM(),
    LinearChainCRF(contexts=("word", "shape", "pair:shape"), tolerance=1e-2),
    MaxEntClassifier(tolerance=1e-2),
    MEMM(tolerance=1e-2),
    MEMM("shared", tolerance=1e-2),
    PiecewiseCRF(tolerance=1e-2),
    SeparateCRF(tolerance=1e-2),
]


# The archive -----------------------------------------------------------------------------------------


def test_members_that_overlap_are_refused(tmp_path: Path) -> None:
    """Thousands of them may share the same bytes: a megabyte on disk, gigabytes in memory."""
    path = tmp_path / "m.model"
    EmpiricalCRF().fit(X[:20], Y[:20]).save(path)
    path.write_bytes(overlapping(path.read_bytes()))
    with pytest.raises(ModelFileError, match="overlaps with another, or is cut off"):
        load(path)


def test_a_manifest_has_a_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.model"
    EmpiricalCRF().fit(X[:20], Y[:20]).save(path)
    monkeypatch.setattr(archive, "MOST_MANIFEST", 500)
    with pytest.raises(ModelFileError, match="the manifest has more than 500 bytes"):
        load(path)


# Contents --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("models")
    for k, model in enumerate(MODELS):
        model.fit(X[:60], Y[:60]).save(folder / str(k))
    return {repr(model): (folder / str(k)).read_bytes() for k, model in enumerate(MODELS)}


@pytest.mark.parametrize("name", [repr(model) for model in MODELS])
def test_arrays_of_another_shape_are_refused(files: dict[str, bytes], tmp_path: Path, name: str) -> None:
    """Each array of each model: as a column, as a row, one entry longer, one shorter."""
    path, whole = tmp_path / "m.model", Draft.of(files[name])
    for member in [member for member in whole.members if member.endswith(".npy")]:
        array = whole.array(member)
        flat = array.reshape(-1)
        for other in (flat[:, None], flat[None, :], np.append(array, array[-1:], axis=0), array[:-1]):
            if other.shape == array.shape or len(array) == 0:
                continue
            draft = Draft.of(files[name])
            draft.put(member, other)
            path.write_bytes(draft.data())
            with pytest.raises(ModelFileError) as caught:
                load(path)
            assert not isinstance(caught.value.__cause__, (KeyError, IndexError)), (member, other.shape)


@pytest.mark.parametrize("name", [repr(model) for model in MODELS])
def test_weights_that_are_no_weights(files: dict[str, bytes], tmp_path: Path, name: str) -> None:
    path, whole = tmp_path / "m.model", Draft.of(files[name])
    for member in [m for m in whole.members if m.endswith(".npy") and whole.array(m).dtype == np.float64]:
        for wrong in (1e308, -1e308, 1e7, np.nan, np.inf):
            draft, weights = Draft.of(files[name]), whole.array(member).copy()
            weights[len(weights) // 2] = wrong
            draft.put(member, weights)
            path.write_bytes(draft.data())
            with pytest.raises(ModelFileError, match="weight"):
                load(path)


@pytest.mark.parametrize("model", MODELS[3:], ids=repr)
def test_other_invariants_of_fitted_models(files: dict[str, bytes], tmp_path: Path, model: Any) -> None:
    path = tmp_path / "m.model"

    def texts(name: str, change: Callable[[list[str]], Any]) -> Callable[[Draft], object]:
        def changed(draft: Draft) -> None:
            values = json.loads(draft.members[name])
            draft.members[name] = json.dumps(change(values) or values).encode()

        return changed

    changes: list[tuple[Callable[[Draft], object], str]] = [
        (lambda draft: draft.header.update(objective="1.5"), "the objective is '1.5'"),
        (lambda draft: draft.header.update(objective=float("inf")), "the objective is inf"),
        (lambda draft: draft.header.update(more=1), "'more' belongs to no such model"),
        (lambda draft: draft.header["params"].pop("c2"), "'c2' is missing"),
        (lambda draft: draft.members.update({"more.json": b"[]"}), "'more' belongs to no such model"),
        (lambda draft: draft.members.pop("words.json"), "'words' is missing"),
        (texts("y.json", lambda labels: labels.reverse()), "vocabulary 'y' is not sorted"),
        (texts("y.json", lambda labels: sorted([*labels[1:], "_"])), "which says that there is none"),
        (texts("words.json", lambda words: words[:1] * len(words)), "vocabulary 'words' is not sorted"),
        (texts("words.json", lambda words: [words[0] + "\0", *words[1:]]), "NUL"),
    ]
    for change, message in changes:
        draft = Draft.of(files[repr(model)])
        change(draft)
        path.write_bytes(draft.data())
        with pytest.raises(ModelFileError) as caught:
            load(path)
        assert message in str(caught.value)


# Saving ----------------------------------------------------------------------------------------------


def test_nothing_that_does_not_load_replaces_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if a check of training has a hole: what was written is read back before it takes the place."""
    path = tmp_path / "keep.model"
    EmpiricalCRF().fit(X[:20], Y[:20]).save(path)
    before = path.read_bytes()
    monkeypatch.setattr("corate.text.tokens._refuse_nul", lambda corpus: None)
    model = Tagger("fixed", contexts=("suffix1", "suffix1-1")).fit([["ab\0", "dog"]], [["X", "N"]])
    with pytest.raises(InputError, match="not saved: what was learned makes no sound model"):
        model.save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["keep.model"]


@pytest.mark.parametrize("mode", [0o444, 0o400])
def test_a_read_only_model_is_kept(tmp_path: Path, cli: Cli, mode: int) -> None:
    path, text = tmp_path / "m.model", tmp_path / "more.conll"
    text.write_text("the\tX\n")
    model = EmpiricalCRF().fit([["a", "b"]], [["X", "Y"]])
    model.save(path)
    path.chmod(mode)
    before = path.read_bytes()
    for command in (
        ("train", text, "-m", path, "--model", "ep1"),
        ("update", path, text),
        ("merge", path, path, "-o", path, "--force"),
        ("prune", path),
    ):
        assert_one_line(cli(*command), "is read-only: make it writable first")
        assert path.read_bytes() == before
    with pytest.raises(ModelFileError, match="is read-only"):
        model.save(path)
    assert cli("train", text, "-m", path, "--model", "ep1", "--force").code == 0
    assert path.read_bytes() != before
    assert stat.S_IMODE(path.stat().st_mode) == mode
    model.save(path, force=True)
    assert path.read_bytes() == before


TERMINATED = """
import os, signal, sys
from corate.cli import main
from corate.models.loglinear.optimise import Search
step = Search.step

def stepped(self, *args):
    if len(self.log) == 3:
        os.kill(os.getpid(), signal.{signal})
    return step(self, *args)

Search.step = stepped
main()
"""


@pytest.mark.parametrize("before", [b"", b"old"])
@pytest.mark.parametrize("kind", ["crf", "memm", "separate", "ep2"])
def test_sigterm_leaves_the_old_file(tmp_path: Path, kind: str, before: bytes) -> None:
    """In the middle of a search: nothing that is half done is saved (Ctrl-C keeps the weights so far)."""
    path = tmp_path / "m.model"
    if before:
        EmpiricalCRF().fit([["a"]], [["X"]]).save(path)
        before = path.read_bytes()
    command = ["train", str(FOLDER / "train.conll"), "--model", kind, "-m", str(path)]
    done = subprocess.run(
        [sys.executable, "-c", TERMINATED.format(signal="SIGTERM"), *command],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (128 + signal.SIGTERM, "", "corate: terminated\n")
    assert [entry.name for entry in tmp_path.iterdir()] == (["m.model"] if before else [])
    assert not before or path.read_bytes() == before
