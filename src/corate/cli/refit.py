"""corate refit: new weights for a model that has learned much since."""

from __future__ import annotations

import click

from corate.cli.changes import Change, change_options
from corate.cli.common import threads_option
from corate.errors import InputError


@click.command(short_help="Fit a model's weights again.")
@change_options(last=[threads_option])
def refit(change: Change, threads: int) -> None:
    """Fit the weights of MODEL again, on sentences that it has learned; its counts stay as they are.

    update, forget and merge leave the weights as they find them, which is good enough unless most of a model
    has changed. The model keeps no text, so that FILE... has to give much of what it was taught; with all of
    it the result is the model that corate train would make.

    \b
    Example:
      corate refit pos.model train.conll today.conll
    """
    from corate.models.tagger.tagger import Tagger

    corpus = change.sentences()
    with change.model() as model:
        if not isinstance(model, Tagger):
            raise InputError(
                "no tagger: what other models have learned follows from their counts", change.path
            )
        model.set_params(n_jobs=threads)
        model.refit(corpus)
