"""The formats by name."""

from __future__ import annotations

from importlib import import_module

from corate.errors import InputError
from corate.text.format_registry import FORMAT_CLASSES
from corate.text.formats.base import Format

FORMATS: dict[str, type[Format]] = {
    name: getattr(import_module(f"corate.text.formats.{name}"), class_name)
    for name, class_name in FORMAT_CLASSES.items()
}


def open_format(name: str, label: str | None = None, *, labelled: bool = True) -> Format:
    if name not in FORMATS:
        raise InputError(f"unknown format {name!r}: give one of {', '.join(FORMATS)}")
    return FORMATS[name](None if label is None else str(label), labelled=labelled)
