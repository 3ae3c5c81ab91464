"""The benchmark's report as Markdown."""

from __future__ import annotations

import os
import platform
import shlex
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from statistics import median

import targets
from systems import SYSTEMS, TNT, Figures, Files

# Figures of a tagger: title and format of each row.
ROWS = {
    "accuracy": ("accuracy, %", ".2f"),
    "known": ("– known words", ".2f"),
    "unknown": ("– unknown words", ".2f"),
    "f1": ("entity F1, %", ".2f"),
    "train_cpu": ("training, CPU s", ".2f"),
    "start_cpu": ("– of it start-up and imports", ".2f"),
    "train_wall": ("training, wall s", ".2f"),
    "train_peak": ("training, peak memory, MB", ",.0f"),
    "model": ("model file, MB", ".1f"),
    "tag_speed": ("tagging, file to file, tokens/s", ",.0f"),
    "predict_speed": ("tagging, in memory, tokens/s", ",.0f"),
    "tag_cpu": ("tagging, whole process, CPU s", ".2f"),
}
MEASURES = """\
Every training and every tagging has a process of its own. The taggers take turns, and a figure is the median
of the rounds. The machine is shared: compare the columns of one run, not runs.

Training goes from the text file to the saved model; CPU is user + system, start-up of the process included.
Tokens/s are per CPU second, so that threads do not count, with the model loaded: *file to file* reads, tags
and writes the test file, *in memory* goes from lists of words to lists of labels. corate reads with all its
checks of the input, the peers with the plainest loop there is.

TnT is NLTK's default, with its suffix model of unknown words; it is saved by pickle, having no format of its
own. NLTK imports SciPy and scikit-learn where they are installed, and that is part of its start-up."""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def header(command: Sequence[str], rounds: int, load: float) -> str:
    packages = ("corate", "numpy", "nltk", "python-crfsuite")
    lines = [
        "# Benchmark: corate and its peers in one run\n",
        f"{MEASURES}\n",
        f"- {date.today().isoformat()}; rounds: {rounds}; load average at the start: {load:.1f}",
        f"- {os.cpu_count()} cores, {_cpu()}; {platform.system()}; Python {platform.python_version()}",
        "- " + ", ".join(f"{name} {version(name)}" for name in packages),
        f"- `{shlex.join(command)}`\n",
    ]
    return "\n".join(lines)


def _cpu() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = (line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def split_section(
    title: str, files: Files, rounds: Mapping[str, list[Figures]], capped: Mapping[str, str]
) -> str:
    size = files.sizes
    parts = [
        f"## {title}\n\n"
        f"To train on: {size['train_sentences']:,} sentences, {size['train_tokens']:,} tokens, "
        f"{size['labels']} labels. To tag: {size['test_tokens']:,} tokens.\n",
        figure_table({SYSTEMS[name].title: medians(found) for name, found in rounds.items()}),
        "".join(f"- {SYSTEMS[name].title}: {why}\n" for name, why in capped.items()),
        table(targets.HEAD, rows) if (rows := targets.ratio_rows(title, rounds)) else "",
    ]
    return "\n".join(part for part in parts if part)


def medians(rounds: list[Figures]) -> Figures:
    return {key: median(figures[key] for figures in rounds) for key in rounds[0]}


def figure_table(columns: Mapping[str, Figures]) -> str:
    rows = [
        [title, *(format(figures[key], form) for figures in columns.values())]
        for key, (title, form) in ROWS.items()
        if all(key in figures for figures in columns.values())
    ]
    return table(["", *columns], rows)


def start_section(title: str, starts: Mapping[str, list[float]]) -> str:
    notes = [f"`python -c pass` {median(starts['python']):.0f} ms"]
    if TNT.name in starts:
        notes.append(f"{TNT.title} on the same sentence {median(starts[TNT.name]):,.0f} ms")
    return (
        f"## Start-up\n\nCPU of a whole process, with the ECRN model of {title}.\n\n"
        + table(targets.HEAD, targets.start_rows(starts))
        + f"\nFor comparison: {', '.join(notes)}.\n"
    )


def scaling_section(title: str, costs: Mapping[int, Mapping[str, Figures]]) -> str:
    head = ["tokens"]
    for name in next(iter(costs.values())):
        head += [f"{SYSTEMS[name].title}, CPU s", "tokens/s", "peak memory, MB"]
    rows = []
    for tokens, by_name in costs.items():
        cells = [_scaling_cells(tokens, cost) for cost in by_name.values()]
        rows.append([f"{tokens:,}", *chain.from_iterable(cells)])
    return f"## Training on {title} once, twice and four times over\n\n" + table(head, rows)


def _scaling_cells(tokens: int, cost: Figures) -> list[str]:
    return [f"{cost['cpu']:.2f}", f"{tokens / cost['cpu']:,.0f}", f"{cost['peak']:,.0f}"]
