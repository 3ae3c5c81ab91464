"""corate tag: text in, the same text with labels out."""

from __future__ import annotations

import codecs
import sys
import time
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from corate.cli.cluster import (
    ClusterOptions,
    check_alone,
    cluster_options,
    is_table,
    label_table,
    labelled_text,
)
from corate.cli.common import (
    console,
    load_labeller,
    model_option,
    plural,
    threads_option,
    valid_option,
)
from corate.cli.labeller import Done, Labeller, hint_at_marks, tell_of_old_labels
from corate.cli.logs import LOG
from corate.cli.text_options import TextOptions, text_options
from corate.errors import InputError
from corate.text.format_registry import FORMAT_CLASSES

if TYPE_CHECKING:
    from corate.text.formats import Reader, Sentence

SKIPPED = 3  # exit code


@click.command(short_help="Label text.")
@click.argument("file", default="-", metavar="[FILE]")
@model_option
@click.option(
    "--to", type=click.Choice([*FORMAT_CLASSES]), help="Format of the output, if not that of the input."
)
@click.option("--marginals", is_flag=True, help="Add the probability of each label.")
@click.option("--all-marginals", is_flag=True, help="Add the probabilities of all labels of each token.")
@click.option("--probability", is_flag=True, help="Add the probability of each sentence's labels together.")
@click.option(
    "--nbest",
    type=click.IntRange(1, 1_000_000),
    metavar="N",
    help="The N best label sequences of a sentence, with their probabilities.",
)
@valid_option
@click.option("--tokenise", is_flag=True, help="Plain text: cut punctuation off words.")
@click.option("--flush", is_flag=True, help="Write each sentence as soon as it is read (for pipes).")
@click.option(
    "--skip-bad",
    is_flag=True,
    help="JSON lines: pass over bad ones, and say which; the exit code is then 3.",
)
@text_options(
    "An old label, which is not to be read as an observed column: conll: the number of its column; "
    "conllu: the field to fill, upos (the default), xpos or feats:NAME."
)
@click.option(
    "--engine",
    type=click.Choice(["memory", "spark"]),
    default="memory",
    show_default=True,
    help="Who labels: spark is for files on a cluster (pip install 'corate[spark]'). The output is the same.",
)
@cluster_options
@click.option(
    "--output",
    metavar="DIR",
    help="spark: where to write tables of Parquet, with all their columns and the labels.",
)
@threads_option
@click.option("-q", "--quiet", is_flag=True, help="No summary.")
def tag(
    file: str,
    model_path: str,
    to: str | None,
    tokenise: bool,
    flush: bool,
    skip_bad: bool,
    text: TextOptions,
    engine: str,
    master: str | None,
    partitions: int | None,
    conf: tuple[str, ...],
    output: str | None,
    threads: int,
    quiet: bool,
    **wanted: Any,
) -> int:
    """Label text: the input's columns and comments stay, and a column with the label is added.

    An old label is a column like any other unless --label says where it is. Plain text is written as two
    columns, word and label. In CoNLL-U the label fills its own field, in word/tag lines it replaces the
    tag, in JSON lines it is the key "predicted". Without FILE, standard input is read.

    \b
    Example:
      echo "The dog barks ." | corate tag -m pos.model
      corate tag -m ner.model --valid IOB2 --marginals news.conll > news.tagged
      corate tag -m chunks.model --to crfpp --all-marginals test.data     # as crf_test -v2
      corate tag -m pos.model hdfs://host/news --engine spark --master spark://host:7077
    """
    alone = [
        ("--tokenise", tokenise),
        ("--flush", flush),
        ("--skip-bad", skip_bad),
        ("--threads", threads > 1),
    ]
    check_alone(engine, alone)
    cluster = ClusterOptions(master, partitions, conf)
    cluster.check(engine)
    if engine == "spark":
        return _on_cluster(file, model_path, to, text, cluster, output, wanted)
    if output is not None:
        raise click.UsageError("--output is for --engine spark")
    from corate.text.formats import open_format
    from corate.text.formats.jsonl import Jsonl

    crf = load_labeller(model_path, lazily=True).set_params(n_jobs=threads)
    reader = _reader(file, text.for_model(crf), crf, tokenise, skip_bad)
    writer = reader.format if to is None else open_format(to, labelled=False)
    labeller = Labeller(crf, reader, writer, **wanted)
    if isinstance(reader.format, Jsonl) and skip_bad:
        reader.format.on_bad = labeller.pass_over

    def look(sentences: list[Sentence]) -> None:
        if text.label is None:
            tell_of_old_labels(crf, sentences, reader.source)
        if not tokenise:
            hint_at_marks(crf, sentences, reader)

    labeller.look = look
    encoder = codecs.getincrementalencoder(text.encoding)()
    started, n_tokens, n_bad = time.perf_counter(), 0, 0
    for done in _labelled(labeller, threads, flush):
        n_tokens, n_bad = n_tokens + done.n_tokens, n_bad + done.n_bad
        _write(done.text, encoder)
        if flush:
            sys.stdout.buffer.flush()
    sys.stdout.buffer.flush()
    if sys.stderr.isatty() and not quiet:
        seconds = time.perf_counter() - started
        console(stderr=True).print(
            f"{plural(n_tokens, 'token')} read as {reader.format.name}, {n_tokens / seconds:,.0f} tokens/s",
            style="dim",
        )
    if n_bad:
        LOG.warning("%s: %s skipped", reader.source, plural(n_bad, "bad line"))
    return SKIPPED if n_bad else 0


def _on_cluster(
    file: str,
    model_path: str,
    to: str | None,
    text: TextOptions,
    cluster: ClusterOptions,
    output: str | None,
    wanted: dict[str, Any],
) -> int:
    told = text.for_model(load_labeller(model_path))
    encoder = codecs.getincrementalencoder(text.encoding)()
    with cluster.session() as spark:
        if is_table(spark, file):
            label_table(spark, file, model_path, wanted["marginals"], output)
            return 0
        if output is not None:
            raise click.UsageError("--output is for Parquet: text goes to standard output")
        for done in labelled_text(spark, file, model_path, told, cluster.partitions, to, wanted):
            _write(done.text, encoder)
        sys.stdout.buffer.flush()
    return 0


def _reader(file: str, text: TextOptions, model: Any, tokenise: bool, skip_bad: bool) -> Reader:
    """The text, as the options ask for it."""
    from functools import partial

    from corate.text.formats.text import Text
    from corate.text.tokenise import tokenise as tokens_of

    if tokenise and text.format not in (None, "text"):
        raise click.UsageError(f"--tokenise is for plain text, not for --format {text.format}")
    if skip_bad and text.format not in (None, "jsonl"):
        raise click.UsageError(f"--skip-bad is for JSON lines, not for --format {text.format}")
    named = "text" if tokenise else "jsonl" if skip_bad else text.format
    reader = text._replace(format=named, strict=not skip_bad).read(file, labelled=False)
    if tokenise and isinstance(reader.format, Text):
        reader.format.split = partial(tokens_of, known=frozenset(model.known_words()))
    return reader


def _labelled(labeller: Labeller, threads: int, flush: bool) -> Iterator[Done]:
    """The text with labels, sentence by sentence or part by part. The first parts, until there is a token,
    show what the rest looks like; that is shared among processes."""
    from corate.cli.workers import can_fork, in_order

    if flush:
        yield from labeller.each(labeller.reader)
        return
    parts = labeller.reader.parts()
    for part in parts:
        done = labeller(part)
        yield done
        if done.n_tokens:
            break
    if threads == 1 or not can_fork():
        yield from map(labeller, parts)
        return
    ahead = next(parts, None)
    if ahead is not None:
        labeller.crf.set_params(n_jobs=1)
        yield from in_order(labeller, chain([ahead], parts), threads)


def _write(text: str, encoder: codecs.IncrementalEncoder) -> None:
    try:
        sys.stdout.buffer.write(encoder.encode(text))
    except UnicodeEncodeError as error:
        label = text[error.start : error.end]
        raise InputError(f"the label {label!r} cannot be written in {error.encoding}: try utf-8") from error
