"""--engine and what belongs to it: who counts in `corate train`."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from corate.cli.common import Command, with_options
from corate.cli.train_options import COUNTED
from corate.errors import InputError

if TYPE_CHECKING:
    from corate.counts.engines.base import Engine

SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
MOST_NAME = 200  # letters of a model's name in that of the folder beside it


class EngineOptions(NamedTuple):
    """As they were given."""

    engine: str
    memory: str | None
    temp: str | None
    resume: bool

    def check(self, kind: str) -> None:
        """Refuse what means nothing to this engine, and an engine that means nothing to such a model."""
        if self.engine != "disk":
            given = {"--memory": self.memory, "--temp": self.temp, "--resume": self.resume}
            told = next((name for name, value in given.items() if value), None)
            if told is not None:
                raise click.UsageError(f"{told} is for --engine disk")
        if self.engine != "memory" and kind not in COUNTED:
            raise click.UsageError(f"--engine is for models that are counted, not for {kind}")

    @contextlib.contextmanager
    def opened(self, model_path: str, report: Callable[[Any], object] | None = None) -> Iterator[Engine]:
        """The engine, whose files are removed at the end."""
        if self.engine == "memory":
            from corate.counts.engines.memory import Chunks

            yield Chunks
            return
        from corate.counts.engines.disk import Disk

        model = Path(model_path)
        temp = model.parent if self.temp is None else Path(self.temp)
        if not temp.is_dir():
            raise InputError("no such folder: create it first", str(temp))
        memory = size_of(self.memory or "1G")
        with Disk(temp / f".{model.name[:MOST_NAME]}.counting", memory, self.resume, report) as engine:
            yield engine


def size_of(text: str) -> int:
    """1G → bytes."""
    found = SIZE.fullmatch(text.strip())
    if found is None:
        raise click.UsageError(f"{text!r} is no size: write 500M or 1.5G")
    return int(float(found[1]) * (1 << UNITS[found[2].upper()]))


def engine_options(command: Command) -> Command:
    """--engine, --memory, --temp and --resume; the command takes them by these names."""
    options = (
        click.option(
            "--engine",
            type=click.Choice(["memory", "disk", "spark"]),
            default="memory",
            show_default=True,
            help="Who counts: disk is for counts that do not fit into memory (pip install 'corate[disk]'), "
            "spark for files on a cluster ('corate[spark]'). The model is the same.",
        ),
        click.option(
            "--memory", metavar="SIZE", help="disk: how much memory to use, such as 500M or 4G (1G)."
        ),
        click.option(
            "--temp",
            metavar="DIR",
            help="disk: where to put what does not fit (beside the model); a few times the size of the text.",
        ),
        click.option(
            "--resume",
            is_flag=True,
            help="disk: go on behind the last whole chunk of a training that was killed. Ctrl-C then keeps "
            "what there is.",
        ),
    )
    made: Command = with_options(options, command)
    return made
