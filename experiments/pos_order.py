"""Parts of speech on Brown in the order of the corpus: another reading of "34623 sentences" (000 §4.5).

The first 34,623 complete sentences, 1,000 of them held out, the rest split as in `experiments.pos`. Whoever
takes sentences in order trains on newspapers and tests on novels: more words are unknown.
"""

from __future__ import annotations

import argparse

from experiments.published import POS
from experiments.tagging_table import Task
from lab import corpora, terminal
from lab.store import Record

NOTES = """
The papers' accuracies imply how many test words are unknown; the order of the corpus comes closer to that on
  some splits, the shuffled one on others, and neither explains all: which sentences they had is not known.
"""
PAPERS_MODELS = ("ep1", "ecrn", "ep2", "ep1-word", "ecrn-word", "separate", "hmm", "tagger-fixed")
TASK = Task("pos_order", "Brown in corpus order", corpora.brown_in_order, POS, NOTES, PAPERS_MODELS)


def collect(options: argparse.Namespace) -> Record:
    return TASK.collect(options, options.split)


def main() -> None:
    parser = TASK.arguments(__doc__, "pos_order --data ../shared/data --split 1000/4000", "brown")
    parser.add_argument("--split", choices=corpora.BROWN_SPLITS, nargs="+", help="only these splits")
    TASK.show(parser, collect)


if __name__ == "__main__":
    terminal.run(main)
