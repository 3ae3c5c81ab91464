"""CoNLL columns, as CRF++ reads them too: a token a row, a blank line after each sentence.

    -DOCSTART- -X- O          kept, not a token
                              blank line (empty, or blanks and tabs only)
    # a comment               kept, not a token
    EU      NNP  B-ORG        word, further observed columns, label
    rejects VBZ  O

The first token row decides for the file: with a tab in it, columns are separated by single tabs (and cells
may hold blanks), otherwise by runs of blanks. A row that starts with `#` is a comment only where it stands
before the first token of a sentence and has another number of columns than the first row that does not start
with `#`; so `#<TAB>SYM` is a token.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import ClassVar

from corate.errors import InputError
from corate.text.corpus import Corpus
from corate.text.formats.base import (
    Format,
    Labelling,
    Sentence,
    comment_line,
    cut_return,
    is_blank,
    paragraphs,
    shortened,
)
from corate.text.formats.quick_rows import DOCSTART, PlainRows, cut_label, plain_columns

RUN_TOKENS, RUN_LINES = 500_000, 500_000  # of plain rows that are read before they are handed on
NO_BREAK = "\u00a0"  # a blank that is text
IS_DOCSTART = re.compile(DOCSTART + r"(?=[ \t\r]|$)")


@dataclass(frozen=True, slots=True)
class _Layout:
    """What the first token row says about all rows. Without one (width 0), rows with `#` are comments."""

    separator: str = "\t"
    width: int = 0
    label: int | None = None  # index of the label's column

    def cells(self, text: str) -> list[str]:
        cells = text.split(self.separator)
        if self.separator == " " and "" in cells:
            return [cell for cell in cells if cell]
        return cells


class Conll(Format):
    """`label` is the number of the label's column, from 1, or from −1 backwards.

    It is the last by default; text that is still to be labelled has one only if it is given.
    """

    name = "conll"
    extensions: ClassVar[tuple[str, ...]] = (".conll", ".iob", ".bio", ".tsv", ".crf")

    def __init__(self, label: str | None = None, *, labelled: bool = True) -> None:
        super().__init__(label, labelled=labelled)
        number = "-1" if label is None else label
        if not re.fullmatch(r"-?[1-9][0-9]{0,5}", number):
            raise InputError(f"label column {number!r}: give a number from 1 on, or -1 for the last column")
        self._label_column = int(number)
        self._layout_read = _Layout()  # of the file that was read last
        self._layout_known: _Layout | None = None  # of a file whose first lines were shown

    def begin_with(self, head: Iterable[str], source: str) -> None:
        layout = self._head(iter(head), source)[1]
        self._layout_known = layout if layout.width else None

    def read(self, lines: Iterable[str], source: str, line: int = 1) -> Iterator[Sentence]:
        lines, head = iter(lines), list[str]()
        if line == 1:
            self._layout_read = _Layout()
        if not self._layout_read.width:
            head, self._layout_read = self._head(lines, source, line)
        yield from self._sentences(line, chain(head, lines), self._layout_read, source)

    def _sentences(self, line: int, lines: Iterable[str], layout: _Layout, source: str) -> Iterator[Sentence]:
        """Sentences of lines of which the first has this number in the file."""
        for first, group in _runs(line, lines):
            plain = self._plain_sentence(first, group, layout)
            if plain is not None:
                yield plain
                continue
            for offset, lines_ in paragraphs(group, _is_docstart):
                yield self._sentence(first + offset - 1, lines_, layout, source)

    def read_runs(self, blocks: Iterable[list[str]], source: str) -> Iterator[Sentence | Corpus]:
        """Plain rows in one go; from the first block on that has anything else, sentence by sentence."""
        blocks = iter(blocks)
        first = next(blocks, [])
        _, layout = self._head(iter(first), source)
        if not layout.width:
            yield from self.read(chain(first, chain.from_iterable(blocks)), source)
            return
        plain = PlainRows(layout.width, layout.separator, layout.label, self.labelled)
        line, left, handed_on = 1, list[str](), 1
        for block in chain([first], blocks):
            left += block
            end = len(left) - next((k for k, text in enumerate(reversed(block)) if not text), len(left))
            if end and not plain.read(left[:end]):
                break
            line, left = line + end, left[end:]
            if plain.n_tokens >= RUN_TOKENS or (plain.n_tokens and line >= handed_on + RUN_LINES):
                yield plain.take()
                handed_on = line
        if plain.n_tokens:
            yield plain.take()
        yield from self._sentences(line, chain(left, chain.from_iterable(blocks)), layout, source)

    def _head(self, lines: Iterator[str], source: str, first: int = 1) -> tuple[list[str], _Layout]:
        """Lines up to the first row that is surely a token, and the layout that it shows; none if known."""
        if self._layout_known is not None:
            return [], self._layout_known
        head: list[str] = []
        for line in lines:
            head.append(line)
            if not (line.startswith("#") or is_blank(line) or _is_docstart(line)):
                self._layout_read = self._layout(cut_return(line)[0], source, first + len(head) - 1)
                return head, self._layout_read
        return head, _Layout()

    def _layout(self, text: str, source: str, line: int) -> _Layout:
        separator = "\t" if "\t" in text else " "
        width = len(_Layout(separator).cells(text))
        if not self.labelled and self.label is None:
            return _Layout(separator, width)
        if width == 1:
            raise InputError(f"no label: the row {shortened(text)} has one column only", source, line)
        column = self._label_column
        if abs(column) > width:
            message = f"label column {column} is out of range: the row {shortened(text)} has {width} columns"
            raise InputError(message, source, line)
        return _Layout(separator, width, column - 1 if column > 0 else width + column)

    def _plain_sentence(self, first: int, lines: list[str], layout: _Layout) -> Sentence | None:
        """A sentence of sound token rows and nothing else, as most are; None where a closer look is due."""
        rows = lines if lines[-1] else lines[:-1]
        columns = plain_columns(rows, layout.width, layout.separator)
        if columns is None:
            return None
        labels = cut_label(columns, layout.label, self.labelled) or []
        if not all(map(str.strip, columns[0])) or not all(map(str.strip, labels)):
            return None
        places = range(len(rows))
        return Sentence(columns, labels if self.labelled else None, lines, places, first, self.name)

    def _sentence(self, first: int, lines: list[str], layout: _Layout, source: str) -> Sentence:
        columns, places = _columns(first, lines, layout, source)
        labels = (cut_label(columns, layout.label, self.labelled) or []) if columns else []
        sentence = Sentence(columns, labels if self.labelled else None, lines, places, first, self.name)
        _refuse_empty("word", sentence.words, sentence, source)
        _refuse_empty("label", labels, sentence, source)
        return sentence

    def annotate(self, sentence: Sentence, added: Labelling) -> list[str]:
        lines = list(sentence.lines)
        n_added = 1 + (added.probabilities is not None) + (added.marginals is not None)
        first = sentence.places[0] if sentence.places else len(lines)
        for place in range(first):
            lines[place] = self._still_comment(lines[place], n_added)
        if not sentence.places:
            return lines
        top = sentence.places[0]
        separator = _separator(lines[top])
        self.check_writable("label", added.labels, separator + "\t\r\n")
        ends = _joined(_ends(added), separator)
        if isinstance(sentence.places, range):  # plain rows, of which none ends in a return
            lines[: len(ends)] = [line + separator + cells for line, cells in zip(lines, ends, strict=False)]
        else:
            for place, cells in zip(sentence.places, ends, strict=True):
                text, end = cut_return(lines[place])
                # Blanks around an only column would be part of it where a tab follows.
                text = text.strip(" ") if self._layout_read.width == 1 else text
                lines[place] = text + separator + cells + end
        if added.remark is not None:
            lines.insert(top, _comment_row(added.remark, lines[top], _Layout(separator)))
        return lines

    def _still_comment(self, line: str, n_added: int) -> str:
        """A comment that would have as many columns as the token rows with what is added to them, with its
        last two joined by white space that separates none."""
        text, end = cut_return(line)
        layout = self._layout_read if self._layout_read.width > 1 else _Layout("\t", self._layout_read.width)
        *others, last = layout.cells(text) if text.startswith("#") else [""]
        if not others or len(others) + 1 != layout.width + n_added:
            return line
        return f"{layout.separator.join(others)}{NO_BREAK if layout.separator == ' ' else ' '}{last}{end}"

    def compose(self, sentence: Sentence, added: Labelling | None) -> list[str]:
        columns: list[Sequence[str]] = [*sentence.columns]
        columns += [] if sentence.labels is None else [sentence.labels]
        columns += [] if added is None else _ends(added)
        # A single column shows no tab: its blanks would separate columns.
        forbidden = "\t\r\n" if len(columns) > 1 else " \t\r\n"
        for column in columns:
            self.check_writable("value", column, forbidden)
        if any(map(_is_docstart, sentence.words)):
            raise InputError("the word '-DOCSTART-' cannot be written in the format conll: use --to jsonl")
        comments = [] if added is None or added.remark is None else [comment_line(added.remark)]
        return [*comments, *_joined(columns, "\t"), ""]


def _is_docstart(line: str) -> bool:
    return line.startswith("-") and IS_DOCSTART.match(line) is not None


def _runs(first: int, lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Lines up to the first empty one after some text, as soon as it is there, and the first's number."""
    group = list[str]()
    for has_text, run in groupby(lines, bool):
        if has_text:
            group += run
            continue
        for n_empty, line in enumerate(run):
            group.append(line)
            if n_empty == 0 and len(group) > 1:
                yield first, group
                first, group = first + len(group), []
    if group:
        yield first, group


def _columns(first: int, lines: list[str], layout: _Layout, source: str) -> tuple[list[list[str]], list[int]]:
    """Columns of the rows that are tokens, and their places in `lines`."""
    rows: dict[int, list[str]] = {}
    for place, line in enumerate(lines):
        text = line[:-1] if line.endswith("\r") else line
        if is_blank(text) or (place == 0 and _is_docstart(text)):
            continue
        cells = layout.cells(text)
        if layout.width == 1 and text[0] == " " and _is_docstart(text.strip(" ")):
            raise InputError(f"a blank before {DOCSTART}: leave it out", source, first + place)
        if len(cells) == layout.width and (layout.separator == "\t" or "\t" not in text):
            rows[place] = cells
        elif rows or not text.startswith("#"):
            raise InputError(_misfit(text, len(cells), layout), source, first + place)
    return [list(column) for column in zip(*rows.values(), strict=True)], list(rows)


def _misfit(text: str, width: int, layout: _Layout) -> str:
    if layout.separator == " " and "\t" in text:
        return f"a tab in a file whose columns are separated by blanks: {shortened(text)}"
    return f"{_count(width)} where the first row has {layout.width}: {shortened(text)}"


def _count(number: int) -> str:
    return "1 column" if number == 1 else f"{number} columns"


def _refuse_empty(what: str, cells: list[str], sentence: Sentence, source: str) -> None:
    for cell, place in zip(cells, sentence.places, strict=bool(cells)):
        if not cell.strip(" "):
            message = f"empty {what} in the row {shortened(sentence.lines[place])}"
            raise InputError(message, source, sentence.line + place)


def _separator(line: str) -> str:
    """Of a token row; a row of one column shows none, and a tab is the safer one to add."""
    return " " if "\t" not in line and " " in cut_return(line)[0].strip(" ") else "\t"


def _ends(added: Labelling) -> list[Sequence[str]]:
    """The columns that are added: labels, their probabilities, those of all labels."""
    columns: list[Sequence[str]] = [added.labels]
    if added.probabilities is not None:
        columns.append([f"{p:.4f}" for p in added.probabilities])
    if added.marginals is not None:
        columns.append([added.chances(k, "=", "|") for k in range(len(added.labels))])
    return columns


def _joined(columns: Sequence[Sequence[str]], separator: str) -> list[str]:
    if len(columns) == 1:
        return list(columns[0])
    return [separator.join(cells) for cells in zip(*columns, strict=True)]


def _comment_row(comment: str, token_row: str, layout: _Layout) -> str:
    """The comment, without the blank after `#` where it would have as many columns as a token row."""
    line = comment_line(comment)
    if len(layout.cells(line)) == len(layout.cells(token_row)):
        line = "#" + line[2:]
    return line + cut_return(token_row)[1]
