"""Named entities on the Dutch part of CoNLL-2002: Table 7 of 000 and Table IV of 002.

Every model, the published figures beside ours; what is chosen is chosen on testa, and the test is testb.
Entity F1 is conlleval's; the papers give none.
"""

from __future__ import annotations

from experiments.published import NER
from experiments.tagging_table import Task
from lab import corpora, terminal

NOTES = """
Of the data only the words are used. The papers count 13,221 sentences in ned.train, 2,305 in testa and 4,211
  in testb; the files as distributed hold 15,806, 2,895 and 5,195. The shares of unknown words agree.
"""
TASK = Task("ner", "CoNLL-2002 Dutch", corpora.conll2002, {corpora.CONLL_SPLIT: NER}, NOTES)
collect = TASK.collect


def main() -> None:
    parser = TASK.arguments(__doc__, "ner --data ../shared/data", "conll2002")
    TASK.show(parser, collect)


if __name__ == "__main__":
    terminal.run(main)
