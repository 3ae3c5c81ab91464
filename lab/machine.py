"""The machine and the versions behind the figures: nothing that names the machine or a place on it."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("corate", "numpy", "scipy", "python-crfsuite", "nltk")


def describe() -> dict[str, str]:
    found = {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()}, {platform.machine()}",
        "Python": platform.python_version(),
    }
    return found | {name: version_of(name) or "not installed" for name in PACKAGES}


def _processor() -> str:
    """By its model's name where Linux tells it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or "unknown")


def version_of(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
