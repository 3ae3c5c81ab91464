"""What the commands share that change a model: reading, locking, writing, telling."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from corate.cli.common import Command, check_target, console, megabytes, plural
from corate.errors import InputError

if TYPE_CHECKING:
    from corate.models.counted import CountedModel
    from corate.text.corpus import Corpus


def output_option(command: Command) -> Command:
    return click.option(
        "-o", "--output", metavar="FILE", help="Write the changed model here, and leave MODEL as it is."
    )(command)


def force_option(text: str) -> Callable[[Command], Command]:
    def with_force(command: Command) -> Command:
        return click.option("--force", is_flag=True, help=text)(command)

    return with_force


def read_sentences(files: tuple[str, ...], format_: str | None, label: str | None, encoding: str) -> Corpus:
    """All labelled sentences of some files."""
    from corate.text.corpus import Corpus
    from corate.text.formats import read_chunks

    chunks = read_chunks(files, format_, label=label, encoding=encoding)
    corpus = Corpus.join([chunk.before_label(label) for chunk in chunks])
    if not corpus.n_sentences:
        raise InputError("no sentence in it", files[0])
    return corpus


def load_counted(path: str) -> CountedModel:
    from corate.models.counted import CountedModel
    from corate.models.registry import load

    model = load(path)
    if not isinstance(model, CountedModel):
        raise InputError(
            f"{type(model).__name__}: its training is a search, not counting; "
            "this is for models that are counted (tagger, ecrn, ep1, ep2, hmm)",
            path,
        )
    return model


@contextmanager
def changing(path: str, output: str | None, quiet: bool) -> Iterator[CountedModel]:
    """A model to change, which is then saved; others who would change the same file wait meanwhile."""
    from corate.storage.locks import locked

    if output is not None:
        check_target(Path(output))

    def waiting() -> None:
        if not quiet:
            tell(f"{path}: waiting for another process that changes it")

    with locked(path, waiting) if output is None or is_same(path, output) else nullcontext():
        started = time.perf_counter()
        model = load_counted(path)
        before = model.counts_
        try:
            yield model
        except InputError as error:
            if error.source is not None or path in str(error):
                raise
            raise InputError(str(error), path) from error
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
