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
    return found | {name: _version(name) for name in PACKAGES}


def _processor() -> str:
    """By its model's name where Linux tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or "unknown")


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
