"""Templates of pages, which lie beside the module that fills them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template


def template(path: Path, **filters: Callable[..., Any]) -> Template:
    """One that escapes what HTML would misread, and refuses names that it is not given."""
    environment = Environment(
        loader=FileSystemLoader(path.parent),
        autoescape=path.suffix == ".html",
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= filters
    return environment.get_template(path.name)
