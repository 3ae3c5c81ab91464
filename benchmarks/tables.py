"""The benchmark's report as Markdown: figures for the sections of sections.md, and verdicts below them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import targets
from benchmarks.studies import Bins, LabelSpeed
from benchmarks.systems import CORATES, FITTED, FIXED, RICH, SYSTEMS, TNT, Figures, Result
from benchmarks.targets import Verdict
from lab import machine
from lab.templates import template

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
    "ready_speed": ("– features computed before", ",.0f"),
    "one_thread": ("– by the clock, one thread", ",.0f"),
    "two_threads": ("– by the clock, two threads", ",.0f"),
    "tag_cpu": ("tagging, whole process, CPU s", ".2f"),
}
LEARNED = ("accuracy", "known", "unknown", "f1", "train_cpu", "train_wall")  # mean little if stopped early
SECTIONS = template(Path(__file__).with_name("sections.md"))


def rendered(section: str, *figures: Any) -> str:
    return str(getattr(SECTIONS.module, section)(*figures))


@dataclass(frozen=True)
class Section:
    text: str
    verdicts: list[Verdict] = field(default_factory=list)

    def markdown(self) -> str:
        return self.text + ("\n" + rendered("verdicts", self.verdicts) if self.verdicts else "")


def header(command: Sequence[str], rounds: int, load: float) -> str:
    today, on = date.today().isoformat(), machine.describe()
    return rendered("header", shlex.join(command), rounds, load, today, on, machine.PACKAGES)


def summary(verdicts: Sequence[Verdict]) -> str:
    """Those that were judged in this run, and what they missed."""
    judged = [verdict for verdict in verdicts if verdict.met is not None]
    missed = [verdict for verdict in judged if not verdict.met]
    return rendered("summary", len(judged), missed) if judged else ""


def split_section(result: Result) -> Section:
    columns = {SYSTEMS[name].title: result.medians(name) for name in result.rounds}
    rows = [
        [title, *(_cell(figures, key, form) for figures in columns.values())]
        for key, (title, form) in ROWS.items()
        if any(key in figures for figures in columns.values())
    ]
    capped = {SYSTEMS[name].title: error for name, error in result.capped.items()}
    text = rendered("split", result, result.files.sizes, columns, rows, capped)
    return Section(text, targets.ratio_verdicts(result))


def _cell(figures: Figures, key: str, form: str) -> str:
    if key not in figures:
        return "–"
    return format(figures[key], form) + (" †" if figures.get("stopped") and key in LEARNED else "")


def accuracy_section(found: Mapping[str, Mapping[str, Figures]]) -> Section:
    """Figures by split and system."""
    rows = []
    for title, by_system in found.items():
        measure = targets.measure_of(title)
        cells = [f"{by_system[system.name][measure]:.2f}" for system in CORATES]
        rows.append([f"{title}, entity F1" if measure == "f1" else title, *cells])
    text = rendered("accuracy", [system.title for system in CORATES], rows)
    return Section(text, targets.accuracy_verdicts(found))


def start_section(title: str, starts: Mapping[str, list[float]]) -> Section:
    others = [f"`python -c pass` {median(starts['python']):.0f} ms"]
    if TNT.name in starts:
        others.append(f"{TNT.title} on the same sentence {median(starts[TNT.name]):,.0f} ms")
    return Section(rendered("start", title, others), targets.start_verdicts(starts))


def scaling_section(title: str, costs: Mapping[int, Mapping[str, Figures]]) -> Section:
    titles = [SYSTEMS[name].title for name in next(iter(costs.values()))]
    rows = [(tokens, list(by_name.values()), targets.fitting(by_name)) for tokens, by_name in costs.items()]
    return Section(rendered("scaling", title, titles, rows), targets.scaling_verdicts(costs))


def label_section(title: str, speeds: Sequence[LabelSpeed]) -> Section:
    return Section(
        rendered("labels", title, FITTED.title, RICH.title, speeds), targets.label_verdicts(speeds)
    )


def calibration_section(found: Mapping[str, Mapping[str, Bins]]) -> Section:
    """Bins by corpus and system."""
    rows = {title: list(zip(of[FITTED.name], of[FIXED.name], strict=True)) for title, of in found.items()}
    verdicts = [verdict for title, of in found.items() for verdict in targets.calibration_verdicts(title, of)]
    return Section(rendered("calibration", rows, [FITTED.title, FIXED.title]), verdicts)
