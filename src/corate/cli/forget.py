"""corate forget: a model unlearns."""

from __future__ import annotations

import click

from corate.cli.changes import changing, force_option, output_option, read_sentences, tell
from corate.cli.common import format_options, label_option, plural, quiet_option


@click.command(short_help="Make a model forget sentences that it has learned.")
@click.argument("model_path", metavar="MODEL")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@output_option
@force_option("Pass over sentences that the ledger does not know, and forget the others.")
@format_options
@label_option
@quiet_option
def forget(
    model_path: str,
    files: tuple[str, ...],
    output: str | None,
    force: bool,
    format_: str | None,
    encoding: str,
    label: str | None,
    quiet: bool,
) -> None:
    """Take the labelled sentences of FILE... away from MODEL, in place or to another file.

    The counts are then those of a model that has never seen them. They must be given as they were learned,
    labels and all. Weights of a tagger stay as they are: docs/changing.md says what that means for privacy.

    \b
    Example:
      corate forget pos.model withdrawn.conll
    """
    corpus = read_sentences(files, format_, label, encoding)
    with changing(model_path, output, quiet) as model:
        before = model.counts_.n_sentences
        model.forget(corpus, force=force)
        n_labelled = int(corpus.labelled().sum())
        passed = n_labelled - (before - model.counts_.n_sentences)
        if passed and model.ledger_ is not None and not quiet:
            tell(f"{passed:,} of {plural(n_labelled, 'sentence')} were never learned: passed over")
