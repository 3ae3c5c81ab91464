"""JSON lines: an object a line, with the tokens and the labels of a sentence; other keys survive.

{"tokens": ["The", "dog"], "labels": ["DET", "NOUN"], "id": 7}
{"tokens": [["The", "the"], ["dogs", "dog"]], "labels": ["DET", "NOUN"]}        several observed columns
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

from corate.errors import InputError
from corate.text.corpus import UNLABELLED
from corate.text.formats.base import Format, Labelling, Sentence, cut_return, is_blank

ESCAPED_SURROGATE = re.compile(r"\\u[dD]")
NO_TEXT = re.compile("[\ud800-\udfff\0]")
ESCAPED_NUL = "\\u0000"


class Jsonl(Format):
    """`label` is the key of the labels, `labels` by default."""

    name = "jsonl"
    line_by_line = True
    extensions = (".jsonl", ".ndjson")

    width = 0  # number of observed columns, as soon as a sentence shows it
    on_bad: Callable[[InputError], object] | None = None  # told of a bad line, which is then passed over

    def read(self, lines: Iterable[str], source: str, line: int = 1) -> Iterator[Sentence]:
        self.width = 0 if line == 1 else self.width
        for number, text in enumerate(lines, line):
            try:
                yield self._sentence(text, (source, number))
            except InputError as error:
                if self.on_bad is None:
                    raise
                self.on_bad(error)

    def _sentence(self, text: str, where: tuple[str, int]) -> Sentence:
        if self.on_bad is not None and NO_TEXT.search(text):
            raise InputError("bytes that are not of the encoding", *where)
        columns, labels = ([], []) if is_blank(text) else self._parsed(text, where)
        self.width = self.width or len(columns)
        if columns and len(columns) != self.width:
            raise InputError(f"tokens with {len(columns)} columns where the first have {self.width}", *where)
        places = [0] * len(columns[0]) if columns else []
        return Sentence(columns, labels if self.labelled else None, [text], places, where[1], self.name)

    @property
    def _key(self) -> str:
        return "labels" if self.label is None else self.label

    def _parsed(self, line: str, where: tuple[str, int]) -> tuple[list[list[str]], list[str]]:
        record = _record(line, where)
        tokens = _list(record, "tokens", where)
        columns = _columns(tokens, where)
        if not self.labelled:
            if ESCAPED_NUL in line:
                _refuse_nul(columns, where)
            return columns, []
        labels = _list(record, self._key, where)
        if len(labels) != len(tokens):
            raise InputError(f"{len(tokens)} tokens and {len(labels)} {self._key}: give one for each", *where)
        for i, label in enumerate(labels, 1):
            if label is not None and (not isinstance(label, str) or not label):
                raise InputError(f"label {i} is {_shown(label)}: a label is a string, not empty", *where)
        if ESCAPED_NUL in line:
            _refuse_nul([*columns, [label or "" for label in labels]], where)
        return columns, [UNLABELLED if label is None else label for label in labels]

    def annotate(self, sentence: Sentence, added: Labelling) -> list[str]:
        if is_blank(sentence.lines[0]):
            return sentence.lines
        record = json.loads(sentence.lines[0])
        end = cut_return(sentence.lines[0])[1]
        return [_dumped({**record, **_predicted(added)}) + end]

    def compose(self, sentence: Sentence, added: Labelling | None) -> list[str]:
        several = len(sentence.columns) > 1
        tokens = [list(cells) for cells in zip(*sentence.columns, strict=True)] if several else sentence.words
        record: dict[str, Any] = {"tokens": tokens}
        if sentence.labels is not None:
            record[self._key] = sentence.labels
        return [_dumped({**record, **_predicted(added)})]


def _record(line: str, where: tuple[str, int]) -> dict[str, Any]:
    try:
        record = json.loads(line, parse_constant=_refuse, parse_float=_finite)
        if ESCAPED_SURROGATE.search(line):
            _dumped(record).encode("utf-8")
    except json.JSONDecodeError as error:
        raise InputError(f"invalid JSON: {error.msg} (column {error.colno})", *where) from error
    except UnicodeEncodeError as error:
        raise InputError("invalid JSON: half of a surrogate pair", *where) from error
    except ValueError as error:
        raise InputError(f"invalid JSON: {error}", *where) from error
    except RecursionError as error:
        raise InputError("invalid JSON: nested too deeply", *where) from error
    if not isinstance(record, dict):
        raise InputError(f'not a JSON object: {_shown(record)}, expected {{"tokens": […], …}}', *where)
    return record


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _finite(text: str) -> float:
    """Of a number beyond all that can be told apart nothing would be left but Infinity, which is no JSON."""
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"the number {text[:20]} is too large")
    return number


def _refuse_nul(columns: list[list[str]], where: tuple[str, int]) -> None:
    if any("\0" in cell for column in columns for cell in column):
        raise InputError("a token or a label has the NUL character: no text has it, leave it out", *where)


def _list(record: dict[str, Any], key: str, where: tuple[str, int]) -> list[Any]:
    if key not in record:
        keys = ", ".join(map(_shown, record)) or "none"
        raise InputError(f'no key "{key}" in the object (its keys: {keys})', *where)
    if not isinstance(record[key], list):
        raise InputError(f'the value of "{key}" is {_shown(record[key])}: expected a list', *where)
    return cast(list[Any], record[key])


def _columns(tokens: list[Any], where: tuple[str, int]) -> list[list[str]]:
    """Tokens as they stand in the file (strings, or lists of strings), turned into columns."""
    rows = [[token] if isinstance(token, str) else token for token in tokens]
    for i, row in enumerate(rows, 1):
        if not isinstance(row, list) or not row or not all(isinstance(cell, str) for cell in row):
            raise InputError(f"token {i} is {_shown(row)}: a token is a string or a list of strings", *where)
        if not row[0]:
            raise InputError(f"the word of token {i} is empty", *where)
        if len(row) != len(rows[0]):
            raise InputError(f"token {i} has {len(row)} columns where the first has {len(rows[0])}", *where)
    return [list(column) for column in zip(*rows, strict=True)]


def _predicted(labelling: Labelling | None) -> dict[str, Any]:
    if labelling is None:
        return {}
    added: dict[str, Any] = {"predicted": list(labelling.labels)}
    if labelling.probabilities is not None:
        added["probabilities"] = [round(float(p), 4) for p in labelling.probabilities]
    if labelling.marginals is not None:
        added["marginals"] = [{y: round(p, 6) for y, p in token.items()} for token in labelling.marginals]
    for name in ("rank", "probability", "comment"):
        if (value := getattr(labelling, name)) is not None:
            added[name] = value
    return added


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _shown(value: object) -> str:
    try:
        text = _dumped(value)
    except RecursionError:
        return "something nested too deeply"
    return text if len(text) <= 40 else text[:39] + "…"
