"""corate tag: text in, the same text with labels out."""

from __future__ import annotations

import codecs
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from corate.cli.common import (
    console,
    load_labeller,
    model_option,
    plural,
    threads_option,
    valid_option,
    valid_spans,
)
from corate.cli.logs import LOG
from corate.cli.text_options import TextOptions, n_columns, text_options
from corate.errors import ConstraintError, InputError
from corate.text.format_registry import FORMAT_CLASSES

if TYPE_CHECKING:
    from corate.text.formats import Format, Sentence

# Tokens (and lines, and as many characters) that are kept together unless --flush asks for every sentence.
BATCH_TOKENS, TOKEN_LETTERS = 20_000, 100


@click.command(short_help="Label text.")
@click.argument("file", default="-", metavar="[FILE]")
@model_option
@click.option(
    "--to", type=click.Choice([*FORMAT_CLASSES]), help="Format of the output, if not that of the input."
)
@click.option("--marginals", is_flag=True, help="Add the probability of each label.")
@click.option(
    "--nbest",
    type=click.IntRange(1, 1_000_000),
    metavar="N",
    help="The N best label sequences of a sentence.",
)
@valid_option
@click.option("--flush", is_flag=True, help="Write each sentence as soon as it is read (for pipes).")
@text_options(
    "An old label, which is not to be read as an observed column: conll: the number of its column; "
    "conllu: the field to fill, upos (the default), xpos or feats:NAME."
)
@threads_option
@click.option("-q", "--quiet", is_flag=True, help="No summary.")
def tag(
    file: str,
    model_path: str,
    to: str | None,
    marginals: bool,
    nbest: int | None,
    valid: str | None,
    flush: bool,
    text: TextOptions,
    threads: int,
    quiet: bool,
) -> None:
    """Label text: the input's columns and comments stay, and a column with the label is added.

    An old label is a column like any other unless --label says where it is. Plain text is written as two
    columns, word and label. In CoNLL-U the label fills its own field, in word/tag lines it replaces the
    tag, in JSON lines it is the key "predicted". Without FILE, standard input is read.

    \b
    Example:
      echo "The dog barks ." | corate tag -m pos.model
      corate tag -m ner.model --valid IOB2 --marginals news.conll > news.tagged
    """
    from corate.text.formats import open_format

    crf = load_labeller(model_path)
    crf.set_params(n_jobs=threads)
    reader = text.for_model(crf).read(file, labelled=False)
    writer = reader.format if to is None else open_format(to, labelled=False)
    labeller = Labeller(crf, writer, reader.source, marginals, nbest, valid)
    encoder = codecs.getincrementalencoder(text.encoding)()
    started, n_tokens = time.perf_counter(), 0
    doubt = text.label is None
    for batch in _batches(reader, 1 if flush else BATCH_TOKENS):
        if doubt:
            tell_of_old_labels(crf, batch, reader.source)
            doubt = not any(map(len, batch))
        n_tokens += sum(map(len, batch))
        for labelled in labeller(batch):
            _write(labelled, encoder)
        if flush:
            sys.stdout.buffer.flush()
    sys.stdout.buffer.flush()
    if sys.stderr.isatty() and not quiet:
        seconds = time.perf_counter() - started
        console(stderr=True).print(
            f"{plural(n_tokens, 'token')} read as {reader.format.name}, {n_tokens / seconds:,.0f} tokens/s",
            style="dim",
        )


class Labeller:
    """Sentences → their text with labels: the best labels, these with probabilities, or the n best."""

    def __init__(
        self,
        crf: Any,
        writer: Format,
        source: str,
        marginals: bool = False,
        nbest: int | None = None,
        valid: str | None = None,
    ) -> None:
        if marginals and nbest is not None:
            raise click.UsageError("--marginals and --nbest do not go together: choose one")
        self.crf, self.writer, self.source = crf, writer, source
        self.marginals, self.nbest, self.constraints = marginals, nbest, valid_spans(valid)

    def __call__(self, sentences: Sequence[Sentence]) -> Iterator[str]:
        from corate.text.corpus import Corpus

        corpus = Corpus.from_sentences(sentences, keep_empty=True)
        try:
            if self.nbest is not None:
                return self._nbest(sentences, self.crf.predict_nbest(corpus, self.nbest, self.constraints))
            if self.marginals:
                labelled = self.crf.predict_with_probability(corpus, self.constraints)
                return self._marginals(sentences, labelled)
            return map(self.writer.write, sentences, self.crf.predict(corpus, self.constraints))
        except ConstraintError as error:
            line = sentences[error.sentence].line
            raise InputError("no label sequence satisfies the constraints", self.source, line) from error

    def _marginals(
        self, sentences: Sequence[Sentence], labelled: list[list[tuple[str, float]]]
    ) -> Iterator[str]:
        for sentence, tokens in zip(sentences, labelled, strict=True):
            yield self.writer.write(sentence, [y for y, _ in tokens], [p for _, p in tokens])

    def _nbest(
        self, sentences: Sequence[Sentence], every: list[list[tuple[list[str], float]]]
    ) -> Iterator[str]:
        for sentence, ranked in zip(sentences, every, strict=True):
            if not len(sentence):
                yield self.writer.write(sentence, [])
                continue
            for rank, (labels, probability) in enumerate(ranked, 1):
                comment = f"nbest = {rank} probability = {probability:.6g}"
                text = self.writer.write(sentence, labels, comment=comment)
                # The last sentence of a file may lack the blank line that keeps its copies apart.
                yield (
                    text if self.writer.name == "jsonl" or text.endswith(("\n\n", "\n\r\n")) else text + "\n"
                )


def tell_of_old_labels(model: Any, sentences: Sequence[Sentence], source: str) -> None:
    """A last column that the model looks at, and that has labels such as it gives: is it to be looked at?"""
    found = next((sentence for sentence in sentences if len(sentence)), None)
    width = len(found.columns) if found is not None else 0
    if found is None or not 1 < width <= n_columns(model):
        return
    last = [cell for sentence in sentences if len(sentence) for cell in sentence.columns[-1]]
    if 2 * sum(cell in {*model.classes_} for cell in last) > len(last):
        LOG.warning(
            "%s: column %d has labels that the model gives (%s), and is read as what it looks at: "
            "--label %d if it is an old label",
            *(source, width, last[0], width),
        )


def _batches(sentences: Iterable[Sentence], n_tokens: int) -> Iterator[list[Sentence]]:
    batch: list[Sentence] = []
    size = 0
    for sentence in sentences:
        batch.append(sentence)
        size += len(sentence) + len(sentence.lines) + sum(map(len, sentence.lines)) // TOKEN_LETTERS
        if size >= n_tokens:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _write(text: str, encoder: codecs.IncrementalEncoder) -> None:
    try:
        sys.stdout.buffer.write(encoder.encode(text))
    except UnicodeEncodeError as error:
        label = text[error.start : error.end]
        raise InputError(f"the label {label!r} cannot be written in {error.encoding}: try utf-8") from error
