"""corate train: labelled text in, model file out."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from corate.cli.common import (
    check_target,
    console,
    megabytes,
    note_option,
    plural,
    quiet_option,
    threads_option,
)
from corate.cli.logs import LOG, is_verbose
from corate.cli.text_options import TextOptions, text_options
from corate.cli.train_options import FITTED, kind_option, make, model_options
from corate.errors import ConvergenceWarning
from corate.models.registry import class_of

WITH_PROGRESS = ("tagger", *FITTED)
INTERRUPTED = 130  # exit code
Advance = Callable[[int], Any]


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("-m", "model_path", required=True, metavar="MODEL", help="Model file to write.")
@kind_option
@click.option(
    "--tree",
    is_flag=True,
    help="Labels on the trees of CoNLL-U: DEPREL, unless --label says else.",
)
@model_options
@text_options()
@threads_option
@click.option("--force", is_flag=True, help="Replace a model file that is read-only.")
@click.option(
    "--keep-on-interrupt",
    is_flag=True,
    help="Ctrl-C while weights are fitted saves the best so far; with this the exit code is 0, not 130.",
)
@note_option
@quiet_option
def train(
    files: tuple[str, ...],
    model_path: str,
    kind: str,
    tree: bool,
    text: TextOptions,
    threads: int,
    force: bool,
    quiet: bool,
    keep_on_interrupt: bool,
    note: str | None,
    **options: Any,
) -> int:
    """Learn from labelled sentences and write a model.

    FILE may be CoNLL columns, CoNLL-U, word/tag, JSON lines, each also gzipped; - is standard input. Columns
    between the word and the label, such as parts of speech, are looked at too, and text that is tagged later
    needs them as well. A token whose label is _ is not counted.

    \b
    Example:
      corate train train.conll -m pos.model
      corate train --label 3 --words-only train.iob more.iob.gz -m ner.model
      corate train --contexts crfpp.template chunks.txt -m chunks.model
      corate train --tree treebank.conllu -m relations.model
      corate train --model crf --c2 0.1 train.conll -m crf.model
    """
    check_target(Path(model_path), force)
    if tree and kind != "tagger":
        raise click.UsageError(f"--tree and --model {kind} do not go together: choose one")
    model = make(kind, options, text.encoding).set_params(n_jobs=threads)
    if tree:
        model, text = class_of("TreeTagger")(**model.get_params()), text.on_tree()
    held_out = options["held_out"]
    held = {"held_out": text.corpus(held_out)} if held_out else {}
    started = time.perf_counter()
    show = sys.stderr.isatty() and not quiet and not is_verbose()
    with _progress(files, show) as (advance, fitted, stepped), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", ConvergenceWarning)
        fitting = {"progress": stepped if kind in FITTED else fitted} if kind in WITH_PROGRESS else {}
        model.fit_chunks(text.chunks(files, advance), **held, **fitting)
    if note is not None:
        model.note(note)
    model.save(model_path, force)
    if getattr(model, "weights", None) == "fitted" and (about := model.about_weights()).startswith("fixed"):
        LOG.warning("weights are %s", about)
    for warning in warned:
        click.echo(f"corate: {warning.message}", err=True)
    said = _summary(model, model_path, time.perf_counter() - started)
    if show:
        console(stderr=True).print(said)
    LOG.info(said)
    if getattr(model, "ended_", None) == "interrupted" and not keep_on_interrupt:
        return INTERRUPTED
    return 0


@contextmanager
def _progress(
    files: tuple[str, ...], show: bool
) -> Iterator[tuple[Advance | None, Callable[[float], Any] | None, Callable[[dict[str, Any]], Any] | None]]:
    """A bar of the bytes read and then one of the weights' fit, or a line of every step; on a terminal."""
    if not show:
        yield None, None, None
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    from corate.models.loglinear.optimise import step_line

    sizes = [Path(f).stat().st_size if Path(f).is_file() else None for f in files]
    total = None if None in sizes else sum(size or 0 for size in sizes)
    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=total)

        def fitted(part: float) -> None:
            bar.columns = TextColumn("fitting weights"), BarColumn(), TimeRemainingColumn()
            bar.update(task, completed=100 * part, total=100)

        def stepped(entry: dict[str, Any]) -> None:
            bar.columns = (TextColumn("{task.description}"),)
            bar.update(task, description=step_line(entry))

        yield lambda n_bytes: bar.advance(task, n_bytes), fitted, stepped


def _summary(model: Any, path: str, seconds: float) -> str:
    if not hasattr(model, "counts_"):
        return (
            f"{path}  {plural(len(model.weights_), 'feature')}, {plural(len(model.classes_), 'label')}, "
            f"{plural(len(model.training_log_) - 1, 'iteration')}, objective {model.objective_:,.3f}, "
            f"{seconds:.2f} s, {megabytes(path)}"
        )
    counts = model.counts_
    return (
        f"{path}  {plural(counts.n_sentences, 'sentence')}, {plural(counts.n_tokens, 'token')}, "
        f"{plural(len(counts.labels), 'label')}, {seconds:.2f} s "
        f"({counts.n_tokens / seconds:,.0f} tokens/s), {megabytes(path)}"
    )
