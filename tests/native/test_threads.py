"""The helper that starts the kernels' threads, by a program of its own."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
NATIVE = HERE.parents[1] / "src" / "corate" / "_native"
COMPILER = shutil.which("c++")


@pytest.mark.skipif(COMPILER is None, reason="no C++ compiler")
def test_threads(tmp_path: Path) -> None:
    assert COMPILER is not None
    program = str(tmp_path / "threads")
    source = str(HERE / "threads.cpp")
    subprocess.run([COMPILER, "-std=c++20", "-pthread", f"-I{NATIVE}", source, "-o", program], check=True)
    ran = subprocess.run([program], capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout) == (0, "")


def test_no_other_file_starts_threads() -> None:
    sources = [path for path in NATIVE.rglob("*") if path.suffix in {".h", ".cpp"}]
    assert [path.name for path in sources if "thread>" in path.read_text("utf-8")] == ["threads.h"]
