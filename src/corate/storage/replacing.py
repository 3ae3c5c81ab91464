"""A file that takes the place of another when it is whole."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from corate.errors import InputError


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Write to a file beside `path`, which is moved there at the end; nothing is left if an error ends it."""
    if path.is_dir():
        raise InputError("is a directory: give the name of a file", str(path))
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=path.parent)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", str(path)) from error
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123
            yield file
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~mask)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
