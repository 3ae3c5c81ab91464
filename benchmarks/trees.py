"""Dependency relations where the tree is known: TreeTagger beside the Tagger of the chain, in one run.

Words and universal tags are columns, HEAD is given to the trees; accuracy on the test part of each treebank,
and CPU seconds of training and tagging.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from corate import Tagger, TreeTagger, read_corpus
from lab import terminal
from lab.tables import Cell, Table

TREEBANKS = {"English ParTUT": "en_partut", "Hungarian Szeged": "hu_szeged"}
MODELS: dict[str, tuple[type[Tagger], str, str]] = {
    "Tagger, chain": (Tagger, "fitted", "deprel"),
    "TreeTagger, fixed weights": (TreeTagger, "fixed", "deprel+head"),
    "TreeTagger": (TreeTagger, "fitted", "deprel+head"),
}


def measured(data: Path, treebank: str, kind: type[Tagger], weights: str, label: str) -> tuple[float, float]:
    """Accuracy on the test part, and CPU seconds."""

    def part(name: str) -> Any:
        return read_corpus(data / "ud" / f"{treebank}-ud-{name}.conllu", "conllu", label=label)

    train, test = part("train"), part("test")
    started = time.process_time()
    accuracy = kind(weights=weights).fit(train).score(test)
    return accuracy, time.process_time() - started


def main() -> None:
    options = terminal.arguments(__doc__, "benchmarks.trees", data="folder that holds ud/").parse_args()
    found = {
        (name, title): measured(options.data, treebank, *made)
        for title, treebank in TREEBANKS.items()
        for name, made in MODELS.items()
    }
    chain = next(iter(MODELS))
    rows = []
    for name in MODELS:
        pairs = [(found[name, title], found[chain, title][1]) for title in TREEBANKS]
        cells = [text for (a, s), base in pairs for text in (f"{100 * a:.2f}", f"{s:.2f}", f"{s / base:.2f}")]
        rows.append((name, [Cell(text) for text in cells]))
    heads = ["", *["accuracy, %", "CPU s", "of the chain's"] * len(TREEBANKS)]
    Table("Relations given the tree", heads, rows, [(title, 3) for title in TREEBANKS]).print()


if __name__ == "__main__":
    terminal.run(main)
