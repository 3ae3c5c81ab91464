"""corate suggest: which sentences to label next."""

from __future__ import annotations

import sys

import click

from corate.cli.common import model_option
from corate.cli.text_options import TextOptions, text_options


@click.command(short_help="Say which sentences to label next.")
@click.argument("file", default="-", metavar="[TEXT]")
@model_option
@click.option("-n", "n", type=click.IntRange(1), metavar="N", help="Only the first N.")
@click.option(
    "--random-share", "share", default=0.1, show_default=True, type=click.FloatRange(0, 1),
    help="Share of the sentences that are drawn at random.",
)  # fmt: skip
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Of the random ones.")
@text_options("An old label, which is not to be read as an observed column.")
def suggest(file: str, model_path: str, n: int | None, share: float, seed: int, text: TextOptions) -> None:
    """Order the sentences of TEXT by how much the model would learn from them: least certain ones first.

    A line for each: number of the sentence, its line in the file, the margin between the best and the second
    best labels, `random` if it was drawn at random, and the words. It is the queue of corate serve.

    \b
    Example:
      corate suggest -m pos.model news.txt -n 20
    """
    from corate.evaluation.queue import suggest as order
    from corate.models.registry import load
    from corate.text.corpus import Corpus

    model = load(model_path)
    sentences = [sentence for sentence in text.read(file, labelled=False) if len(sentence)]
    for number, margin, drawn in order(model, Corpus.from_sentences(sentences), share, seed)[:n]:
        sentence = sentences[number]
        line = sentence.line + (sentence.places[0] if sentence.places else 0)
        cells = [
            str(number + 1),
            str(line),
            f"{margin:.4f}",
            "random" if drawn else "",
            " ".join(sentence.words),
        ]
        sys.stdout.write("\t".join(cells) + "\n")
