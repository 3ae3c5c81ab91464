"""What the commands share that change a model: reading, locking, writing, telling."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from corate.cli.common import (
    Command,
    check_labeller,
    check_target,
    console,
    megabytes,
    note_option,
    plural,
    quiet_option,
    with_options,
)
from corate.cli.text_options import TextOptions, text_options
from corate.errors import InputError

if TYPE_CHECKING:
    from corate.text.corpus import Corpus


Decorator = Callable[[Command], Command]


def output_option(command: Command) -> Command:
    return click.option(
        "-o", "--output", metavar="FILE", help="Write the changed model here, and leave MODEL as it is."
    )(command)


def force_option(text: str) -> Decorator[Any]:
    def with_force(command: Command) -> Command:
        return click.option("--force", is_flag=True, help=text)(command)

    return with_force


class Change(NamedTuple):
    """What a command is told that changes MODEL by the sentences of FILE...."""

    path: str
    files: tuple[str, ...]
    output: str | None
    text: TextOptions
    quiet: bool
    note: str | None = None

    def sentences(self) -> Corpus:
        """All labelled sentences of the files."""
        from corate.text.corpus import Corpus

        corpus = Corpus.join(list(self.text.chunks(self.files)))
        if not corpus.n_sentences:
            raise InputError("no sentence in it", self.files[0])
        return corpus

    @contextmanager
    def model(self) -> Iterator[Any]:
        with changing(self.path, self.output, self.quiet, check_labeller) as model:
            yield model
            if self.note is not None:
                model.note(self.note)


def change_options(
    *others: Callable[[Any], Any], last: Sequence[Callable[[Any], Any]] = ()
) -> Decorator[Any]:
    """MODEL, FILE... and the options of a command that changes a model, as the parameter `change`; others
    stand in --help behind -o, and `last` before -q."""

    def with_change(command: Command) -> Command:
        @wraps(command)
        def run(
            model_path: str,
            files: tuple[str, ...],
            output: str | None,
            text: TextOptions,
            quiet: bool,
            note: str | None,
            **own: Any,
        ) -> Any:
            return command(Change(model_path, files, output, text, quiet, note), **own)

        model = click.argument("model_path", metavar="MODEL")
        files = click.argument("files", nargs=-1, required=True, metavar="FILE...")
        options = (model, files, output_option, *others, text_options(), *last, note_option, quiet_option)
        made: Command = with_options(options, run)
        return made

    return with_change


def load_counted(path: str) -> Any:
    from corate.models.counted import Countable
    from corate.models.registry import KINDS, load

    model = load(path)
    if not isinstance(model, Countable):
        counted = [kind.name for kind in KINDS.values() if kind.counted]
        raise InputError(
            f"{type(model).__name__}: its training is a search, not counting; "
            f"this is for models that are counted ({', '.join(counted)})",
            path,
        )
    return model


@contextmanager
def changing(
    path: str, output: str | None, quiet: bool, check: Callable[[Any, str], Any] | None = None
) -> Iterator[Any]:
    """A model to change, which is then saved; others who would change the same file wait meanwhile."""
    from corate.storage.locks import locked
    from corate.web.corrections import Corrections, beside
    from corate.web.served import catch_up, save_with_note

    if output is not None or Path(path).is_file():
        check_target(Path(path if output is None else output))

    def waiting() -> None:
        if not quiet:
            tell(f"{path}: waiting for another process that changes it")

    with locked(path, waiting) if output is None or is_same(path, output) else nullcontext():
        started = time.perf_counter()
        model = load_counted(path) if check is None else check(load_counted(path), path)
        corrections = Corrections(beside(Path(path)))
        catch_up(model, Path(path), corrections)
        before, upto = model.counts_, corrections.last
        try:
            yield model
        except InputError as error:
            if error.source is not None or path in str(error):
                raise
            raise InputError(str(error), path) from error
        if corrections.path.exists() and (output is None or is_same(path, output)):
            save_with_note(model, Path(path), corrections, upto)
        else:
            model.save(path if output is None else output)
    if sys.stderr.isatty() and not quiet:
        after = model.counts_
        tell(
            f"{output or path}  {plural(after.n_sentences, 'sentence')} "
            f"({after.n_sentences - before.n_sentences:+,}), {plural(after.n_tokens, 'token')} "
            f"({after.n_tokens - before.n_tokens:+,}), {plural(len(after.labels), 'label')} "
            f"({len(after.labels) - len(before.labels):+,}), {time.perf_counter() - started:.2f} s, "
            f"{megabytes(output or path)}"
        )


def is_same(path: str, other: str) -> bool:
    """Whether two names are those of one file."""
    return Path(path).exists() and Path(other).exists() and Path(path).samefile(other)


def tell(message: str) -> None:
    console(stderr=True).print(message)
