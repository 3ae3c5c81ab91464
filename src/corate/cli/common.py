"""Options and small helpers that commands share."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from corate.errors import InputError
from corate.evaluation.report import plural as plural
from corate.evaluation.report import table as table
from corate.text.spans import SCHEMES

if TYPE_CHECKING:
    from rich.console import Console

    from corate.lattice.constraints import Constraints

Command = TypeVar("Command", bound=Callable[..., Any])

NAME_BYTES = 255  # what file systems allow


def with_options(options: Sequence[Callable[[Any], Any]], command: Any) -> Any:
    """A command with these options, in the order of --help."""
    for option in reversed(options):
        command = option(command)
    return command


def valid_option(command: Command) -> Command:
    return click.option(
        "--valid", type=click.Choice([*SCHEMES]), help="Only label sequences that are valid in this scheme."
    )(command)


def scheme_option(command: Command) -> Command:
    return click.option(
        "--scheme",
        type=click.Choice([*SCHEMES, "auto", "none"]),
        default="auto",
        show_default=True,
        help="How labels make spans; auto finds out, none scores tokens only.",
    )(command)


def valid_spans(scheme: str | None) -> Constraints | None:
    """What --valid asks of label sequences."""
    from corate.lattice.constraints import Constraints

    return None if scheme is None else Constraints(scheme=scheme)


def model_option(command: Command) -> Command:
    return optional_model_option(required=True)(command)


def optional_model_option(
    required: bool = False, text: str = "Model file, from corate train."
) -> Callable[[Command], Command]:
    def with_model(command: Command) -> Command:
        return click.option("-m", "--model", "model_path", required=required, metavar="MODEL", help=text)(
            command
        )

    return with_model


def load_labeller(path: str, lazily: bool = False) -> Any:
    """A model of sentences."""
    from corate.models.registry import load

    return check_labeller(load(path, lazily), path)


def check_labeller(model: Any, path: str) -> Any:
    if not hasattr(model, "predict_marginals"):
        raise InputError("a network of a table, which labels no sentences: see corate network --help", path)
    return model


def check_target(path: Path, force: bool = False) -> None:
    """Fail before the work rather than after it, and never replace a file that is not a model; one that is
    read-only with `force` alone."""
    from corate.storage.modelfile import READ_ONLY, is_model, is_read_only

    if str(path) == "-":
        raise InputError("a model is not written to standard output: give the name of a file", str(path))
    if path.is_dir():
        raise InputError("is a directory: give the name of a file to write the model to", str(path))
    if not path.parent.is_dir():
        raise InputError(f"the folder {str(path.parent)!r} does not exist: create it first", str(path))
    if not os.access(path.parent, os.W_OK):
        raise InputError(f"no permission to write into the folder {str(path.parent)!r}", str(path))
    if path.is_symlink() and not path.exists():
        raise InputError("a link that leads nowhere: give another name for the model", str(path))
    if len(os.fsencode(path.name)) > NAME_BYTES:
        raise InputError(f"the name is longer than {NAME_BYTES} bytes: give a shorter one", str(path))
    if path.exists():
        if not path.is_file():
            raise InputError("not a regular file: give another name for the model", str(path))
        if path.stat().st_size and not is_model(path):
            raise InputError("exists and is not a model: remove it, or give another name", str(path))
        if is_read_only(path) and not force:
            raise InputError(READ_ONLY, str(path))


def note_option(command: Command) -> Command:
    return click.option(
        "--note",
        metavar="TEXT",
        help="A note to keep in the model file, with corate's version and the date (corate inspect).",
    )(command)


def quiet_option(command: Command) -> Command:
    return click.option("-q", "--quiet", is_flag=True, help="No progress and no summary.")(command)


def threads_option(command: Command) -> Command:
    return click.option(
        "--threads",
        default=1,
        show_default=True,
        type=click.IntRange(1, 1024),
        help="Threads; results do not depend on it.",
    )(command)


def console(stderr: bool = False) -> Console:
    """Colours and width of a terminal where there is one; plain, unwrapped text where there is none."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else 200
    # Words and labels may look like markup: nothing that is printed is read as such.
    return Console(stderr=stderr, markup=False, highlight=False, emoji=False, soft_wrap=True, width=width)


def megabytes(path: str | Path) -> str:
    size = Path(path).stat().st_size
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.1f} kB"
