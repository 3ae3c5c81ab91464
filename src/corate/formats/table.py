"""The formats by name."""

from __future__ import annotations

from corate.errors import InputError
from corate.formats.base import Format
from corate.formats.conll import Conll
from corate.formats.conllu import Conllu
from corate.formats.jsonl import Jsonl
from corate.formats.text import Text
from corate.formats.wordtag import WordTag

FORMATS: dict[str, type[Format]] = {
    format_.name: format_ for format_ in (Conll, Conllu, WordTag, Jsonl, Text)
}


def open_format(name: str, label: str | None = None, *, labelled: bool = True) -> Format:
    if name not in FORMATS:
        raise InputError(f"unknown format {name!r}: give one of {', '.join(FORMATS)}")
    return FORMATS[name](None if label is None else str(label), labelled=labelled)
