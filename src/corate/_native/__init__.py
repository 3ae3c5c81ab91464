"""The compiled kernels, and the one place where it is decided whether they do the work.

Every kernel has a twin in NumPy that says what it does. `native()` is asked where both stand: the kernels
work if they are there, unless `using("numpy")` asks for the twins, as tests do to compare them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

try:
    from corate._native import _kernels as kernels

    HAS_KERNELS = True
except ImportError:  # the pure-Python wheel
    HAS_KERNELS = False

CHOICES = ("native", "numpy")
_chosen = ContextVar("kernel", default="native")

__all__ = ["HAS_KERNELS", "Mirrored", "kernels", "native", "using"]


def native() -> bool:
    """Whether the kernels do the work. Where they are missing, a warning says so once."""
    if _chosen.get() == "numpy":
        return False
    if not HAS_KERNELS:
        _warn_once()
    return HAS_KERNELS


@contextmanager
def using(kernel: str) -> Iterator[None]:
    """Within it the "native" kernels do the work, or their twins in "numpy"."""
    if kernel not in CHOICES:
        raise ValueError(f"kernel={kernel!r}: choose from {', '.join(map(repr, CHOICES))}")
    before = _chosen.set(kernel)
    try:
        yield
    finally:
        _chosen.reset(before)


class Mirrored:
    """What the kernels have an object of, in a cached property `native`: checked once, when it is made.

    Copies and pickles leave it behind and make their own."""

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if not name.startswith("native")}


@cache
def _warn_once() -> None:
    warnings.warn(
        "corate's compiled kernels are missing: NumPy takes over, 5 to 100 times slower. "
        "Install a C++20 compiler and reinstall corate to have them.",
        RuntimeWarning,
        stacklevel=4,
    )


def __getattr__(name: str) -> object:
    if name == "kernels":
        return None
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
