"""corate audit: which training labels are likely wrong."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

from corate.cli.common import console, optional_model_option, plural, table
from corate.cli.text_options import TextOptions, text_options
from corate.errors import InputError

if TYPE_CHECKING:
    from corate.models.counted import CountedModel
    from corate.text.corpus import Corpus


@click.command(short_help="Find training labels that are likely wrong.")
@click.argument("train", metavar="TRAIN")
@optional_model_option(
    text="A model that was trained on TRAIN, from corate train; without it, one is trained."
)
@click.option(
    "-n", "n", default=20, show_default=True, type=click.IntRange(1), help="How many sentences to list."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a sentence, for programs.")
@text_options()
def audit(train: str, model_path: str | None, n: int, as_json: bool, text: TextOptions) -> None:
    """List sentences of TRAIN whose labels a model without them finds wrong, the likeliest errors first.

    Every sentence is labelled by a model from which it has been subtracted. Of each, the most suspicious word
    is shown, with its label and the one that the model would give.

    \b
    Example:
      corate audit train.conll
      corate audit train.conll -m ner.model -n 200 --json
    """
    from corate.evaluation.audit import audit as find

    corpus = text.corpus(train)
    suspects = find(_model(model_path, corpus), corpus)
    words = corpus.split(corpus.words.codes, corpus.words.values)
    if as_json:
        for s in suspects[:n]:
            found = {
                "sentence": s.sentence + 1,
                "suspicion": round(s.suspicion, 4),
                "tokens": words[s.sentence],
            }
            found |= {
                "labels": s.labels,
                "predicted": s.predicted,
                "by_token": [round(x, 4) for x in s.by_token],
            }
            sys.stdout.write(json.dumps(found, ensure_ascii=False) + "\n")
        return
    made = table("sentence", "word", "label", "rather", "suspicion", "in")
    for column in (1, 2, 3, 5):
        made.columns[column].justify = "left"
    for s in suspects[:n]:
        i = max(range(len(s.by_token)), key=s.by_token.__getitem__)
        here = words[s.sentence]
        around = " ".join(here[max(0, i - 3) : i + 4])
        made.add_row(
            f"{s.sentence + 1:,}", here[i], s.labels[i], s.predicted[i], f"{s.suspicion:.1f}",
            ("… " if i > 3 else "") + around + (" …" if i + 4 < len(here) else ""),
        )  # fmt: skip
    out = console()
    out.print(made)
    every = plural(corpus.n_sentences, "sentence")
    total = f"{len(suspects):,} of {every} have labels that the model would change"
    out.print(total + (f"; shown: {n} (-n)" if len(suspects) > n else ""), style="dim")


def _model(path: str | None, corpus: Corpus) -> CountedModel:
    """The given model, if it was trained on the sentences, or one that is."""
    if path is None:
        from corate.models.tagger.tagger import Tagger

        return Tagger().fit(corpus)
    from corate.cli.changes import load_counted

    model = load_counted(path)
    if model.pruned_:
        raise InputError("the model was pruned: its sentences cannot be subtracted any more", path)
    if model.ledger_ is not None:
        known = model.known(corpus)
        strange = int((corpus.labelled() & ~known).sum())
        if strange:
            raise InputError(
                f"{strange:,} of {corpus.n_sentences:,} sentences were never learned by it", path
            )
    return model
