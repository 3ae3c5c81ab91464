"""corate demo: the whole way in a second, on the bundled sample."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from corate.cli.common import console
from corate.cli.explain import print_explanations

if TYPE_CHECKING:
    from rich.console import Console

SENTENCE = "My neighbour carefully repainted the old boats in Lisbon ."


@click.command()
@click.argument("sentence", default=SENTENCE)
@click.option("--page", is_flag=True, help="Open a page on the sample's models, as corate serve does.")
@click.option("--port", default=8300, show_default=True, type=click.IntRange(0, 65535), help="Of the page.")
def demo(sentence: str, page: bool, port: int) -> None:
    """Train on the bundled sample, label SENTENCE, and say why.

    \b
    Example:
      corate demo
      corate demo "Ada Lovelace wrote the first program ."
      corate demo --page
    """
    if page:
        return _page(port)
    from corate.errors import InputError
    from corate.models.tagger.tagger import Tagger
    from corate.text.sample import load_sample

    tokens = sentence.split()
    if not tokens:
        raise InputError("an empty sentence: give words, e.g. corate demo 'The dog barked .'")
    out = console()
    X, y = load_sample("train")
    started = time.perf_counter()
    crf = Tagger().fit(X, y)
    crf.predict(X[:1])
    milliseconds = 1000 * (time.perf_counter() - started)
    n_tokens = crf.counts_.n_tokens
    out.print(
        f"Counted {n_tokens:,} tokens of {len(X)} sentences and fitted the weights in {milliseconds:.0f} ms."
    )
    test = load_sample("test")
    accuracy = crf.score(*test)
    out.print(f"On {len(test[0])} other sentences it labels {100 * accuracy:.1f} % of the words right.\n")
    print_explanations(out, crf.explain(tokens), 2)
    _entities(out, tokens)
    out.print(
        "\nYour own text, in two columns (word TAB label):\n"
        "  corate train train.conll -m my.model\n"
        "  corate tag -m my.model text.txt\n"
        "  corate eval -m my.model test.conll\n"
        "In Python: corate.Tagger().fit(X, y).predict(X)   More: corate docs, corate --help",
        style="dim",
    )
    return None


def _page(port: int) -> None:
    """The sample's models, which learn and are gone afterwards."""
    import tempfile
    from pathlib import Path

    from corate.cli.serve import start
    from corate.models.tagger.tagger import Tagger
    from corate.text.sample import load_sample

    with tempfile.TemporaryDirectory(prefix="corate-") as folder:
        for name, column in (("words", "upos"), ("names", "entity")):
            Tagger().fit(*load_sample("train", column)).save(Path(folder) / f"{name}.model")
        start(
            tuple(str(Path(folder) / f"{name}.model") for name in ("words", "names")), port, True, None, None
        )


def _entities(out: Console, tokens: list[str]) -> None:
    from corate.lattice.constraints import Constraints
    from corate.models.tagger.tagger import Tagger
    from corate.text.sample import load_sample
    from corate.text.spans import spans

    crf = Tagger().fit(*load_sample("train", "entity"))
    (labels,) = crf.predict([tokens], Constraints(scheme="IOB2"))
    found = [f"{' '.join(tokens[span.start : span.end])} ({span.type})" for span in spans(labels, "IOB2")]
    out.print(f"\nEntities, from the sample's other column: {', '.join(found) or 'none'}")
