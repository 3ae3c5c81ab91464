"""The formats by name."""

from __future__ import annotations

from corate.errors import InputError
from corate.text.formats.base import Format
from corate.text.formats.conll import Conll
from corate.text.formats.conllu import Conllu
from corate.text.formats.jsonl import Jsonl
from corate.text.formats.text import Text
from corate.text.formats.wordtag import WordTag

FORMATS: dict[str, type[Format]] = {
    format_.name: format_ for format_ in (Conll, Conllu, WordTag, Jsonl, Text)
}


def open_format(name: str, label: str | None = None, *, labelled: bool = True) -> Format:
    if name not in FORMATS:
        raise InputError(f"unknown format {name!r}: give one of {', '.join(FORMATS)}")
    return FORMATS[name](None if label is None else str(label), labelled=labelled)
