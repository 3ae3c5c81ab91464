"""corate update: a model learns more."""

from __future__ import annotations

import click

from corate.cli.changes import Change, change_options, force_option, tell
from corate.cli.common import plural
from corate.errors import InputError


@click.command(short_help="Teach a model further sentences.")
@change_options(
    force_option("Learn sentences again that the model knows, or labels of which it knows but few.")
)
def update(change: Change, force: bool) -> None:
    """Add the labelled sentences of FILE... to MODEL, in place or to another file.

    The result has the same counts as a model that is trained on everything at once; words and labels may be
    new. Weights of a tagger stay as they are (corate refit). A batch that the model knows already is refused.

    \b
    Example:
      corate update pos.model today.conll
      corate update pos.model today.conll -o tomorrow.model
    """
    import numpy as np

    from corate.text.corpus import UNLABELLED

    corpus, file = change.sentences(), change.files[0]
    with change.model() as model:
        assert corpus.labels is not None
        codes = corpus.labels.encode([*model.classes_, UNLABELLED])
        if 2 * np.count_nonzero(codes < 0) > corpus.n_tokens and not force:
            raise InputError(
                f"most labels of {file} are unknown to {change.path}: is --label right? --force adds them"
            )
        known = np.zeros(corpus.n_sentences, bool) if model.ledger_ is None else model.known(corpus)
        unknown = corpus.take(~known).labels
        if known.any() and unknown is not None and {*unknown.values} <= {UNLABELLED} and not force:
            raise InputError(
                f"{change.path} has learned {file} already, all {plural(int(known.sum()), 'sentence')}: "
                "--force counts them again"
            )
        if known.any() and not change.quiet:
            n_known = f"{int(known.sum()):,} of {plural(corpus.n_sentences, 'sentence')}"
            tell(f"{n_known} were known already and are counted again")
        model.partial_fit(corpus)
