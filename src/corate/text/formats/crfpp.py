"""CRF++'s output, as crf_test writes it; its input is CoNLL columns, where nothing is a comment.

# 0.478113                                    the probability of the labels together (-v1, -v2)
Rockwell  NNP  B  B/0.992                     the label, and its probability (-v1)
Rockwell  NNP  B  B/0.992  B/0.992  I/0.001   and that of every label (-v2)

# 0 0.478113                                  the first of the n best sequences (-n)
"""

from __future__ import annotations

from corate.text.formats.base import Labelling, Sentence, cut_return
from corate.text.formats.conll import Conll


class Crfpp(Conll):
    """Columns as `Conll` reads them; labels as CRF++ writes them."""

    name = "crfpp"
    extensions = ()

    def write_labelling(self, sentence: Sentence, added: Labelling | None) -> str:
        if added is None or sentence.format not in (Conll.name, self.name):
            return super().write_labelling(sentence, added)
        return "".join(f"{line}\n" for line in self.annotate(sentence, added))

    def annotate(self, sentence: Sentence, added: Labelling) -> list[str]:
        lines = list(sentence.lines)
        self.check_writable("label", added.labels, " \t\r\n")
        for place, cells in zip(sentence.places, _cells(added), strict=True):
            text, end = cut_return(lines[place])
            lines[place] = f"{text}\t{cells}{end}"
        top = sentence.places[0] if sentence.places else 0
        return lines[:top] + (_head(added) if sentence.places else []) + lines[top:]

    def compose(self, sentence: Sentence, added: Labelling | None) -> list[str]:
        if added is None:
            return super().compose(sentence, added)
        rows = super().compose(sentence, None)
        ends = [*_cells(added), None]
        return _head(added) + [
            row if end is None else f"{row}\t{end}" for row, end in zip(rows, ends, strict=True)
        ]


def _head(added: Labelling) -> list[str]:
    """# rank probability"""
    if added.probability is None:
        return []
    rank = [] if added.rank is None else [str(added.rank - 1)]
    return [" ".join(["#", *rank, f"{added.probability:.6g}"])]


def _cells(added: Labelling) -> list[str]:
    """What is added to each row: B, or B/0.99, or that and the same of every label."""
    cells = list(added.labels)
    if added.probabilities is not None:
        cells = [f"{y}/{p:.6g}" for y, p in zip(cells, added.probabilities, strict=True)]
    if added.marginals is not None:
        every = ("\t".join(f"{y}/{max(p, 0.0):.6g}" for y, p in token.items()) for token in added.marginals)
        cells = [f"{cell}\t{more}" for cell, more in zip(cells, every, strict=True)]
    return cells
