"""corate update: a model learns more."""

from __future__ import annotations

import click

from corate.cli.changes import changing, force_option, output_option, read_sentences, tell
from corate.cli.common import format_options, label_option, plural, quiet_option
from corate.errors import InputError


@click.command(short_help="Teach a model further sentences.")
@click.argument("model_path", metavar="MODEL")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@output_option
@force_option("Learn sentences again that the model knows, or labels of which it knows but few.")
@format_options
@label_option
@quiet_option
def update(
    model_path: str,
    files: tuple[str, ...],
    output: str | None,
    force: bool,
    format_: str | None,
    encoding: str,
    label: str | None,
    quiet: bool,
) -> None:
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

    corpus = read_sentences(files, format_, label, encoding)
    with changing(model_path, output, quiet) as model:
        assert corpus.labels is not None
        codes = corpus.labels.encode([*model.classes_, UNLABELLED])
        if 2 * np.count_nonzero(codes < 0) > corpus.n_tokens and not force:
            raise InputError(
                f"most labels of {files[0]} are unknown to {model_path}: is --label right? --force adds them"
            )
        known = np.zeros(corpus.n_sentences, bool) if model.ledger_ is None else model.known(corpus)
        unknown = corpus.take(~known).labels
        if known.any() and unknown is not None and {*unknown.values} <= {UNLABELLED} and not force:
            raise InputError(
                f"{model_path} has learned {files[0]} already, all {plural(int(known.sum()), 'sentence')}: "
                "--force counts them again"
            )
        if known.any() and not quiet:
            n_known = f"{int(known.sum()):,} of {plural(corpus.n_sentences, 'sentence')}"
            tell(f"{n_known} were known already and are counted again")
        model.partial_fit(corpus)
