"""corate tag: text in, the same text with labels out."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from corate.cli.common import (
    FORMAT_NAMES,
    SCHEME_NAMES,
    console,
    format_options,
    model_option,
    plural,
    threads_option,
)
from corate.errors import InputError

if TYPE_CHECKING:
    from corate.formats import Format, Sentence

# Tokens that are labelled together unless --flush asks for every sentence at once.
BATCH_TOKENS = 20_000


@click.command()
@click.argument("file", default="-", metavar="[FILE]")
@model_option
@click.option("--to", type=click.Choice(FORMAT_NAMES), help="Format of the output, if not that of the input.")
@click.option("--marginals", is_flag=True, help="Add the probability of each label.")
@click.option(
    "--nbest", type=click.IntRange(1), metavar="N", help="The N best label sequences of a sentence."
)
@click.option("--scheme", type=click.Choice(SCHEME_NAMES), help="Only valid label sequences of this scheme.")
@click.option("--flush", is_flag=True, help="Write each sentence as soon as it is read (for pipes).")
@format_options
@click.option(
    "--label", metavar="FIELD", help="CoNLL-U: the field to fill, upos (default), xpos or feats:NAME."
)
@threads_option
@click.option("-q", "--quiet", is_flag=True, help="No summary.")
def tag(
    file: str,
    model_path: str,
    to: str | None,
    marginals: bool,
    nbest: int | None,
    scheme: str | None,
    flush: bool,
    format_: str | None,
    encoding: str,
    label: str | None,
    threads: int,
    quiet: bool,
) -> None:
    """Label text: the input's columns and comments stay, and a column with the label is added.

    Plain text is written as two columns, word and label. In CoNLL-U the label fills its own field, in
    word/tag lines it replaces the tag, in JSON lines it is the key "predicted". Without FILE, standard
    input is read.

    \b
    Example:
      echo "The dog barks ." | corate tag -m pos.model
      corate tag -m ner.model --scheme IOB2 --marginals news.conll > news.tagged
    """
    from corate.estimator import load
    from corate.formats import open_format, read

    crf = load(model_path)
    crf.set_params(n_jobs=threads)
    reader = read(file, format_, label=None if to else label, labelled=False, encoding=encoding)
    writer = reader.format if to is None else open_format(to, label, labelled=False)
    labeller = Labeller(crf, writer, marginals, nbest, scheme)
    started, n_tokens = time.perf_counter(), 0
    for batch in _batches(reader, 1 if flush else BATCH_TOKENS):
        n_tokens += sum(map(len, batch))
        for text in labeller(batch):
            _write(text, encoding)
        if flush:
            sys.stdout.buffer.flush()
    sys.stdout.buffer.flush()
    if sys.stderr.isatty() and not quiet:
        seconds = time.perf_counter() - started
        console(stderr=True).print(
            f"{plural(n_tokens, 'token')}, {n_tokens / seconds:,.0f} tokens/s", style="dim"
        )


class Labeller:
    """Sentences → their text with labels: the best labels, these with probabilities, or the n best."""

    def __init__(
        self,
        crf: Any,
        writer: Format,
        marginals: bool = False,
        nbest: int | None = None,
        scheme: str | None = None,
    ) -> None:
        from corate.constraints import Constraints

        self.crf, self.writer, self.marginals, self.nbest = crf, writer, marginals, nbest
        self.constraints = None if scheme is None else Constraints(scheme=scheme)
        if marginals and nbest is not None:
            raise click.UsageError("--marginals and --nbest do not go together: choose one")

    def __call__(self, sentences: Sequence[Sentence]) -> Iterator[str]:
        words = [sentence.words for sentence in sentences]
        if self.nbest is not None:
            yield from self._nbest(sentences, words, self.nbest)
            return
        labels = self.crf.predict(words, self.constraints)
        if not self.marginals:
            yield from map(self.writer.write, sentences, labels)
            return
        for sentence, best, tokens in zip(
            sentences, labels, self.crf.predict_marginals(words, self.constraints), strict=True
        ):
            probabilities = [token[label] for token, label in zip(tokens, best, strict=True)]
            yield self.writer.write(sentence, best, probabilities)

    def _nbest(self, sentences: Sequence[Sentence], words: list[list[str]], n: int) -> Iterator[str]:
        for sentence, ranked in zip(
            sentences, self.crf.predict_nbest(words, n, self.constraints), strict=True
        ):
            if not len(sentence):
                yield self.writer.write(sentence, [])
                continue
            for rank, (labels, probability) in enumerate(ranked, 1):
                comment = f"nbest = {rank} probability = {probability:.6g}"
                text = self.writer.write(sentence, labels, comment=comment)
                # The last sentence of a file may lack the blank line that keeps its copies apart.
                yield text if self.writer.name == "jsonl" or text.endswith("\n\n") else text + "\n"


def _batches(sentences: Iterable[Sentence], n_tokens: int) -> Iterator[list[Sentence]]:
    batch: list[Sentence] = []
    size = 0
    for sentence in sentences:
        batch.append(sentence)
        size += len(sentence)
        if size >= n_tokens:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _write(text: str, encoding: str) -> None:
    try:
        sys.stdout.buffer.write(text.encode(encoding))
    except UnicodeEncodeError as error:
        raise InputError(
            f"the label {text[error.start : error.end]!r} cannot be written in {encoding}: try utf-8"
        ) from error
