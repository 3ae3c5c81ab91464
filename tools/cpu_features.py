"""The features of this CPU that NumPy can be told to do without: NPY_DISABLE_CPU_FEATURES takes them."""

from __future__ import annotations

import importlib


def can_be_switched_off() -> list[str]:
    """What NumPy looks for when it runs, and this CPU has."""
    try:
        numpys = importlib.import_module("numpy._core._multiarray_umath")
    except ModuleNotFoundError:  # NumPy 1
        numpys = importlib.import_module("numpy.core._multiarray_umath")
    return [name for name in numpys.__cpu_dispatch__ if numpys.__cpu_features__[name]]


if __name__ == "__main__":
    print(*can_be_switched_off())
