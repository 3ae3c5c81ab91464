"""CRFsuite's files of attributes: a token a row, its label and its attributes, separated by tabs.

    B-NP  w[0]=the  pos[0]=DT  cap          `\\:` is a colon in an attribute, `\\\\` a backslash
    I-NP  w[0]=dog  pos[0]=NN:1

    O     w[0]=It   pos[0]=PRP              a blank line ends a sentence

Attributes are features (`text/features.py`): the key is what stands before `=`. corate counts them, so that
their only weight is 1. Words of other formats are written as `word=…`, further columns as `col2=…`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from corate.errors import InputError
from corate.text.corpus import UNLABELLED
from corate.text.formats.base import (
    Format,
    Labelling,
    Sentence,
    cut_return,
    is_blank,
    paragraphs,
    shortened,
)

ESCAPED = re.compile(r"\\(.)")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
WEIGHTED = re.compile(r"((?:[^:\\]|\\.)*):(.*)", re.DOTALL)


class Crfsuite(Format):
    """The label is always the first cell; text that is still to be labelled has one, too, of any kind."""

    name = "crfsuite"
    extensions = (".crfsuite",)

    def __init__(self, label: str | None = None, *, labelled: bool = True) -> None:
        super().__init__(label, labelled=labelled)
        if label not in (None, "1"):
            raise InputError(f"label {label!r}: in files of CRFsuite it is the first cell, leave --label out")

    def read(self, lines: Iterable[str], source: str, line: int = 1) -> Iterator[Sentence]:
        for first, group in paragraphs(lines):
            yield self._sentence(group, source, first + line - 1)

    def _sentence(self, lines: list[str], source: str, first: int) -> Sentence:
        places = [k for k, text in enumerate(lines) if not is_blank(text)]
        labels: list[str] = []
        features: list[list[str]] = []
        for place in places:
            label, *attributes = cut_return(lines[place])[0].split("\t")
            if self.labelled and not label.strip(" "):
                raise InputError(f"empty label in the row {shortened(lines[place])}", source, first + place)
            labels.append(label)
            features.append([_attribute(text, source, first + place) for text in attributes if text])
        words = ["\t".join(each) or UNLABELLED for each in features]
        made = Sentence([words] if words else [], None, lines, places, first, self.name, features)
        made.labels = labels if self.labelled else None
        return made

    def annotate(self, sentence: Sentence, added: Labelling) -> list[str]:
        """The label takes the place of the old one, and its probability follows a colon, as crfsuite tag -i
        has it."""
        lines = list(sentence.lines)
        for place, cell in zip(sentence.places, self._labels(added), strict=True):
            lines[place] = cell + lines[place][len(cut_return(lines[place])[0].split("\t")[0]) :]
        return _heads(added, sentence) + lines

    def compose(self, sentence: Sentence, added: Labelling | None) -> list[str]:
        labels = (sentence.labels or [UNLABELLED] * len(sentence)) if added is None else self._labels(added)
        names = ["word", *(f"col{k}" for k in range(2, len(sentence.columns) + 1))]
        rows = [
            "\t".join([label, *(f"{n}={_escaped(cell)}" for n, cell in zip(names, cells, strict=True))])
            for label, cells in zip(labels, zip(*sentence.columns, strict=True), strict=True)
        ]
        return [*([] if added is None else _heads(added, sentence)), *rows, ""]

    def _labels(self, added: Labelling) -> Sequence[str]:
        self.check_writable("label", added.labels, "\t\r\n")
        if added.marginals is not None:
            raise InputError(
                "CRFsuite's files have no place for the probabilities of all labels: use --to jsonl"
            )
        if added.probabilities is None:
            return added.labels
        return [f"{y}:{p:.6f}" for y, p in zip(added.labels, added.probabilities, strict=True)]


def _heads(added: Labelling, sentence: Sentence) -> list[str]:
    """As crfsuite tag -p has it: @probability."""
    if added.probability is None or not len(sentence):
        return []
    return [f"@probability\t{added.probability:.6f}"]


def _attribute(text: str, source: str, line: int) -> str:
    weighted = WEIGHTED.fullmatch(text)
    name = text if weighted is None else weighted[1]
    if weighted is not None:
        weight = NUMBER.fullmatch(weighted[2])
        if weight is None:
            raise InputError(f"{shortened(text)}: no number behind the colon (\\: is a colon)", source, line)
        if float(weighted[2]) != 1.0:
            raise InputError(
                f"{shortened(text)} has a weight other than 1, and corate counts attributes: write bins, "
                "such as length=5",
                source,
                line,
            )
    return ESCAPED.sub(r"\1", name)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace(":", "\\:")
