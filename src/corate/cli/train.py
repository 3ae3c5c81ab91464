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
    format_options,
    label_option,
    megabytes,
    plural,
    quiet_option,
    threads_option,
)
from corate.cli.models import FITTED, KINDS, check_options, make
from corate.errors import ConvergenceWarning

Advance = Callable[[int], Any]


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("-m", "model_path", required=True, metavar="MODEL", help="Model file to write.")
@click.option(
    "--model",
    "kind",
    type=click.Choice(KINDS),
    default="tagger",
    show_default=True,
    help="tagger: many contexts at once, the most accurate one. ecrn, ep1, ep2: the papers' models, with "
    "unknown words by the joint value, by the mean or by a log-linear model of their spelling features; "
    "smaller and quicker. crf, memm, maxent, hmm, piecewise, separate: the classical models.",
)
@click.option(
    "--weights",
    type=click.Choice(["fitted", "fixed"]),
    help="tagger: exponents of the rates, fitted on folds of the training data (the default) or constant.",
)
@click.option(
    "--pair",
    type=click.Choice(["label", "word"]),
    help="ecrn, ep1, ep2: pair factors by labels alone (the default), or by words too where seen together.",
)
@click.option(
    "--context",
    "contexts",
    multiple=True,
    metavar="NAME",
    help="Context to use instead of the default ones, e.g. suffix3 or initial,shape or word-1; repeatable. "
    "Views: word lower initial hyphen ending shape prefixN suffixN tailN bias; further columns: col2.",
)
@click.option(
    "--contexts",
    "context_file",
    metavar="FILE",
    help="File of contexts to use instead of the default ones, one a line; or a template file of CRF++.",
)
@click.option(
    "--words-only",
    is_flag=True,
    help="tagger, crf and its kin: look at the words alone, whatever other columns there are.",
)
@click.option(
    "--mu-oov",
    metavar="NUMBER|auto",
    help="ecrn, ep1, ep2: exponent at unknown words (1); auto chooses it on --held-out.",
)
@click.option("--held-out", metavar="FILE", help="Labelled text for --mu-oov auto.")
@click.option(
    "--no-ledger",
    is_flag=True,
    help="Keep no digests of the sentences: smaller, but update and forget cannot tell what was learned.",
)
@click.option(
    "--c2",
    type=float,
    metavar="NUMBER",
    help="crf, maxent, memm, piecewise, separate, ep2: penalty on the squares of weights, as CRFsuite's "
    "(1; ep2: 0.1).",
)
@click.option(
    "--algorithm",
    type=click.Choice(["lbfgs", "iis-s", "iis-t"]),
    help="crf: L-BFGS (the default), or improved iterative scaling, which is slow.",
)
@click.option(
    "--max-iterations",
    type=click.IntRange(1),
    metavar="N",
    help="crf, maxent, memm, piecewise, separate: where to stop at the latest (1000). Ctrl-C stops earlier, "
    "and the best weights so far are saved.",
)
@click.option(
    "--shared",
    is_flag=True,
    help="memm: one model in which the label before is a feature, instead of one for each label before.",
)
@click.option(
    "--smoothing",
    type=click.Choice(["none", "lidstone", "witten-bell", "interpolation"]),
    help="hmm: how counts become probabilities (interpolation).",
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
    c2: float | None,
    algorithm: str | None,
    max_iterations: int | None,
    shared: bool,
    smoothing: str | None,
    format_: str | None,
    encoding: str,
    label: str | None,
    threads: int,
    quiet: bool,
) -> None:
    """Learn from labelled sentences and write a model.

    FILE may be CoNLL columns, CoNLL-U, word/tag, JSON lines, each also gzipped; - is standard input. Columns
    between the word and the label, such as parts of speech, are looked at too, and text that is tagged later
    needs them as well. A token whose label is _ is not counted.

    \b
    Example:
      corate train train.conll -m pos.model
      corate train --label 3 --words-only train.iob more.iob.gz -m ner.model
      corate train --contexts crfpp.template chunks.txt -m chunks.model
      corate train --model crf --c2 0.1 train.conll -m crf.model
    """
    from corate.contexts.files import read_contexts
    from corate.text.formats import read_chunks, read_corpus

    check_target(Path(model_path))
    if sum(map(bool, (contexts, context_file, words_only))) > 1:
        raise click.UsageError("--context, --contexts and --words-only do not go together: choose one")
    if context_file is not None:
        contexts = read_contexts(context_file, encoding=encoding)
    given: dict[str, Any] = {"--weights": weights, "--pair": pair, "--mu-oov": mu_oov, "--held-out": held_out}
    given |= {"--words-only": words_only, "--no-ledger": no_ledger, "--smoothing": smoothing}
    given |= {"--max-iterations": max_iterations, "--algorithm": algorithm, "--c2": c2 is not None}
    given |= {"--shared": shared}
    check_options(kind, given)
    options: dict[str, Any] = {
        "weights": weights,
        "pair": pair,
        "smoothing": smoothing,
        "c2": c2,
        "algorithm": algorithm,
    }
    options |= {"max_iterations": max_iterations, "ledger": False if no_ledger else None}
    options |= {"models": "shared" if shared else None}
    if mu_oov or held_out:
        options["mu_oov"] = _mu_oov(mu_oov or "1", held_out)
    model = make(kind, contexts, words_only, options)
    model.set_params(n_jobs=threads)
    if mu_oov == "auto":
        model.set_params(mu_oov=None)
    held = {"held_out": read_corpus(held_out, format_, label=label, encoding=encoding)} if held_out else {}
    started = time.perf_counter()
    show = sys.stderr.isatty() and not quiet
    with _progress(files, show) as (advance, fitted, stepped), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", ConvergenceWarning)
        fitting = {"progress": fitted if kind == "tagger" else stepped} if kind in ("tagger", *FITTED) else {}
        chunks = read_chunks(files, format_, label=label, encoding=encoding, progress=advance)
        model.fit_chunks((chunk.before_label(label) for chunk in chunks), **held, **fitting)
    model.save(model_path)
    for warning in warned:
        click.echo(f"corate: {warning.message}", err=True)
    if show:
        _summarise(model, model_path, time.perf_counter() - started)


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
) -> Iterator[tuple[Advance | None, Callable[[float], Any] | None, Callable[[dict[str, Any]], Any] | None]]:
    """A bar of the bytes read and then one of the weights' fit, or a line of every step; on a terminal."""
    if not show:
        yield None, None, None
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

        def stepped(entry: dict[str, Any]) -> None:
            bar.columns = (TextColumn("{task.description}"),)
            factor = f"{entry['factor']} factor, " if "factor" in entry else ""
            numbers = f"objective {entry['objective']:,.3f}, gradient {entry['gradient_norm']:.3g}"
            text = f"{factor}iteration {entry['iteration']}: {numbers}, {entry['seconds']:.1f} s"
            bar.update(task, description=text)

        yield lambda n_bytes: bar.advance(task, n_bytes), fitted, stepped


def _summarise(model: Any, path: str, seconds: float) -> None:
    if not hasattr(model, "counts_"):
        console(stderr=True).print(
            f"{path}  {plural(len(model.weights_), 'feature')}, {plural(len(model.classes_), 'label')}, "
            f"{plural(len(model.training_log_) - 1, 'iteration')}, objective {model.objective_:,.3f}, "
            f"{seconds:.2f} s, {megabytes(path)}"
        )
        return
    counts = model.counts_
    console(stderr=True).print(
        f"{path}  {plural(counts.n_sentences, 'sentence')}, {plural(counts.n_tokens, 'token')}, "
        f"{plural(len(counts.labels), 'label')}, {seconds:.2f} s "
        f"({counts.n_tokens / seconds:,.0f} tokens/s), {megabytes(path)}"
    )
