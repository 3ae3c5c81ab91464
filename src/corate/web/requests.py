"""What a request asks for: JSON → checked values. Whatever is wrong is one sentence."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from corate.errors import InputError
from corate.text.corpus import UNLABELLED
from corate.text.formats import Reader, detect, open_format
from corate.text.formats.base import is_blank
from corate.text.formats.lines import check_returns
from corate.text.spans import SCHEMES
from corate.web.corrections import Token

Value = TypeVar("Value")


@dataclass(frozen=True)
class Limits:
    """What one request may ask for, and how many of them at a time."""

    body_bytes: int = 16 << 20
    tokens: int = 200_000
    sentences: int = 20_000
    sentence_tokens: int = 5_000
    word_characters: int = 1_000
    nbest: int = 50
    seconds: float = 30.0  # that a request may take to arrive, or to be answered
    requests: int = 128  # at a time
    learners: int = 64  # that wait for their turn


class BadJSONError(InputError):
    """The body is no JSON object."""


class TooLargeError(InputError):
    """More than the limits allow."""


class Asked(NamedTuple):
    """One sentence of a request."""

    tokens: list[Token]
    labels: list[str] | None = None


def parse(body: bytes) -> dict[str, Any]:
    """The JSON object of a body."""
    try:
        value = json.loads(body.decode("utf-8"), parse_constant=_no_constant, object_pairs_hook=_unique)
        json.dumps(value, ensure_ascii=False).encode("utf-8")  # refuses halves of surrogate pairs
    except UnicodeDecodeError as error:
        raise BadJSONError(
            f"the body is not UTF-8: byte {error.start} is 0x{body[error.start]:02x}"
        ) from error
    except UnicodeEncodeError as error:
        raise BadJSONError(
            "the body has half of a surrogate pair (such as \\ud800): no text has it"
        ) from error
    except json.JSONDecodeError as error:
        raise BadJSONError(
            f"invalid JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        ) from error
    except RecursionError as error:
        raise BadJSONError("invalid JSON: nested too deeply") from error
    except BadJSONError:
        raise
    except ValueError as error:  # an integer of very many digits
        raise BadJSONError(f"invalid JSON: {error}") from error
    if not isinstance(value, dict):
        raise BadJSONError(f"the body is {shown(value)}: give a JSON object")
    return value


def _no_constant(constant: str) -> None:
    raise BadJSONError(f"invalid JSON: {constant} is no JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise BadJSONError(f"invalid JSON: the key {shown(twice)} is there twice")
    return made


def shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:39] + "…"


class Fields:
    """The keys of a request, each asked for once; one that nobody asked for is refused by `done`."""

    def __init__(self, body: Mapping[str, Any], limits: Limits) -> None:
        self._left, self.limits = dict(body), limits

    def get(self, name: str, kind: type[Value], default: Value) -> Value:
        value = self._left.pop(name, None)
        if value is None:
            return default
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise InputError(f'"{name}" is {shown(value)}: give {KINDS[kind]}')
        return value

    def number(self, name: str, default: int, low: int, high: int) -> int:
        value = self.get(name, int, default)
        if not low <= value <= high:
            raise InputError(f'"{name}" is {shown(value)}: give a whole number from {low} to {high:,}')
        return value

    def share(self, name: str, default: float) -> float:
        value = self._left.pop(name, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
            raise InputError(f'"{name}" is {shown(value)}: give a number from 0 to 1')
        return float(value)

    def choice(self, name: str, among: Sequence[str]) -> str | None:
        value = self.get(name, str, "") or None
        if value is not None and value not in among:
            raise InputError(f'"{name}" is {shown(value)}: choose from {", ".join(among)}')
        return value

    def scheme(self) -> str | None:
        return self.choice("valid", [*SCHEMES])

    def has(self, name: str) -> bool:
        return self._left.get(name) is not None

    def done(self) -> None:
        if self._left:
            raise InputError(f"unknown key {shown(next(iter(self._left)))}: see /api for what may be asked")

    # Sentences ---------------------------------------------------------------------------------------

    def sentences(self, n_columns: int, labelled: bool = False) -> list[Asked]:
        """Those of "sentences", of "tokens" (and "labels"), or of "text"."""
        given = [name for name in ("sentences", "tokens", "text") if self.has(name)]
        if len(given) != 1:
            raise InputError('give one of "sentences", "tokens" and "text"')
        if given == ["text"]:
            found = self._text(n_columns)
        elif given == ["tokens"]:
            found = [
                self._sentence(
                    {"tokens": self._left.pop("tokens"), "labels": self._left.pop("labels", None)}, n_columns
                )
            ]
        else:
            found = [self._record(record, n_columns) for record in self.get("sentences", list, [])]
        if labelled and any(sentence.labels is None for sentence in found):
            raise InputError('a sentence has no "labels": give one for each token')
        self._check_size(found)
        return found

    def _record(self, record: Any, n_columns: int) -> Asked:
        if not isinstance(record, dict):
            raise InputError(f'a sentence is {shown(record)}: give {{"tokens": […]}}')
        return self._sentence(record, n_columns)

    def _sentence(self, record: dict[str, Any], n_columns: int) -> Asked:
        tokens = [self._token(token, n_columns) for token in _list(record.get("tokens"), "tokens")]
        labels = record.get("labels")
        return Asked(tokens, None if labels is None else check_labels(labels, len(tokens)))

    def _token(self, token: Any, n_columns: int) -> Token:
        cells = [token] if isinstance(token, str) else token
        if not isinstance(cells, list) or not all(isinstance(cell, str) for cell in cells):
            raise InputError(f"a token is {shown(token)}: give a string, or a list of strings (columns)")
        if len(cells) < n_columns:
            raise InputError(
                f"the token {shown(token)} has {len(cells)} columns: the model needs {n_columns}"
            )
        if not cells[0] or any("\0" in cell for cell in cells):
            raise InputError(f"the token {shown(token)} is empty, or has the NUL character")
        if max(map(len, cells)) > self.limits.word_characters:
            raise TooLargeError(f"a token has more than {self.limits.word_characters:,} characters")
        return tuple(cells[:n_columns])

    def _text(self, n_columns: int) -> list[Asked]:
        text, name = self.get("text", str, ""), self.get("name", str, "")
        format_ = self.choice("format", ["conll", "conllu", "wordtag", "jsonl", "text"])
        if "\0" in text:
            raise InputError("the text has a NUL character: no text has it")
        found = read_text(text, name, format_, n_columns)
        return [
            Asked([self._token(list(token), n_columns) for token in tokens], labels)
            for tokens, labels in found
        ]

    def forced(self, sentences: Sequence[Asked]) -> list[dict[int, str]]:
        """{"0": "NOUN"} for each sentence, or for the only one."""
        given = self._left.pop("forced", None)
        if given is None:
            return []
        every = [given] if isinstance(given, dict) else given
        if not isinstance(every, list) or not all(isinstance(each, dict) for each in every):
            raise InputError('"forced" is a list with {"position": "label"} for each sentence')
        if len(every) > len(sentences):
            raise InputError(f'"forced" has {len(every)} entries for {len(sentences)} sentences')
        made = []
        for each in every:
            for position, label in each.items():
                if (
                    not position.isascii()
                    or not position.isdecimal()
                    or len(position) > 9
                    or not isinstance(label, str)
                ):
                    raise InputError(f'"forced" has {shown({position: label})}: give {{"0": "LABEL"}}')
            made.append({int(position): label for position, label in each.items()})
        return made

    def _check_size(self, sentences: Sequence[Asked]) -> None:
        limits, n_tokens = self.limits, sum(len(sentence.tokens) for sentence in sentences)
        longest = max((len(sentence.tokens) for sentence in sentences), default=0)
        for what, n, most in (
            ("sentences", len(sentences), limits.sentences),
            ("tokens", n_tokens, limits.tokens),
            ("tokens in a sentence", longest, limits.sentence_tokens),
        ):
            if n > most:
                raise TooLargeError(f"{n:,} {what}: a request may have {most:,}; send several")


KINDS: dict[type, str] = {str: "a string", int: "a whole number", bool: "true or false", list: "a list"}


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise InputError(f'"{name}" is {shown(value)}: give a list')
    return value


def check_labels(labels: Any, n_tokens: int) -> list[str]:
    """A label for each token; null, where there is none, is `_`."""
    labels = _list(labels, "labels")
    if len(labels) != n_tokens:
        raise InputError(f"{n_tokens} tokens and {len(labels)} labels: give one for each")
    for label in labels:
        if label is not None and (not isinstance(label, str) or not label):
            raise InputError(f"a label is {shown(label)}: give a string that is not empty, or null")
    return [UNLABELLED if label is None else label for label in labels]


def read_text(
    text: str, name: str, format_: str | None, n_columns: int
) -> list[tuple[list[Token], list[str] | None]]:
    """Sentences of a text in any format; labels where it has more columns than the model looks at."""
    text = text.removeprefix("\ufeff")
    lines = text.split("\n")
    lines = lines[:-1] if lines[-1] == "" else lines
    source = name or "the text"
    found = format_ or detect(name or "-", "".join(line + "\n" for line in lines[:400]), labelled=False)
    check_returns(lines, source, 0)

    def sentences(labelled: bool) -> list[tuple[list[Token], list[str] | None]]:
        reader = Reader(open_format(found, labelled=labelled), [lines], source)
        return [
            ([*zip(*sentence.columns, strict=True)], sentence.labels) for sentence in reader if len(sentence)
        ]

    if all(map(is_blank, lines)) or found == "text":
        return sentences(labelled=False)
    if found != "conll":
        with_labels = _attempt(lambda: sentences(labelled=True))
        return sentences(labelled=False) if with_labels is None else with_labels
    plain = sentences(labelled=False)
    width = max((len(tokens[0]) for tokens, _ in plain), default=0)
    return sentences(labelled=True) if width > n_columns else plain


def _attempt(work: Callable[[], Value]) -> Value | None:
    try:
        return work()
    except InputError:
        return None
