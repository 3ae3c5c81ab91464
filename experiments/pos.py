"""Part-of-speech tagging on the Brown corpus: Tables 2–6 of 000 and Table III of 002.

Every model on every split, the published figures beside ours. A model that does not end within the cap is
stopped; one that a smaller split shows to be too slow is not begun, and the table says what it would take.
"""

from __future__ import annotations

import argparse

import corpora
import tagging_table
import terminal
from published import POS
from results import Record, check_writable, write_json

TITLE = "Brown"
NOTES = f"""
The gap to CRF++ is partly regularisation: compare CRFsuite with c2=1, its default, and with c2=0.1.
The papers' sample of Brown is not known. Its three accuracies imply more unknown words than ours has, and
  CRF++'s in Tab. 6 do not fit together. A spelling feature that does not fire (no hyphen) is no feature
  here; the papers do not say. With it as one, EP1 has 87.5 on 1000/4000 and 95.6 on 32623/1000.
{tagging_table.NOTES}
"""


def collect(options: argparse.Namespace) -> Record:
    corpus = corpora.brown(options.data)
    return tagging_table.collect("pos", TITLE, corpus, options.split or corpus.splits, POS, options)


def parser() -> argparse.ArgumentParser:
    example = "python experiments/pos.py --data ../shared/data --split 1000/4000 --json pos.json"
    made = tagging_table.options_of(terminal.arguments(__doc__, example, data="folder that holds brown/"))
    made.add_argument("--split", choices=corpora.BROWN_SPLITS, nargs="+", help="only these splits")
    return made


def main() -> None:
    options = parser().parse_args()
    check_writable(options.json)
    found = collect(options)
    for name, split in found["splits"].items():
        tagging_table.print_split(f"{TITLE} {name}", split)
    terminal.print_notes(NOTES)
    if options.json:
        write_json(options.json, found)


if __name__ == "__main__":
    terminal.run(main)
