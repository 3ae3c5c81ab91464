"""corate train: labelled text in, model file out."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import click

from corate.cli.cluster import ClusterOptions, cluster_options
from corate.cli.common import (
    check_target,
    console,
    megabytes,
    note_option,
    plural,
    quiet_option,
    threads_option,
)
from corate.cli.engine_options import EngineOptions, engine_options
from corate.cli.logs import LOG, is_verbose
from corate.cli.text_options import TextOptions, files_of, text_options
from corate.cli.train_options import COUNTED, FITTED, kind_option, make, model_options
from corate.errors import ConvergenceWarning
from corate.models.registry import class_of

WITH_PROGRESS = ("tagger", *FITTED)
INTERRUPTED = 130  # exit code


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
@engine_options
@cluster_options
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
    engine: str,
    memory: str | None,
    temp: str | None,
    resume: bool,
    master: str | None,
    partitions: int | None,
    conf: tuple[str, ...],
    force: bool,
    quiet: bool,
    keep_on_interrupt: bool,
    note: str | None,
    **options: Any,
) -> int:
    """Learn from labelled sentences and write a model.

    FILE may be CoNLL columns, CoNLL-U, word/tag, JSON lines, each also gzipped; - is standard input. Columns
    between the word and the label, such as parts of speech, are looked at too, and text that is tagged later
    needs them as well. A token whose label is _ is not counted. Files of a folder, or that fit a pattern, are
    read in the order of their names.

    \b
    Example:
      corate train train.conll -m pos.model
      corate train --label 3 --words-only train.iob more.iob.gz -m ner.model
      corate train --contexts crfpp.template chunks.txt -m chunks.model
      corate train --tree treebank.conllu -m relations.model
      corate train --model crf --c2 0.1 train.conll -m crf.model
      corate train corpus/ -m big.model --engine disk --memory 1G
      corate train hdfs://host/corpus -m big.model --engine spark --master spark://host:7077
    """
    check_target(Path(model_path), force)
    if tree and kind != "tagger":
        raise click.UsageError(f"--tree and --model {kind} do not go together: choose one")
    chosen = EngineOptions(engine, memory, temp, resume)
    chosen.check(kind)
    cluster = ClusterOptions(master, partitions, conf)
    cluster.check(engine)
    model = make(kind, options, text.encoding).set_params(n_jobs=threads)
    if tree:
        model, text = class_of("TreeTagger")(**model.get_params()), text.on_tree()
    held_out = options["held_out"]
    held = {"held_out": text.corpus(held_out)} if held_out else {}
    started = time.perf_counter()
    show = sys.stderr.isatty() and not quiet and not is_verbose()
    here = engine != "spark"
    files = tuple(files_of(files)) if here else files
    with _progress(files, show and here) as shown, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", ConvergenceWarning)
        fitting: dict[str, Any] = {"progress": shown.of(kind)} if kind in WITH_PROGRESS else {}
        opened = chosen.opened(model_path, shown.counted)
        with opened if here else cluster.source(model, files, text, show) as counting:
            if kind in COUNTED:
                fitting |= {"engine": counting, "min_count": options["min_count"], **held}
            model.fit_chunks(text.chunks(files, shown.advance) if here else (), **fitting)
            if note is not None:
                model.note(note)
            model.save(model_path, force)
    if not quiet and getattr(model, "weights", None) == "fitted":
        about = model.about_weights()
        if about.startswith("fixed"):
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


class _Shown(NamedTuple):
    """Who is told how far a training is."""

    advance: Callable[[int], Any] | None = None  # bytes read
    fitted: Callable[[float], Any] | None = None  # part of the weights' fit
    stepped: Callable[[dict[str, Any]], Any] | None = None  # steps of an optimiser
    counted: Callable[[Any], Any] | None = None  # what the disk engine has

    def of(self, kind: str) -> Callable[..., Any] | None:
        return self.stepped if kind in FITTED else self.fitted


@contextmanager
def _progress(files: tuple[str, ...], show: bool) -> Iterator[_Shown]:
    """A bar of the bytes read and then one of the weights' fit, or a line of every step; on a terminal."""
    if not show:
        yield _Shown()
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

        started = time.perf_counter()

        def counted(so_far: Any) -> None:
            speed = so_far.n_new / (time.perf_counter() - started)
            text = (
                f"{so_far.n_tokens:,} tokens, {speed:,.0f} a second, {so_far.spilled / 1e6:,.0f} MB on disk"
            )
            if so_far.tables:
                bar.columns = TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
                text = f"summing, {so_far.tables} of {so_far.n_tables} tables; {text}"
                bar.reset(task, total=so_far.n_tables) if so_far.tables == 1 else None
                bar.update(task, completed=so_far.tables)
            bar.update(task, description=text)

        yield _Shown(lambda n_bytes: bar.advance(task, n_bytes), fitted, stepped, counted)


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
