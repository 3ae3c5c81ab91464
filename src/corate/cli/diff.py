"""corate diff: what changed between two models."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from corate.cli.changes import load_counted
from corate.cli.common import console, plural, table
from corate.cli.text_options import TextOptions, text_options

if TYPE_CHECKING:
    from rich.console import Console

    from corate.evaluation.differences import Differences, Disagreements


@click.command(short_help="Show what is different between two models.")
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.argument("file", required=False, metavar="[FILE]")
@click.option("--labelled/--unlabelled", default=True, show_default=True, help="Whether FILE has labels.")
@click.option("--top", default=10, show_default=True, type=click.IntRange(1), help="Rows of each table.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object, for programs.")
@text_options()
def diff(
    a: str,
    b: str,
    file: str | None,
    labelled: bool,
    top: int,
    as_json: bool,
    text: TextOptions,
) -> None:
    """Show what model B has counted that A has not and the other way round; with FILE, how they label it.

    \b
    Example:
      corate diff yesterday.model today.model
      corate diff yesterday.model today.model test.conll
    """
    from corate.evaluation.differences import differences, disagreements
    from corate.text.corpus import Corpus

    models = load_counted(a), load_counted(b)
    found = differences(*models)
    labels = None
    if file is not None:
        sentences = [sentence for sentence in text.read(file, labelled) if len(sentence)]
        corpus = Corpus.from_sentences(sentences)
        gold = [sentence.labels or [] for sentence in sentences] if labelled else None
        words = [sentence.words for sentence in sentences]
        labels = disagreements(words, models[0].predict(corpus), models[1].predict(corpus), gold)
    if as_json:
        facts = found.to_json() | {"file": None if labels is None else labels.to_json()}
        click.echo(json.dumps(facts, ensure_ascii=False))
        return
    _print(console(), found, top)
    if labels is not None:
        console().print()
        _print_labels(console(), labels, top)


def _print(out: Console, found: Differences, top: int) -> None:
    if not found:
        out.print("The models are the same: equal counts, parameters and weights.")
        return
    sizes = table("", "A", "B", "change")
    for name, (before, after) in (("sentences", found.sentences), ("tokens", found.tokens)):
        sizes.add_row(name, f"{before:,}", f"{after:,}", f"{after - before:+,}")
    out.print(sizes)
    out.print(f"words   {found.words[0]:,} only in A, {found.words[1]:,} only in B")
    for name, only in zip("AB", found.labels, strict=True):
        if only:
            more = ", …" if len(only) > top else ""
            out.print(f"labels  only in {name}: {', '.join(only[:top])}{more}")
    for name, (left, right) in found.parameters.items():
        out.print(f"{name}  {left!r:.60} in A, {right!r:.60} in B")
    for name, names in zip("AB", found.other_tables, strict=True):
        if names:
            out.print(f"counted in {name} alone: {', '.join(names)}")
    if found.learned:
        out.print("what was learned besides counts (weights) differs")
    if found.tables:
        out.print()
        events = table("events", "only in A", "only in B", "other count")
        ranked = sorted(found.tables.items(), key=lambda item: -(item[1].only_in_a + item[1].only_in_b))
        for name, change in ranked[:top]:
            row = change.only_in_a, change.only_in_b, change.other_count
            events.add_row(name, *(f"{n:,}" for n in row))
        out.print(events)
        if len(ranked) > top:
            out.print(f"and {plural(len(ranked) - top, 'more table')} (--top {len(ranked)} shows all)")


def _print_labels(out: Console, labels: Disagreements, top: int) -> None:
    share = 100 * labels.different / max(1, labels.tokens)
    out.print(
        f"{labels.different:,} of {plural(labels.tokens, 'token')} ({share:.2f} %) are labelled differently"
    )
    if labels.right is not None and labels.labelled:
        a, b = (100 * n / labels.labelled for n in labels.right)
        out.print(f"right: {a:.2f} % by A, {b:.2f} % by B ({b - a:+.2f})")
    if not labels.different:
        return
    out.print()
    pairs = table("A", "B", "times", title="Most frequent differences")
    for left, right, n in labels.pairs[:top]:
        pairs.add_row(left, right, f"{n:,}")
    out.print(pairs)
    out.print()
    examples = table("word", "A", "B", "right", "sentence")
    for each in labels.examples[:top]:
        examples.add_row(each.word, each.a, each.b, each.gold or "", f"{each.sentence + 1:,}")
    out.print(examples)
