"""corate convert: labelled text from one format into another, spaCy's documents among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from corate.cli.common import plural, quiet_option
from corate.cli.text_options import LABEL, TextOptions, text_options
from corate.errors import InputError
from corate.text.format_registry import FORMAT_CLASSES

if TYPE_CHECKING:
    from corate.text.formats.base import Format, Sentence

SPACY = "spacy"
SUFFIX = ".spacy"


@click.command(short_help="Labelled text from one format into another.")
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option(
    "--to",
    type=click.Choice([*FORMAT_CLASSES, SPACY]),
    help="Format of OUT; by default the one that its name ends in.",
)
@click.option(
    "--language", default="xx", show_default=True, metavar="CODE", help="spaCy's language of a .spacy file."
)
@text_options(f"{LABEL} .spacy: ner, tag or pos (default: the first that there is).")
@quiet_option
def convert(source: str, target: str, to: str | None, language: str, text: TextOptions, quiet: bool) -> None:
    """Write the labelled sentences of IN to OUT: CoNLL columns, CoNLL-U, word/tag lines, JSON lines, or
    spaCy's binary documents (.spacy, for which spaCy must be installed: corate[spacy]).

    Span labels (B-PER, O) are entities in .spacy, other labels are tags. OUT is replaced when it is whole;
    - is standard input or output.

    \b
    Example:
      corate convert train.conll train.spacy
      corate convert dev.spacy dev.conllu --label pos
      corate convert train.conll - --to jsonl
    """
    to = to or _by_name(target)
    sentences = _counted(_read(source, text), count := [0])
    if to == SPACY:
        from corate.adapters.docbin import write_docbin

        if target == "-":
            raise InputError("documents of spaCy are not written to standard output: name a file")
        write_docbin(sentences, target, language)
    else:
        _write(sentences, target, to, text)
    if not quiet:
        click.echo(f"{plural(count[0], 'sentence')} written to {target}", err=True)


def _read(source: str, text: TextOptions) -> Iterator[Sentence]:
    if source.endswith(SUFFIX) and text.format is None:
        from corate.adapters.docbin import read_docbin

        return read_docbin(source, text.label)
    return iter(text.read(source))


def _write(sentences: Iterable[Sentence], target: str, to: str, text: TextOptions) -> None:
    from corate.storage.replacing import replacing
    from corate.text.formats import open_format

    writer = open_format(to)
    if target == "-":
        for sentence in sentences:
            click.echo(_as_text(sentence, writer).encode(text.encoding), nl=False)
        return
    with replacing(Path(target)) as file:
        for sentence in sentences:
            file.write(_as_text(sentence, writer).encode(text.encoding))


def _as_text(sentence: Sentence, writer: Format) -> str:
    made = writer.write(sentence)
    # Formats of lines end a sentence by a blank one, which a sentence of another format does not have.
    needs_blank = writer.name in ("conll", "conllu") and made and not made.endswith("\n\n")
    return made + "\n" if needs_blank else made


def _by_name(target: str) -> str:
    from corate.text.formats.by_name import FORMATS

    suffix = Path(target).suffix
    if suffix == SUFFIX:
        return SPACY
    found = next((name for name, made in FORMATS.items() if suffix and suffix in made.extensions), None)
    if found is None:
        raise InputError(
            f"{target}: its name tells no format: give --to {'|'.join([*FORMAT_CLASSES, SPACY])}"
        )
    return found


def _counted(sentences: Iterable[Sentence], count: list[int]) -> Iterator[Sentence]:
    for sentence in sentences:
        count[0] += len(sentence) > 0
        yield sentence
