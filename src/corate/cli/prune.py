"""corate prune: rare events out of a model, before it is given away."""

from __future__ import annotations

import click

from corate.cli.changes import changing, output_option
from corate.cli.common import quiet_option


@click.command(short_help="Drop what was rarely seen, before a model is given away.")
@click.argument("model_path", metavar="MODEL")
@click.option(
    "--below",
    default=2,
    show_default=True,
    type=click.IntRange(2),
    help="Events that were counted less often than this are dropped.",
)
@output_option
@quiet_option
def prune(model_path: str, below: int, output: str | None, quiet: bool) -> None:
    """Drop rare events and the ledger from MODEL, in place or to another file.

    What was seen once, such as a pair of words, may give training text away. A pruned model is smaller and
    somewhat less accurate; it can be updated and merged, but it can no longer forget.

    \b
    Example:
      corate prune pos.model --below 3 -o public.model
    """
    with changing(model_path, output, quiet) as model:
        model.prune(below)
