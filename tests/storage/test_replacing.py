"""In which order a model file is written: data on disk first, then its name, then the folder's entry."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from corate import EmpiricalCRF


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
