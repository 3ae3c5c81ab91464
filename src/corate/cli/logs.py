"""-v and --log: what corate says while it works, through Python's logging under the name `corate`.

Warnings (a format that is not certain) are always shown, a line each on stderr; with -v every step of a fit,
too; --log adds all of that to a file, with the time.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from corate.errors import InputError

LOG = logging.getLogger("corate")
TIMED = "%(asctime)s %(levelname)s %(message)s"


class _Stderr(logging.Handler):
    """Lines on whatever stderr is now; those of warnings say who speaks."""

    def emit(self, record: logging.LogRecord) -> None:
        who = "corate: " if record.levelno >= logging.WARNING else ""
        print(who + " ".join(record.getMessage().split("\n")), file=sys.stderr, flush=True)


@contextmanager
def listening() -> Iterator[None]:
    """For the time of one command, what is logged is shown."""
    before, level, onwards = LOG.handlers[:], LOG.level, LOG.propagate
    screen = _Stderr(logging.WARNING)
    LOG.addHandler(screen)
    LOG.propagate = False
    try:
        yield
    finally:
        for handler in LOG.handlers[:]:
            if handler not in before:
                LOG.removeHandler(handler)
                handler.close()
        LOG.setLevel(level)
        LOG.propagate = onwards


def is_verbose() -> bool:
    return any(isinstance(each, _Stderr) and each.level <= logging.INFO for each in LOG.handlers)


def _speak(context: click.Context, parameter: click.Parameter, verbose: bool) -> None:
    if verbose:
        LOG.setLevel(logging.INFO)
        for handler in LOG.handlers:
            if isinstance(handler, _Stderr):
                handler.setLevel(logging.INFO)


def _write(context: click.Context, parameter: click.Parameter, path: str | None) -> None:
    if path is None:
        return
    try:
        handler = logging.FileHandler(Path(path), encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise InputError(f"the log cannot be written: {error.strerror}", path) from error
    handler.setFormatter(logging.Formatter(TIMED))
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)


def add_log_options(command: click.Command) -> None:
    """-v and --log, which every command has."""
    each: list[dict[str, Any]] = [
        {"param_decls": ["-v", "--verbose"], "is_flag": True, "callback": _speak,
         "help": "Say every step on standard error."},
        {"param_decls": ["--log"], "metavar": "FILE", "callback": _write,
         "help": "Add every step to this file, with the time."},
    ]  # fmt: skip
    if isinstance(command, click.Group):
        for child in command.commands.values():
            add_log_options(child)
    else:
        command.params += [click.Option(expose_value=False, **option) for option in each]
