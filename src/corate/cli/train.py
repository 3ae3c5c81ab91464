"""corate train: labelled text in, model file out."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from corate.cli.common import (
    check_target,
    console,
    format_options,
    label_option,
    megabytes,
    plural,
    quiet_option,
    threads_option,
)

Advance = Callable[[int], Any]

# What --model stands for: the class's parameter `unknown`.
MODELS = {"ep1": "mean", "ecrn": "signature"}


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("-m", "model_path", required=True, metavar="MODEL", help="Model file to write.")
@click.option(
    "--model",
    "kind",
    type=click.Choice(["tagger", "ecrn", "ep1"]),
    default="tagger",
    show_default=True,
    help="tagger: many contexts at once, the most accurate one. ecrn, ep1: the papers' models, with unknown "
    "words by the joint value or by the mean of their spelling features; smaller and quicker.",
)
@click.option(
    "--weights",
    type=click.Choice(["fitted", "fixed"]),
    help="tagger: exponents of the rates, fitted on folds of the training data (the default) or constant.",
)
@click.option(
    "--pair",
    type=click.Choice(["label", "word"]),
    help="ecrn, ep1: pair factors by labels alone (the default), or by words too where seen together.",
)
@click.option(
    "--context",
    "contexts",
    multiple=True,
    metavar="NAME",
    help="Context to use instead of the default ones, e.g. suffix3 or initial,shape or word-1; repeatable. "
    "Views: word lower initial hyphen ending shape prefixN suffixN tailN; further columns: col2, col3:lower.",
)
@click.option(
    "--contexts",
    "context_file",
    metavar="FILE",
    help="File of contexts to use instead of the default ones, one a line; or a template file of CRF++.",
)
@click.option(
    "--words-only", is_flag=True, help="tagger: look at the words alone, whatever other columns there are."
)
@click.option(
    "--mu-oov",
    metavar="NUMBER|auto",
    help="ecrn, ep1: exponent at unknown words (1); auto chooses it on --held-out.",
)
@click.option("--held-out", metavar="FILE", help="Labelled text for --mu-oov auto.")
@click.option(
    "--no-ledger",
    is_flag=True,
    help="Keep no digests of the sentences: smaller, but update and forget cannot tell what was learned.",
)
@format_options
@label_option
@threads_option
@quiet_option
def train(
    files: tuple[str, ...],
    model_path: str,
    kind: str,
    weights: str | None,
    pair: str | None,
    contexts: tuple[str, ...],
    context_file: str | None,
    words_only: bool,
    mu_oov: str | None,
    held_out: str | None,
    no_ledger: bool,
    format_: str | None,
    encoding: str,
    label: str | None,
    threads: int,
    quiet: bool,
) -> None:
    """Count labelled sentences and write a model.

    FILE may be CoNLL columns, CoNLL-U, word/tag, JSON lines, each also gzipped; - is standard input. Columns
    between the word and the label, such as parts of speech, are looked at too, and text that is tagged later
    needs them as well. A token whose label is _ is not counted.

    \b
    Example:
      corate train train.conll -m pos.model
      corate train --label 3 --words-only train.iob more.iob.gz -m ner.model
      corate train --contexts crfpp.template chunks.txt -m chunks.model
    """
    from corate.contexts import WORDS
    from corate.formats import read_chunks, read_corpus
    from corate.templates import read_contexts

    check_target(Path(model_path))
    if sum(map(bool, (contexts, context_file, words_only))) > 1:
        raise click.UsageError("--context, --contexts and --words-only do not go together: choose one")
    if context_file is not None:
        contexts = read_contexts(context_file, encoding=encoding)
    elif words_only:
        if kind != "tagger":
            raise click.UsageError("--words-only is for --model tagger; the others look at words anyway")
        contexts = WORDS
    model = _model(kind, weights, pair, contexts, mu_oov, held_out)
    model.set_params(n_jobs=threads, ledger=not no_ledger)
    held = {"held_out": read_corpus(held_out, format_, label=label, encoding=encoding)} if held_out else {}
    started = time.perf_counter()
    show = sys.stderr.isatty() and not quiet
    with _progress(files, show) as (advance, fitted):
        fitting = {"progress": fitted} if kind == "tagger" else {}
        chunks = read_chunks(files, format_, label=label, encoding=encoding, progress=advance)
        model.fit_chunks((chunk.before_label(label) for chunk in chunks), **held, **fitting)
    model.save(model_path)
    if show:
        _summarise(model, model_path, time.perf_counter() - started)


def _model(
    kind: str,
    weights: str | None,
    pair: str | None,
    contexts: tuple[str, ...],
    mu_oov: str | None,
    held_out: str | None,
) -> Any:
    """The untrained model that the options describe."""
    from corate import EmpiricalCRF, Tagger
    from corate.contexts import SPELLING

    if kind == "tagger":
        if pair or mu_oov or held_out:
            raise click.UsageError("--pair, --mu-oov and --held-out are for --model ecrn and ep1")
        return Tagger(weights or "fitted", contexts or None)
    if weights:
        raise click.UsageError("--weights is for --model tagger")
    return EmpiricalCRF(MODELS[kind], pair or "label", contexts or SPELLING, _mu_oov(mu_oov or "1", held_out))


def _mu_oov(text: str, held_out: str | None) -> float | None:
    if text == "auto":
        if held_out is None:
            raise click.UsageError("--mu-oov auto needs --held-out FILE")
        return None
    if held_out is not None:
        raise click.UsageError("--held-out is used by --mu-oov auto alone")
    try:
        return float(text)
    except ValueError:
        raise click.UsageError(f"--mu-oov {text!r} is neither a number nor 'auto'") from None


@contextmanager
def _progress(
    files: tuple[str, ...], show: bool
) -> Iterator[tuple[Advance | None, Callable[[float], Any] | None]]:
    """A bar of the bytes read and then one of the weights' fit, on a terminal."""
    if not show:
        yield None, None
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    sizes = [Path(f).stat().st_size if Path(f).is_file() else None for f in files]
    total = None if None in sizes else sum(size or 0 for size in sizes)
    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=total)

        def fitted(part: float) -> None:
            bar.columns = TextColumn("fitting weights"), BarColumn(), TimeRemainingColumn()
            bar.update(task, completed=100 * part, total=100)

        yield lambda n_bytes: bar.advance(task, n_bytes), fitted


def _summarise(model: Any, path: str, seconds: float) -> None:
    counts = model.counts_
    console(stderr=True).print(
        f"{path}  {plural(counts.n_sentences, 'sentence')}, {plural(counts.n_tokens, 'token')}, "
        f"{plural(len(counts.labels), 'label')}, {seconds:.2f} s "
        f"({counts.n_tokens / seconds:,.0f} tokens/s), {megabytes(path)}"
    )
