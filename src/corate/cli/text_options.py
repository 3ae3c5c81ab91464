"""--format, --encoding and --label: how a command reads text."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from corate.cli.common import Command, with_options
from corate.errors import InputError
from corate.text.format_registry import FORMAT_CLASSES

if TYPE_CHECKING:
    from corate.text.corpus import Corpus
    from corate.text.formats import Reader

LABEL = (
    "Where the label is. conll: number of its column, from 1, or -1 for the last (the default). "
    "conllu: upos (the default), xpos, deprel or feats:NAME. jsonl: its key (default: labels)."
)


class TextOptions(NamedTuple):
    """How text is to be read: --format, --encoding and --label."""

    format: str | None
    encoding: str
    label: str | None
    plain: bool = True  # whether the text may have neither labels nor columns
    strict: bool = True  # whether bytes that are not of the encoding end it

    def on_tree(self) -> TextOptions:
        """With the heads of CoNLL-U, for models on trees; the label is DEPREL if none is named."""
        label = self.label or "deprel"
        return self._replace(label=label if label.endswith("+head") else f"{label}+head")

    def for_model(self, model: Any) -> TextOptions:
        """As the model needs it: plain text has no columns; a file of columns may have heads as its last."""
        if n_columns(model) > 1:
            self = self._replace(plain=False)
        wants_heads = hasattr(model, "n_columns_") and self.format in (None, "conllu")
        return self.on_tree() if wants_heads and not (self.label or "").lstrip("-").isdecimal() else self

    def read(self, file: str, labelled: bool = True) -> Reader:
        from corate.text.formats import read

        return read(
            file,
            self.format,
            label=self.label,
            labelled=labelled,
            encoding=self.encoding,
            plain=self.plain,
            strict=self.strict,
        )

    def chunks(self, files: Sequence[str], progress: Callable[[int], Any] | None = None) -> Iterator[Corpus]:
        """Labelled sentences of some files."""
        from corate.text.formats import read_chunks

        return read_chunks(
            files_of(files), self.format, label=self.label, encoding=self.encoding, progress=progress
        )

    def corpus(self, file: str) -> Corpus:
        from corate.text.formats import read_corpus

        return read_corpus(file, self.format, label=self.label, encoding=self.encoding)


def n_columns(model: Any) -> int:
    """How many columns a model of words looks at."""
    return max((atom.n_columns for context in model._contexts for atom in context.atoms), default=1)


def files_of(names: Sequence[str]) -> list[str]:
    """Files as they are named, those of a folder, those that fit a pattern such as 'corpus/*.conll.gz'; each
    in the order of names."""
    files: list[str] = []
    for name in names:
        path = Path(name)
        if name == "-" or path.is_file() or not (path.is_dir() or glob.has_magic(name)):
            files.append(name)
            continue
        found = path.iterdir() if path.is_dir() else map(Path, glob.glob(name, recursive=True))  # noqa: PTH207
        inside = sorted(str(each) for each in found if each.is_file() and not each.name.startswith("."))
        if not inside:
            raise InputError("no file there" if path.is_dir() else "no file fits this pattern", name)
        files += inside
    return files


def text_options(label_help: str = LABEL) -> Callable[[Command], Command]:
    """--format, --encoding and --label, as the parameter `text`; every command that reads text has them."""
    options = (
        click.option(
            "--format",
            "format_",
            type=click.Choice([*FORMAT_CLASSES]),
            help="Format of the text; by default found from its first lines and its name.",
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
