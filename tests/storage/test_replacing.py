"""In which order a model file is written: data on disk first, then its name, then the folder's entry."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

import numpy as np
import pytest

from corate import EmpiricalCRF
from corate.storage.archive import VERSION
from corate.storage.modelfile import Contents, is_model, to_bytes


def test_a_file_is_on_disk_before_it_replaces_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.model"
    model = EmpiricalCRF().fit([["a"]], [["X"]])
    model.save(path)
    done: list[tuple[str, int]] = []
    sync, replace = os.fsync, Path.replace

    def noted_sync(descriptor: int) -> None:
        about = os.fstat(descriptor)
        done.append(("folder" if stat.S_ISDIR(about.st_mode) else "file", about.st_size))
        sync(descriptor)

    def noted_replace(temporary: Path, target: Path) -> Path:
        done.append(("rename", temporary.stat().st_size))
        return replace(temporary, target)

    monkeypatch.setattr(os, "fsync", noted_sync)
    monkeypatch.setattr(Path, "replace", noted_replace)
    model.save(path)
    size = path.stat().st_size
    assert [what for what, _ in done] == ["file", "rename", "folder"]
    assert done[0][1] == done[1][1] == size, "nothing is written after it was synced"


def test_only_what_killed_writers_have_left_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "a.model"
    model = EmpiricalCRF().fit([["a"]], [["X"]])
    stray, link, near, other = (
        tmp_path / name
        for name in (
            ".a.model.abcdefgh.tmp",
            ".a.model.link____.tmp",
            ".a.model.abcdefghi.tmp",
            ".b.model.abcdefgh.tmp",
        )
    )
    for file in (stray, near, other):
        file.write_bytes(b"left")
    link.symlink_to(near)
    model.save(path)
    assert not stray.exists()
    assert link.is_symlink(), "no writer makes a link"
    assert near.read_bytes() == other.read_bytes() == b"left"


def test_bytes_of_a_file_are_those_of_its_format() -> None:
    """Whoever changes how a file is written raises VERSION; then the digest is another one."""
    contents = Contents({"a": [1, None]}, {"y": ["X", "é"]}, {"n": np.arange(3), "w": np.ones((2, 1))})
    assert VERSION == 4
    digest = hashlib.sha256(to_bytes(contents)).hexdigest()
    assert digest == "8b1d63c3e80e04ab7c1b7de12f7e869d8978d8f1eb658b43e989c966767e26ea"


def test_a_new_file_is_for_those_whom_the_umask_allows(tmp_path: Path) -> None:
    """And one that takes another's place is for those who could read that one."""
    path = tmp_path / "a.model"
    model = EmpiricalCRF().fit([["a"]], [["X"]])
    before = os.umask(0o027)
    try:
        model.save(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o604)
        model.save(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o604
    finally:
        os.umask(before)


def test_what_looks_like_a_model(tmp_path: Path) -> None:
    """A sound one or not, of whatever version; no other archive, and no text that speaks of models."""
    EmpiricalCRF().fit([["a"]], [["X"]]).save(tmp_path / "model")
    whole = (tmp_path / "model").read_bytes()
    beginnings = {
        whole: True,
        whole[:200]: True,
        b"": False,
        b"x" + whole: False,
        whole.replace(b"manifest.json", b"manifest.yaml"): False,
        whole.replace(b"corate model", b"carote model"): False,
    }
    for content, looks_so in beginnings.items():
        (tmp_path / "file").write_bytes(content)
        assert is_model(tmp_path / "file") == looks_so, content[:80]
