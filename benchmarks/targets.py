"""What corate has to reach, and whether it did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from systems import CORATES, TNT, Figures

HEAD = ("", "median", "range", "target", "")


@dataclass(frozen=True)
class Target:
    """A figure that is to be at most, or at least, its limit."""

    title: str
    sign: str
    limit: float
    unit: str

    def row(self, whose: str, found: float, single: Sequence[float]) -> list[str]:
        """`found` is judged; `single` are the figures of single runs, which show how sure it is."""
        met = found <= self.limit if self.sign == "≤" else found >= self.limit
        return [
            f"{self.title}{whose}",
            f"{found:.3g}{self.unit}",
            f"{min(single):.3g}–{max(single):.3g}",
            f"{self.sign} {self.limit:g}{self.unit}",
            "met" if met else "**missed**",
        ]


# corate's figure divided by TnT's.
RATIOS = {
    "train_cpu": Target("training CPU", "≤", 0.25, ""),
    "train_work": Target("training CPU without start-up", "≤", 0.25, ""),
    "tag_speed": Target("tokens/s, file to file", "≥", 10, "×"),
    "predict_speed": Target("tokens/s, in memory", "≥", 10, "×"),
}
# CPU milliseconds.
STARTS = {
    "help": Target("`corate --help`", "≤", 150, " ms"),
    "one": Target("`corate tag` of one sentence", "≤", 500, " ms"),
}


def ratio_rows(rounds: dict[str, list[Figures]]) -> list[list[str]]:
    """Ratio of the medians; its range is that of the ratios within a round."""
    theirs = rounds.get(TNT.name, [])
    rows = []
    for key, target in RATIOS.items() if theirs else ():
        for system in CORATES:
            ours = rounds[system.name]
            ratio = median(our[key] for our in ours) / median(their[key] for their in theirs)
            single = [our[key] / their[key] for our, their in zip(ours, theirs, strict=True)]
            rows.append(target.row(f", {system.title} : {TNT.title}", ratio, single))
    return rows


def start_rows(starts: dict[str, list[float]]) -> list[list[str]]:
    return [target.row("", median(starts[key]), starts[key]) for key, target in STARTS.items()]
