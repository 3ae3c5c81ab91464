"""The compiled kernels: arrays in, arrays out. `HAS_KERNELS` is False in the pure-Python wheel."""

from __future__ import annotations

try:
    from corate._native import _kernels as kernels

    HAS_KERNELS = True
except ImportError:
    HAS_KERNELS = False

__all__ = ["HAS_KERNELS", "kernels"]
