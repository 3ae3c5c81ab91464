"""corate prune: events out of a model, the rare ones or those that are worth least."""

from __future__ import annotations

import re

import click

from corate.cli.changes import changing, output_option
from corate.cli.common import quiet_option
from corate.errors import InputError

SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,9})?) ?([kMGT]?)B?", re.IGNORECASE)
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}  # as sizes are shown


def _bytes(context: click.Context, option: click.Parameter, text: str | None) -> int | None:
    """200M → bytes."""
    if text is None:
        return None
    found = SIZE.fullmatch(text.strip())
    n_bytes = 0 if found is None else int(float(found[1]) * UNITS[found[2].lower()])
    if n_bytes < 1:
        raise click.BadParameter(f"{text!r} is no size: write 200M, 1.5G or a number of bytes")
    return n_bytes


@click.command(short_help="Make a model smaller, or drop what was rarely seen before it is given away.")
@click.argument("model_path", metavar="MODEL")
@click.option(
    "--below",
    type=click.IntRange(2),
    metavar="N",
    help="Events that were counted less often than this are dropped.  [default: 2, without --max-size]",
)
@click.option(
    "--max-size",
    callback=_bytes,
    metavar="SIZE",
    help="The events that the weights value least are dropped, until the file has this size, such as 200M.",
)
@output_option
@quiet_option
def prune(model_path: str, below: int | None, max_size: int | None, output: str | None, quiet: bool) -> None:
    """Drop events and the ledger from MODEL, in place or to another file.

    What was seen once, such as a pair of words, may give training text away: --below drops it. To make a
    Tagger smaller, --max-size is better: it keeps rare events that tell much, and drops frequent ones that
    tell nothing. A pruned model is somewhat less accurate; it can be updated and merged, but it can no longer
    forget.

    \b
    Example:
      corate prune pos.model --below 3 -o public.model
      corate prune pos.model --max-size 200M -o small.model
    """
    with changing(model_path, output, quiet) as model:
        if max_size is not None and not hasattr(model, "prune_to_size"):
            raise InputError(
                f"{type(model).__name__}: it has no weights that tell what an event is worth; --below drops "
                "rare ones",
                model_path,
            )
        if below is not None or max_size is None:
            model.prune(below or 2)
        if max_size is not None:
            model.prune_to_size(max_size)
