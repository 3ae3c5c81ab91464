"""corate correct: better labels for sentences that a model has learned, in one step."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import click

from corate.cli.changes import changing, force_option, output_option
from corate.cli.common import check_labeller, note_option, quiet_option
from corate.cli.text_options import TextOptions, text_options
from corate.errors import InputError

if TYPE_CHECKING:
    from corate.text.corpus import Corpus


@click.command(short_help="Replace labels that a model has learned by better ones.")
@click.argument("model_path", metavar="MODEL")
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@output_option
@force_option("Allow other words, or another number of sentences, in NEW.")
@note_option
@text_options()
@quiet_option
def correct(
    model_path: str,
    old: str,
    new: str,
    output: str | None,
    force: bool,
    note: str | None,
    text: TextOptions,
    quiet: bool,
) -> None:
    """Forget the sentences of OLD and learn those of NEW, the same with other labels.

    Both or neither: the model file is replaced once, when all is done. OLD must have the sentences as they
    were learned, labels and all. The counts are then those of a model that was trained on NEW from the start.

    \b
    Example:
      corate correct ner.model monday.conll monday-checked.conll
    """
    before, after = text.corpus(old), text.corpus(new)
    if not force:
        _check_same(before, after, old, new)
    with changing(model_path, output, quiet, check_labeller) as model:
        strange = 0 if model.ledger_ is None else int((before.labelled() & ~model.known(before)).sum())
        if strange:
            raise InputError(f"{strange:,} of {before.n_sentences:,} sentences were never learned", old)
        model.partial_fit(after)  # first, for there may be nothing else that it knows
        model.forget(before)
        if note is not None:
            model.note(note)


def _check_same(before: Corpus, after: Corpus, old: str, new: str) -> None:
    if before.n_sentences != after.n_sentences:
        counted = f"{after.n_sentences:,} sentences where {old} has {before.n_sentences:,}"
        raise InputError(f"{counted}: --force takes them", new)
    pairs = zip(
        *(corpus.split(corpus.words.codes, corpus.words.values) for corpus in (before, after)), strict=True
    )
    for number, (a, b) in enumerate(pairs, 1):
        if a != b:
            words = " ".join(chain(b[:6], ["…"] if len(b) > 6 else []))
            raise InputError(
                f"sentence {number:,}, {words!r:.80}, has other words than in {old}: --force takes them", new
            )
