"""Named entities on CoNLL-2002 Dutch without sentences of one word, as 003 says that its figures are.

MALLET's piecewise training cannot decode a sentence of one word: 003 leaves them out of training and test.
"""

from __future__ import annotations

from experiments.pos_order import PAPERS_MODELS
from experiments.published import NER
from experiments.tagging_table import Task
from lab import corpora, terminal

NOTES = """
13,155 sentences are left for training and 4,181 for testing; the papers have 13,221 and 4,211.
"""
TASK = Task(
    "ner_longer",
    "CoNLL-2002 Dutch, two words or more",
    corpora.conll2002_longer,
    {corpora.CONLL_SPLIT: NER},
    NOTES,
    (*PAPERS_MODELS, "pw"),
)
collect = TASK.collect


def main() -> None:
    parser = TASK.arguments(__doc__, "ner_longer --data ../shared/data", "conll2002")
    TASK.show(parser, collect)


if __name__ == "__main__":
    terminal.run(main)
