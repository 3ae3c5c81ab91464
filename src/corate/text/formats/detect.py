"""Which format a file is in: what its first lines cannot be mistaken for, else what its name says, else what
they look like.

What cannot be mistaken: a line that is a JSON object; rows of 10 tab-separated fields that begin with an ID
(CoNLL-U), unless the label is a column's number. By name (`.gz` is cut off, upper and lower case are the
same): `.conll .iob .bio .tsv .crf` are conll, `.conllu` conllu, `.jsonl .ndjson` jsonl. Otherwise the first
rule that fits, on the lines that are neither blank nor comments nor -DOCSTART-:

    jsonl     the first line starts with `{`, and it is not the token `{` of a row (`{<TAB>PUNCT`, `{/(`)
    conllu    the first line has 10 tab-separated fields and starts with an ID
    wordtag   3 of 4 tokens have a slash inside; without labels: every token has, and some line has two
    conll     labelled:    there are tabs, or blank lines between rows, or all rows have as many cells
              unlabelled:  all rows have as many tabs, at least one; or there are blank lines after rows that
                           stand together, and all rows have as many cells (one word a line, too)
    text      unlabelled and nothing else; never where a label is named or columns are needed

So `.txt` says little: CoNLL-2000's own files are called so. Where another reading is as good, the answer says
so (`Detected.doubt`). A pipe that delivers line by line is judged by the first line alone; name the format
where that is too little.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import dropwhile, groupby
from pathlib import Path
from typing import NamedTuple

from corate.errors import InputError
from corate.text.formats.base import is_blank, split_blanks
from corate.text.formats.by_name import FORMATS
from corate.text.formats.conll import IS_DOCSTART
from corate.text.formats.conllu import N_FIELDS
from corate.text.formats.lines import source_name

N_LINES = 200  # that are looked at, from the first row on
FEW_ROWS = 8  # that may have as many words by accident
JSON_START = re.compile(r'\{([^ \t/]|\s*"|\s*$)|\[\s*\{')
CONLLU_ID = re.compile(r"[0-9]+([-.][0-9]+)?\t")
WHOLE_OBJECT = re.compile(r'\{\s*".*\}\s*', re.DOTALL)
TAGGED = re.compile(r".+/.+", re.DOTALL)


@dataclass(frozen=True)
class _Head:
    """The first lines: `groups` of rows that stand together, and whether a blank line follows a row."""

    groups: list[list[str]]
    has_gaps: bool

    @property
    def rows(self) -> list[str]:
        return [row for group in self.groups for row in group]

    @property
    def cells(self) -> list[list[str]]:
        return [split_blanks(row) for row in self.rows]

    def is_even(self) -> bool:
        return len({len(cells) for cells in self.cells}) == 1


class Detected(NamedTuple):
    """The name of a format, and what to tell the user where it is not certain."""

    name: str
    doubt: str | None = None


def detect(path: str | Path, head: str, labelled: bool = True) -> str:
    """Name of the format of a file whose first lines are `head`, by the rules above."""
    return identify(path, head, labelled).name


def identify(
    path: str | Path, text: str, labelled: bool = True, label: str | None = None, plain: bool = True
) -> Detected:
    """As `detect`, with doubts. `label`: where the label is said to be; `plain`: whether it may be plain
    text, which has neither labels nor columns."""
    named, head = _by_name(str(path)), _head(text)
    plain = plain and not labelled and label is None
    if named == "text" and not (plain and not head.rows):
        named = None
    if not head.rows:
        return Detected(named or ("text" if plain else "conll"))
    clear = _unmistakable(head, label)
    if clear is not None and named not in (None, clear):
        return Detected(clear, f"read as {clear}, although its name says {named}: --format {named} if it is")
    if clear is not None or named is not None:
        return Detected(clear or named or "")
    for name, fits in RULES.items():
        if fits(head, labelled) and not (label is not None and name == "wordtag"):
            return Detected(name, _doubt(name, head) if plain else None)
    if labelled:
        told = "format not recognised: give it with --format (conll, conllu, wordtag or jsonl)"
        raise InputError(told, source_name(path))
    return Detected("text", _doubt("text", head)) if plain else Detected("conll")


def _by_name(path: str) -> str | None:
    path = path.lower().removesuffix(".gz")
    return next((name for name, each in FORMATS.items() if path.endswith(each.extensions)), None)


def _unmistakable(head: _Head, label: str | None) -> str | None:
    if WHOLE_OBJECT.fullmatch(head.rows[0]):
        return "jsonl"
    numbered = label is not None and label.lstrip("-").isdecimal()
    if not numbered and all(CONLLU_ID.match(row) and row.count("\t") == N_FIELDS - 1 for row in head.rows):
        return "conllu"
    return None


def _doubt(name: str, head: _Head) -> str | None:
    """What is said where the same lines might be columns as well as plain text."""
    n_rows, n_cells = len(head.rows), len(head.cells[0])
    if name == "conll" and "\t" not in head.rows[0] and n_rows < FEW_ROWS:
        return "read as columns, a token a row: --format text if each line is a sentence"
    if name == "text" and n_rows >= 3 and n_cells > 1 and head.is_even():
        return (
            f"read as plain text, though every line has {n_cells} words: --format conll if these are columns"
        )
    return None


def _head(text: str) -> _Head:
    lines = [line.removesuffix("\r").lstrip(" \t") for line in text.removesuffix("\n").split("\n")]
    lines = [line for line in lines if not IS_DOCSTART.match(line)]
    without_comments = [line for line in lines if not line.startswith("#")]
    if not all(map(is_blank, without_comments)):
        lines = without_comments
    lines = list(dropwhile(is_blank, lines))[:N_LINES]
    groups = [list(rows) for blank, rows in groupby(lines, is_blank) if not blank]
    return _Head(groups, any(map(is_blank, lines)))


def _is_jsonl(head: _Head, labelled: bool) -> bool:
    return JSON_START.match(head.rows[0]) is not None


def _is_conllu(head: _Head, labelled: bool) -> bool:
    first = head.rows[0]
    return first.count("\t") == N_FIELDS - 1 and CONLLU_ID.match(first) is not None


def _is_wordtag(head: _Head, labelled: bool) -> bool:
    tokens = [token for cells in head.cells for token in cells]
    n_tagged = sum(TAGGED.fullmatch(token) is not None for token in tokens)
    if labelled:
        return n_tagged >= 0.75 * len(tokens)
    return n_tagged == len(tokens) > len(head.rows)


def _is_conll(head: _Head, labelled: bool) -> bool:
    n_tabs = {row.count("\t") for row in head.rows}
    if labelled:
        return n_tabs != {0} or head.has_gaps or head.is_even()
    if len(n_tabs) == 1 and n_tabs != {0}:
        return True
    return head.has_gaps and head.is_even() and any(len(group) > 1 for group in head.groups)


RULES = {"jsonl": _is_jsonl, "conllu": _is_conllu, "wordtag": _is_wordtag, "conll": _is_conll}
