"""corate curve: how good a model is after 50, 100, 200 … sentences, and what more of them would bring."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from corate.cli.common import console, plural, quiet_option, scheme_option, table, threads_option
from corate.cli.text_options import TextOptions, text_options
from corate.cli.train_options import kind_option, make, model_options
from corate.errors import ConvergenceWarning, InputError
from corate.models.registry import KINDS

if TYPE_CHECKING:
    from corate.evaluation.curve import Curve
    from corate.text.corpus import Corpus


def _sizes(context: click.Context, option: click.Parameter, value: str | None) -> list[int] | None:
    """Numbers of sentences with commas between them."""
    if value is None:
        return None
    parts = [part.strip() for part in value.split(",")]
    if not all(part.isascii() and part.isdecimal() and 0 < len(part) < 10 and int(part) for part in parts):
        raise click.BadParameter(f"{value!r} is not a list of numbers of sentences, such as 50,100,200")
    return [int(part) for part in parts]


@click.command()
@click.argument("train_path", metavar="TRAIN")
@click.option(
    "--test", "test_path", metavar="TEST", help="Text to label; without it, parts of TRAIN are held out."
)
@click.option("-o", "picture", metavar="PICTURE", help="Also draw it, as .svg or .png; needs matplotlib.")
@click.option(
    "--sizes", callback=_sizes, metavar="N,N,…", help="Sentences to train on (50,100,200 … and all)."
)
@click.option(
    "--repeats",
    default=5,
    show_default=True,
    type=click.IntRange(2, 1000),
    help="How often each size is tried: with other sentences and, without --test, another part held out.",
)
@scheme_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object, for programs.")
@kind_option
@model_options
@text_options()
@threads_option
@quiet_option
def curve(
    train_path: str,
    test_path: str | None,
    picture: str | None,
    sizes: list[int] | None,
    repeats: int,
    scheme: str,
    as_json: bool,
    kind: str,
    text: TextOptions,
    threads: int,
    quiet: bool,
    **options: Any,
) -> None:
    """Would more labelled sentences help? The learning curve of a model.

    Models are trained on 50, 100, 200 … and all sentences of TRAIN, drawn at random, and label TEST, or a
    part of TRAIN that none of them was drawn from. Shown are the mean and, behind ±, the standard deviation
    over the repeats; then what a power law through the means expects of twice and four times the sentences,
    and how far off that may be. Options of models are those of corate train.

    \b
    Example:
      corate curve train.conll
      corate curve train.conll --test test.conll -o curve.svg
      corate curve --model crf --sizes 100,300,1000 --label 3 ned.train --json
    """
    from corate.evaluation.curve import learning_curves

    if picture is not None:
        _check_picture(Path(picture))
    model = make(kind, options, text.encoding).set_params(n_jobs=threads)
    if KINDS[kind].counted:
        model.set_params(ledger=False)
    held_out = options["held_out"]
    held = {"held_out": text.corpus(held_out)} if held_out else {}
    corpus, test = _read(text, train_path), _read(text, test_path) if test_path is not None else None

    def train(sentences: Corpus) -> Any:
        return type(model)(**model.get_params()).fit(sentences, **held)

    show = sys.stderr.isatty() and not quiet
    with _progress(show) as advance, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", ConvergenceWarning)
        chosen = None if scheme == "none" else scheme
        found = learning_curves(train, corpus, test, sizes, repeats, chosen, advance)
    for message in dict.fromkeys(str(warning.message) for warning in warned):
        click.echo(f"corate: {message}", err=True)
    if picture is not None:
        _draw(found, Path(picture))
    if as_json:
        click.echo(json.dumps({name: one.to_json() for name, one in found.items()}))
    else:
        _print(found)


def _read(text: TextOptions, file: str) -> Corpus:
    from corate.text.corpus import Corpus

    corpus = Corpus.join(list(text.chunks((file,))))
    if not corpus.n_tokens:
        raise InputError("has no sentence: give labelled text", file)
    return corpus


def _check_picture(path: Path) -> None:
    """Fail before the work rather than after it."""
    from corate.evaluation.curve_picture import FORMATS, check_matplotlib

    if path.suffix.lower().removeprefix(".") not in FORMATS:
        raise InputError("is drawn as .svg or .png: give a name that ends so", str(path))
    if path.is_dir():
        raise InputError("is a directory: give the name of a file to draw into", str(path))
    if not path.parent.is_dir():
        raise InputError(f"the folder {str(path.parent)!r} does not exist: create it first", str(path))
    check_matplotlib()


def _draw(found: dict[str, Curve], path: Path) -> None:
    from corate.evaluation.curve_picture import draw
    from corate.storage.modelfile import replacing

    picture = draw(found, path.suffix.lower().removeprefix("."))
    with replacing(path) as file:
        file.write(picture)


@contextmanager
def _progress(show: bool) -> Iterator[Callable[[int, int], object] | None]:
    """A bar of the sentences that are trained on; on a terminal."""
    if not show:
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task("training", total=None)
        done = 0

        def advance(n: int, left: int) -> None:
            nonlocal done
            done += n
            description = f"trained on {plural(n, 'sentence')}"
            bar.update(task, completed=done, total=done + left, description=description)

        yield advance


def _print(found: dict[str, Curve]) -> None:
    from corate.evaluation.curve import NAMES

    out, curves = console(), list(found.values())
    rows = table("sentences", *(head for name in found for head in (f"{NAMES[name]} %", "")))
    for points in zip(*(one.points for one in curves), strict=True):
        cells = [
            (f"{100 * p.mean:.2f}", "" if p.spread is None else f"± {100 * p.spread:.2f}") for p in points
        ]
        rows.add_row(f"{points[0].sentences:,}", *(text for pair in cells for text in pair))
    for later in zip(*(one.expected for one in curves), strict=True):
        cells = [(f"≈ {100 * e.value:.1f}", f"{100 * e.low:.1f} to {100 * e.high:.1f}") for e in later]
        rows.add_row(f"{later[0].sentences:,}", *(text for pair in cells for text in pair))
    out.print(rows)
    out.print()
    if not curves[0].expected:
        n = len(curves[0].points)
        out.print(f"{plural(n, 'size')}, and it takes 3 to say what more would bring: give more, or --sizes")
    for name, one in found.items():
        if one.expected:
            out.print(_sentence(NAMES[name], one))


def _sentence(name: str, one: Curve) -> str:
    twice, last = one.expected[0], one.points[-1].mean
    ends = f"{100 * (twice.low - last):+.1f} to {100 * (twice.high - last):+.1f}"
    gain = 100 * (twice.value - last)
    return f"Twice the sentences, {twice.sentences:,}: about {gain:+.1f} points of {name} ({ends})"
