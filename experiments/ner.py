"""Named entities on the Dutch part of CoNLL-2002: Table 7 of 000 and Table IV of 002.

EP1 and ECRN as published (μ_oov = 1), and EP1 with the exponent μ_oov chosen on testa; the test is testb.
The published figures stand beside ours. Entity F1 is conlleval's; the papers give none.
"""

from __future__ import annotations

import corpora
import terminal
from measure import COMMON_NOTES, measure_all, print_results
from published import NER

NOTES = f"""
Of the data only the words are used. The papers count 13,221 sentences in ned.train, 2,305 in testa and 4,211
  in testb; the files as distributed hold 15,806, 2,895 and 5,195. The shares of unknown words agree
  (≈ follows from the three published accuracies).
{COMMON_NOTES}
"""


def main() -> None:
    example = "python experiments/ner.py --data ../shared/data"
    options = terminal.arguments(__doc__, example, data="folder that holds conll2002/").parse_args()
    corpus = corpora.conll2002(options.data)
    name, split = corpora.CONLL_SPLIT, corpus.splits[corpora.CONLL_SPLIT]
    print_results(f"CoNLL-2002 Dutch, {name}", measure_all(name, split, corpus.held_out), NER)
    terminal.print_notes(NOTES)


if __name__ == "__main__":
    terminal.run(main)
