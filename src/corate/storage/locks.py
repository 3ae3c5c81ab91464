"""Locks on model files: of two processes that change the same model, the second waits for the first.

    with locked(path):          # load, change and save, and nothing that others save in between is lost
        model = load(path)
        model.partial_fit(X, y).save(path)

A lock is the operating system's (flock) and ends with the process that holds it, however it ends. It is on
the file itself, so that nothing is left lying about; since a save puts another file in its place, whoever
has waited looks again whether what it has locked is still the model.
"""

from __future__ import annotations

import contextlib
import errno
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from corate.errors import ModelFileError

try:
    import fcntl
except ImportError:  # pragma: no cover - a system without flock: writers are not kept apart there
    fcntl = None  # type: ignore[assignment]

_mine = threading.local()  # .paths: what this thread has locked, and the open files that hold the locks

# Some file systems cannot lock; one of them (NFS) not a file that is open for reading alone.
CANNOT = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS, errno.EBADF)


@contextlib.contextmanager
def locked(path: str | os.PathLike[str], waiting: Callable[[], object] | None = None) -> Iterator[None]:
    """Keep other writers from the model file `path` until the block is done; if it has to wait, call
    `waiting`."""
    try:
        target = Path(path).resolve()
        there = target.exists()
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links, a NUL
        reason = getattr(error, "strerror", None) or error
        raise ModelFileError(f"{path}: cannot be read: {reason}") from error
    if not there:
        raise ModelFileError(f"{path}: cannot be read: {os.strerror(errno.ENOENT)}")
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(held(target, waiting))
        except OSError as error:
            raise ModelFileError(f"{path}: cannot be locked: {error.strerror}") from error
        yield


@contextlib.contextmanager
def held(path: Path, waiting: Callable[[], object] | None = None) -> Iterator[None]:
    """The same, for a file that need not be there, and that this thread may have locked already."""
    paths: dict[Path, list[int]] = _mine.__dict__.setdefault("paths", {})
    descriptor = None if path in paths else _open_locked(path, waiting)
    if descriptor is None:
        yield
        return
    paths[path] = [descriptor]
    try:
        yield
    finally:
        for each in paths.pop(path):
            os.close(each)


def keep(path: Path, descriptor: int) -> None:
    """Hold on to the lock of the file that has just taken the place of one that this thread has locked."""
    paths: dict[Path, list[int]] = _mine.__dict__.setdefault("paths", {})
    if path in paths:
        paths[path].append(os.dup(descriptor))


def _open_locked(path: Path, waiting: Callable[[], object] | None) -> int | None:
    while True:
        try:
            descriptor = _open(path)
        except (FileNotFoundError, NotADirectoryError, PermissionError):  # whoever reads it will say so
            return None
        try:
            lock(descriptor, waiting)
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _open(path: Path, flags: int = 0) -> int:
    """For writing, which some locks want, where that is allowed."""
    try:
        return os.open(path, os.O_RDWR | flags)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError:
        return os.open(path, os.O_RDONLY | flags)


def lock(descriptor: int, waiting: Callable[[], object] | None = None) -> None:
    """Lock an open file, once nobody else has; where the file system cannot, do without."""
    if fcntl is None:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        if waiting is not None:
            waiting()
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError as error:
        if error.errno not in CANNOT:
            raise


def lock_at_once(descriptor: int) -> bool:
    """Lock an open file if nobody else has; where the file system cannot, do without."""

    def give_up() -> None:
        raise BlockingIOError

    try:
        lock(descriptor, give_up)
    except BlockingIOError:
        return False
    return True


def remove_unlocked(path: Path) -> None:
    """Remove a file that no writer has locked: one that was killed has left it."""
    with contextlib.suppress(OSError):
        descriptor = _open(path, os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            if fcntl is not None:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
        finally:
            os.close(descriptor)
