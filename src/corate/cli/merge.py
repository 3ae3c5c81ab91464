"""corate merge: one model of several."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from corate.cli.changes import force_option, is_same, load_counted, tell
from corate.cli.common import check_target, megabytes, note_option, plural, quiet_option
from corate.errors import CorateError, InputError

if TYPE_CHECKING:
    from corate.models.counted import CountedModel


@click.command(short_help="Make one model of several.")
@click.argument("models", nargs=-1, required=True, metavar="MODEL...")
@click.option("-o", "--output", required=True, metavar="FILE", help="Model file to write.")
@click.option("--no-ledger", is_flag=True, help="Leave out which sentences were learned.")
@force_option("Merge models of which one has learned nothing that the others have not.")
@note_option
@quiet_option
def merge(
    models: tuple[str, ...], output: str, no_ledger: bool, force: bool, note: str | None, quiet: bool
) -> None:
    """Add models up: the result has the counts of one that is trained on all their sentences.

    No text is needed. The models must be of one kind, with the same contexts and options. Weights of
    taggers become their mean, by the number of tokens behind each.

    \b
    Example:
      corate merge hospital-a.model hospital-b.model -o both.model
    """
    from corate.storage.locks import locked

    check_target(Path(output))
    # A model that is replaced must not be updated by others in between: that would be lost.
    with locked(output) if any(is_same(path, output) for path in models) else nullcontext():
        made = merged_of(models, no_ledger, force, quiet)
        if note is not None:
            made.note(note)
        made.save(output)
    if sys.stderr.isatty() and not quiet:
        counts = made.counts_
        tell(
            f"{output}  {plural(counts.n_sentences, 'sentence')}, {plural(counts.n_tokens, 'token')}, "
            f"{plural(len(counts.labels), 'label')} of {plural(len(models), 'model')}, {megabytes(output)}"
        )


def merged_of(models: tuple[str, ...], no_ledger: bool, force: bool, quiet: bool) -> CountedModel:
    from corate.counts.ledger import Ledger
    from corate.models import counted

    loaded = [load_counted(path) for path in models]
    for path, model in zip(models[1:], loaded[1:], strict=True):
        try:
            loaded[0].check_alike(model, ledger=not no_ledger)
        except CorateError as error:
            raise InputError(f"{error} ({models[0]})", path) from error
    known: Ledger | None = None
    for path, model in zip(models, loaded, strict=True):
        if model.ledger_ is None:
            continue
        n_known = 0 if known is None else int(known.known(model.ledger_.digests).sum())
        if n_known == len(model.ledger_) and not force:
            raise InputError(
                f"all {plural(n_known, 'sentence')} of it are in the models before it: "
                "--force counts them again",
                path,
            )
        if n_known and not quiet:
            of_all = f"{n_known:,} of {plural(len(model.ledger_), 'sentence')}"
            tell(f"{path}: {of_all} are in the models before it and are counted again")
        known = model.ledger_ if known is None else known + model.ledger_
    made: CountedModel = counted.merge(*loaded, ledger=not no_ledger)
    return made
