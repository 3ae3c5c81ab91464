"""Model files survive what users do; test_writers.py and test_mutations.py try to destroy them."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from conftest import Cli
from corate import EmpiricalCRF, InputError, ModelFileError, load
from corate.counts.invariants import check
from corate.storage.locks import lock, locked
from drafts import Draft
from mutations import arrays
from shared import assert_no_permission, assert_one_line

OLD, MORE = "the\tD\ndog\tN\n\nit\tN\nrains\tV\n", "a\tD\ncat\tN\n"


@pytest.fixture
def model(tmp_path: Path, cli: Cli) -> Path:
    """A small model, and sentences that it has learned (old.conll) or has not (more.conll)."""
    (tmp_path / "old.conll").write_text(OLD)
    (tmp_path / "more.conll").write_text(MORE)
    path = tmp_path / "small.model"
    assert cli("train", tmp_path / "old.conll", "-m", path, "--model", "ecrn", "-q").code == 0
    return path


# Whatever can be saved can be loaded ----------------------------------------------------------------


@pytest.mark.parametrize("pair", ["label", "word"])
def test_pruning_keeps_no_label_without_a_word(tmp_path: Path, pair: str) -> None:
    X = [["a", "b"], ["a", "c", "a"], ["d", "e"], ["d", "f"]]
    y = [["X", "Y"], ["X", "Z", "X"], ["X", "R"], ["X", "R"]]
    pruned = EmpiricalCRF(pair=pair).fit(X, y).prune(2)
    assert pruned.classes_ == ["X"]
    pruned.save(tmp_path / "m")
    assert load(tmp_path / "m").predict([["a", "b", "zz"]]) == [["X"] * 3]
    with pytest.raises(InputError, match="nothing would be left"):
        EmpiricalCRF().fit(X, y).prune(9)


def test_forgetting_parts_of_sentences_without_a_ledger(tmp_path: Path) -> None:
    """Its words were counted, the sentence was not: what would be left is no model."""
    crf = EmpiricalCRF(ledger=False).fit([["a", "b"], ["c", "d"]], [["X", "Y"], ["X", "Y"]])
    before = crf.counts_
    for X, y in (([["a"]], [["X"]]), ([["a"], ["b"]], [["X"], ["Y"]])):
        with pytest.raises(InputError, match="never counted"):
            crf.forget(X, y)
        assert crf.counts_ == before
    check(crf.forget([["a", "b"]], [["X", "Y"]]).counts_)


# What users do ---------------------------------------------------------------------------------------


def test_errors_leave_the_model_as_it_is(cli: Cli, tmp_path: Path, model: Path) -> None:
    old, new = tmp_path / "old.conll", tmp_path / "more.conll"
    (tmp_path / "columns.conll").write_text("the\tDT\tD\n")
    tagger, features = tmp_path / "tagger.model", tmp_path / "columns.model"
    assert cli("train", old, "-m", tagger, "--weights", "fixed", "-q").code == 0
    assert cli("train", tmp_path / "columns.conll", "-m", features, "--weights", "fixed", "-q").code == 0
    strange = tmp_path / "strange.model"
    draft = Draft.of(model.read_bytes())
    draft.manifest["version"] = 99
    strange.write_bytes(draft.data())
    other = tmp_path / "other.model"
    assert cli("train", old, "-m", other, "--model", "ecrn", "--context", "suffix3", "-q").code == 0
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    rows: list[tuple[list[object], str]] = [
        (["forget", model, new], "were never learned, the first of them 'a cat': nothing is forgotten"),
        (["forget", model, old], "nothing would be left of the model"),
        (["update", model, old], "has learned"),
        (["update", features, old, "--force"], "looks at col2, and the tokens have words alone"),
        (["forget", features, old, "--force"], "looks at col2, and the tokens have words alone"),
        (["merge", model, tagger, "-o", model, "--force"], "do not merge"),
        (["merge", model, other, "-o", model, "--force"], "different contexts do not merge"),
        (["merge", model, strange, "-o", model], "written in version 99"),
        (["update", strange, new], "written in version 99"),
        (["update", tmp_path / "nothing", new], "nothing: cannot be read: No such file"),
        (["update", model, new, "-o", "/dev/full"], "not a regular file"),
        (["update", model, new, "-o", new], "exists and is not a model"),
        (["update", "/dev/zero", new], "not a corate model file"),
        (["inspect", "/dev/zero"], "not a corate model file"),
    ]
    for arguments, message in rows:
        assert_one_line(cli(*arguments), message)
        assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_link_stays_a_link(cli: Cli, tmp_path: Path, model: Path) -> None:
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "link.model"
    link.symlink_to(Path("..") / model.name)
    before, more = model.read_bytes(), tmp_path / "more.conll"
    assert cli("update", link, more, "-q").code == 0
    assert model.read_bytes() != before
    assert cli("forget", link, more, "-q").code == 0
    assert model.read_bytes() == before
    assert cli("merge", link, "-o", link, "-q").code == 0
    assert cli("prune", link, "-q").code == 2  # nothing would be left
    assert cli("train", tmp_path / "old.conll", "-m", link, "--model", "ecrn", "-q").code == 0
    assert model.read_bytes() == before
    assert link.is_symlink()
    assert os.listdir(link.parent) == [link.name]  # noqa: PTH208


def test_a_folder_that_is_removed_meanwhile(tmp_path: Path, model: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    shutil.copy(model, folder / "m")
    with locked(folder / "m"):
        crf = load(folder / "m")
        shutil.rmtree(folder)
        with pytest.raises(ModelFileError, match="cannot be written: No such file"):
            crf.save(folder / "m")
    assert not folder.exists()


def test_a_folder_that_may_not_be_written_to(tmp_path: Path, model: Path) -> None:
    """As a user without permission; one good update first, since the interpreter may be closed to them."""
    tmp_path.chmod(0o755)
    folder = tmp_path / "closed"
    folder.mkdir()
    shutil.copy(model, folder / "m")
    shutil.copy(tmp_path / "more.conll", folder / "more.conll")
    before = (folder / "m").read_bytes()
    folder.chmod(0o555)
    script = (
        "import os, sys; from corate.cli import run; model, more = sys.argv[1:]; "
        "run(['update', model, more, '-q']); os.chdir('closed'); os.geteuid() or os.seteuid(65534); "
        "print(run(['update', 'm', 'more.conll', '-q']))"
    )
    assert_no_permission(script, model, tmp_path / "more.conll", folder=tmp_path)
    assert (folder / "m").read_bytes() == before
    folder.chmod(0o755)


def waits_for_a_lock(process: subprocess.Popen[str]) -> bool:
    waiting = (line for line in Path("/proc/locks").read_text().splitlines() if "->" in line)
    return any(str(process.pid) in line.split() for line in waiting)


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="no /proc/locks to see who waits")
@pytest.mark.parametrize("command", ["update", "merge"])
def test_an_output_that_is_an_input_is_locked(tmp_path: Path, model: Path, command: str) -> None:
    """What others save while it waits is not lost."""
    more = tmp_path / "more.conll"
    other = tmp_path / "other.model"
    EmpiricalCRF(unknown="signature").fit([["a", "cat"]], [["D", "N"]]).save(other)
    arguments = [command, model, more if command == "update" else other, "-o", model, "-q"]
    with locked(model):
        process = subprocess.Popen([sys.executable, "-m", "corate", *map(str, arguments)], text=True)
        while not waits_for_a_lock(process):
            assert process.poll() is None
        load(model).partial_fit([["the", "end"]], [["D", "N"]]).save(model)
    assert process.wait() == 0
    found = load(model).known([["a", "cat"], ["the", "end"]], [["D", "N"], ["D", "N"]])
    assert found.tolist() == [True, True]


def test_a_file_that_cannot_be_locked_is_not_changed(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To go on without a lock could lose an update."""

    def fail(*arguments: object) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    crf, before = load(model), model.read_bytes()
    monkeypatch.setattr("corate.storage.locks.os.open", fail)
    with pytest.raises(ModelFileError, match="cannot be locked: Too many open files"), locked(model):
        pass
    with pytest.raises(ModelFileError, match="cannot be written: Too many open files"):
        crf.save(model)
    monkeypatch.undo()
    assert model.read_bytes() == before


def test_what_a_killed_writer_left_and_what_is_not_ours(model: Path) -> None:
    names = [
        f".{model.name}.{middle}.tmp" for middle in ("abcd_123", "efgh4567", "notes", "a.bcdefgh", "ABCDEFGH")
    ]
    for name in names:
        (model.parent / name).write_text("left")
    with (model.parent / names[1]).open("rb") as alive:
        lock(alive.fileno())
        load(model).save(model)
    assert [(model.parent / name).exists() for name in names] == [False, True, True, True, True]


def test_arrays_of_a_file_are_aligned(model: Path) -> None:
    """Kernels read them by pointers; a member may begin at any byte."""
    tables = load(model).counts_.tables.values()
    assert all(array.flags.aligned for table in tables for array in (table.ids, table.n))


def test_files_do_not_depend_on_how_numpy_writes_headers(model: Path) -> None:
    """The one header that is read is the one that NumPy writes."""
    draft = Draft.of(model.read_bytes())
    for name in arrays(draft):
        array = draft.array(name)
        before = draft.members[name]
        draft.put(name, np.asfortranarray(array))
        assert draft.members[name] == before


def test_a_lock_holds_beyond_a_save(model: Path) -> None:
    """A save puts another file in the place of the one that was locked: the lock goes over to it."""
    other = f"import corate; m = corate.load({str(model)!r}); m.save({str(model)!r}); print('saved')"
    with locked(model):
        load(model).save(model)
        child = subprocess.Popen([sys.executable, "-c", other], stdout=subprocess.PIPE)
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(2)
        load(model).save(model)
    assert child.communicate()[0] == b"saved\n"
