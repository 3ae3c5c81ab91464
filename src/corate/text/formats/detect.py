"""Which format a file is in: by its name if that says so, else by its first lines.

By name (`.gz` is cut off, upper and lower case are the same): `.conll .iob .bio .tsv .crf` are conll,
`.conllu` conllu, `.jsonl .ndjson` jsonl, and `.txt` is text where no labels are wanted. By content, the first
rule that fits, on the lines that are neither blank nor comments nor -DOCSTART-:

    jsonl     the first line starts with `{`, and it is not the token `{` of a row (`{<TAB>PUNCT`, `{/(`)
    conllu    the first line has 10 tab-separated fields and starts with an ID
    wordtag   3 of 4 tokens have a slash inside; without labels: every token has, and some line has two
    conll     labelled:    there are tabs, or blank lines between rows, or all rows have as many cells
              unlabelled:  all rows have as many tabs, at least one; or there are blank lines after rows that
                           stand together, and all rows have as many cells (one word a line, too)
    text      unlabelled and nothing else

A pipe that delivers line by line is judged by the first line alone; name the format where that is too little.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import dropwhile, groupby
from pathlib import Path

from corate.errors import InputError
from corate.text.formats.base import is_blank, split_blanks
from corate.text.formats.by_name import FORMATS
from corate.text.formats.conll import IS_DOCSTART
from corate.text.formats.conllu import N_FIELDS
from corate.text.formats.lines import source_name

N_LINES = 200  # that are looked at, from the first row on
JSON_START = re.compile(r'\{([^ \t/]|\s*"|\s*$)|\[\s*\{')
CONLLU_ID = re.compile(r"[0-9]+([-.][0-9]+)?\t")
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


def detect(path: str | Path, head: str, labelled: bool = True) -> str:
    """Name of the format of a file whose first lines are `head`, by the rules above."""
    return _by_name(str(path), labelled) or _by_content(_head(head), labelled, source_name(path))


def _by_name(path: str, labelled: bool) -> str | None:
    path = path.lower().removesuffix(".gz")
    for name, format_ in FORMATS.items():
        if path.endswith(format_.extensions):
            return None if name == "text" and labelled else name
    return None


def _by_content(head: _Head, labelled: bool, source: str) -> str:
    if not head.rows:
        return "conll" if labelled else "text"
    for name, fits in RULES.items():
        if fits(head, labelled):
            return name
    if not labelled:
        return "text"
    raise InputError("format not recognised: give it with --format (conll, conllu, wordtag or jsonl)", source)


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
