"""--format, --encoding and --label: how a command reads text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from corate.cli.common import Command, with_options
from corate.text.format_registry import FORMAT_CLASSES

if TYPE_CHECKING:
    from corate.text.corpus import Corpus
    from corate.text.formats import Reader

LABEL = (
    "Where the label is. conll: number of its column, from 1, or -1 for the last (the default). "
    "conllu: upos (the default), xpos or feats:NAME. jsonl: its key (default: labels)."
)


class TextOptions(NamedTuple):
    """How text is to be read: --format, --encoding and --label."""

    format: str | None
    encoding: str
    label: str | None

    def read(self, file: str, labelled: bool = True) -> Reader:
        from corate.text.formats import read

        return read(file, self.format, label=self.label, labelled=labelled, encoding=self.encoding)

    def chunks(self, files: Sequence[str], progress: Callable[[int], Any] | None = None) -> Iterator[Corpus]:
        """Labelled sentences of some files."""
        from corate.text.formats import read_chunks

        return read_chunks(files, self.format, label=self.label, encoding=self.encoding, progress=progress)

    def corpus(self, file: str) -> Corpus:
        from corate.text.formats import read_corpus

        return read_corpus(file, self.format, label=self.label, encoding=self.encoding)


def text_options(label_help: str = LABEL) -> Callable[[Command], Command]:
    """--format, --encoding and --label, as the parameter `text`; every command that reads text has them."""
    options = (
        click.option(
            "--format",
            "format_",
            type=click.Choice([*FORMAT_CLASSES]),
            help="Format of the text; by default found from its name and first lines.",
        ),
        click.option(
            "--encoding", default="utf-8", show_default=True, metavar="NAME", help="Encoding of the text."
        ),
        click.option("--label", metavar="WHERE", help=label_help),
    )

    def with_text(command: Command) -> Command:
        @wraps(command)
        def run(*args: Any, format_: str | None, encoding: str, label: str | None, **others: Any) -> Any:
            return command(*args, text=TextOptions(format_, encoding, label), **others)

        made: Command = with_options(options, run)
        return made

    return with_text
