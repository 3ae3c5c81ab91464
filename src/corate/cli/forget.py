"""corate forget: a model unlearns."""

from __future__ import annotations

import click

from corate.cli.changes import Change, change_options, force_option, tell
from corate.cli.common import plural


@click.command(short_help="Make a model forget sentences that it has learned.")
@change_options(force_option("Pass over sentences that the ledger does not know, and forget the others."))
def forget(change: Change, force: bool) -> None:
    """Take the labelled sentences of FILE... away from MODEL, in place or to another file.

    The counts are then those of a model that has never seen them. They must be given as they were learned,
    labels and all. Weights of a tagger stay as they are: `corate docs changing` has what that means for
    privacy.

    \b
    Example:
      corate forget pos.model withdrawn.conll
    """
    corpus = change.sentences()
    with change.model() as model:
        before = model.counts_.n_sentences
        model.forget(corpus, force=force)
        n_labelled = int(corpus.labelled().sum())
        passed = n_labelled - (before - model.counts_.n_sentences)
        if passed and model.ledger_ is not None and not change.quiet:
            tell(f"{passed:,} of {plural(n_labelled, 'sentence')} were never learned: passed over")
