"""corate refit: new weights for a model that has learned much since."""

from __future__ import annotations

import click

from corate.cli.changes import changing, output_option, read_sentences
from corate.cli.common import format_options, label_option, quiet_option, threads_option
from corate.errors import InputError


@click.command(short_help="Fit a model's weights again.")
@click.argument("model_path", metavar="MODEL")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@output_option
@format_options
@label_option
@threads_option
@quiet_option
def refit(
    model_path: str,
    files: tuple[str, ...],
    output: str | None,
    format_: str | None,
    encoding: str,
    label: str | None,
    threads: int,
    quiet: bool,
) -> None:
    """Fit the weights of MODEL again, on sentences that it has learned; its counts stay as they are.

    update, forget and merge leave the weights as they find them, which is good enough unless most of a model
    has changed. The model keeps no text, so that FILE... has to give much of what it was taught; with all of
    it the result is the model that corate train would make.

    \b
    Example:
      corate refit pos.model train.conll today.conll
    """
    from corate.models.tagger.tagger import Tagger

    corpus = read_sentences(files, format_, label, encoding)
    with changing(model_path, output, quiet) as model:
        if not isinstance(model, Tagger):
            raise InputError(
                "no tagger: what other models have learned follows from their counts", model_path
            )
        model.set_params(n_jobs=threads)
        model.refit(corpus)
