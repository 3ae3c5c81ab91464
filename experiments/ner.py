"""Named entities on the Dutch part of CoNLL-2002: Table 7 of 000 and Table IV of 002.

Every model, the published figures beside ours; what is chosen is chosen on testa, and the test is testb.
Entity F1 is conlleval's; the papers give none.
"""

from __future__ import annotations

import argparse

import corpora
import tagging_table
import terminal
from published import NER
from results import Record, check_writable, write_json

TITLE = "CoNLL-2002 Dutch"
NOTES = f"""
Of the data only the words are used. The papers count 13,221 sentences in ned.train, 2,305 in testa and 4,211
  in testb; the files as distributed hold 15,806, 2,895 and 5,195. The shares of unknown words agree.
{tagging_table.NOTES}
"""


def collect(options: argparse.Namespace) -> Record:
    corpus = corpora.conll2002(options.data)
    published = {corpora.CONLL_SPLIT: NER}
    return tagging_table.collect("ner", TITLE, corpus, published, published, options)


def parser() -> argparse.ArgumentParser:
    example = "python experiments/ner.py --data ../shared/data"
    return tagging_table.options_of(terminal.arguments(__doc__, example, data="folder that holds conll2002/"))


def main() -> None:
    options = parser().parse_args()
    check_writable(options.json)
    found = collect(options)
    for name, split in found["splits"].items():
        tagging_table.print_split(f"{TITLE}, {name}", split)
    terminal.print_notes(NOTES)
    if options.json:
        write_json(options.json, found)


if __name__ == "__main__":
    terminal.run(main)
