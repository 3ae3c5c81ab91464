"""corate explain: why each word of a sentence got its label."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from corate.cli.common import console, load_labeller, model_option, table
from corate.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from corate.models.explanation import Explanation


@click.command(short_help="Say why each word got its label.")
@click.argument("sentence")
@model_option
@click.option("--top", default=4, show_default=True, type=click.IntRange(1), help="Reasons for each word.")
@click.option(
    "--json", "as_json", is_flag=True, help="One JSON object a word with all reasons, for programs."
)
def explain(sentence: str, model_path: str, top: int, as_json: bool) -> None:
    """Label SENTENCE (words separated by blanks) and show the counts that made each label win.

    A reason's score is the logarithm of what it multiplies the label's score with; those of a whole sentence
    add up to the score of its labels (in a MEMM, before each label's own normalisation).

    \b
    Example:
      corate explain -m pos.model "She saw that saw ."
      corate explain -m relations.model "dogs/NOUN/2 bark/VERB/0"     # on a tree: columns and the parent
    """
    tokens = sentence.split()
    if not tokens:
        raise InputError("an empty sentence: give words, e.g. corate explain -m pos.model 'The dog barked .'")
    model = load_labeller(model_path)
    columns = getattr(model, "n_columns_", 0)  # of a model on trees; the parent's number is one more
    split = [tuple(token.rsplit("/", columns)) for token in tokens] if columns else tokens
    explanations = model.explain(split)
    if as_json:
        for explanation in explanations:
            click.echo(json.dumps(asdict(explanation), ensure_ascii=False))
    else:
        print_explanations(console(), explanations, top)


def print_explanations(
    out: Console, explanations: Iterable[Explanation], top: int, names: tuple[str, str] = ("word", "label")
) -> None:
    made = table(*names, "probability", "score", "why")
    made.columns[1].justify = made.columns[4].justify = "left"
    for token in explanations:
        cells = [token.word, token.label, f"{token.probability:.3f}"]
        for k, reason in enumerate(token.reasons[:top]):
            made.add_row(*(cells if k == 0 else ["", "", ""]), f"{reason.score:+.2f}", reason.text)
        if not token.reasons:
            made.add_row(*cells, "", "nothing that training saw speaks for or against it")
        if len(token.reasons) > top:
            made.add_row("", "", "", "", f"… {len(token.reasons) - top} more (--top)", style="dim")
        if token.runner_up is not None and token.runner_up[1] >= 0.0005:
            made.add_row("", token.runner_up[0], f"{token.runner_up[1]:.3f}", "", "next best", style="dim")
    out.print(made)
