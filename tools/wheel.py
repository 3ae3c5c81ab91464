"""The documentation as HTML, and a wheel that has it: `python -m tools.wheel` (make docs, make wheel)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = ROOT / "build" / "docs" / "html"  # from where CMakeLists.txt takes them


def build_docs(target: Path = PAGES, builder: str = "html") -> None:
    """Warnings are errors, among them links that lead nowhere."""
    strictly = ["-W", "--keep-going", "-q", "-d", str(target.parent / "doctrees")]
    _run("sphinx", *strictly, "-b", builder, str(ROOT / "docs"), str(target))


def build_wheel(folder: Path) -> Path:
    """In a build folder and with tools that stay where they are: only what has changed is compiled."""
    build = ["--no-build-isolation", "--no-deps", "--config-settings=build-dir=build/wheel"]
    _run("pip", "wheel", "-q", "--disable-pip-version-check", *build, "--wheel-dir", str(folder), str(ROOT))
    return max(folder.glob("corate-*.whl"), key=lambda path: path.stat().st_mtime)


def _run(*command: str) -> None:
    subprocess.run([sys.executable, "-m", *command], cwd=ROOT, check=True)


if __name__ == "__main__":
    build_docs()
    print(build_wheel(ROOT / "dist").relative_to(ROOT))
