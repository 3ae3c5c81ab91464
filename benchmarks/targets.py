"""What corate has to reach, and whether it did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from systems import PAPERS, TNT, Figures

HEAD = ("", "median", "range", "target", "")


@dataclass(frozen=True)
class Target:
    """A figure that is to be at most, or at least, its limit; without one it is shown and not judged."""

    title: str
    unit: str = ""
    sign: str = ""
    limit: float | None = None

    def row(self, whose: str, found: float, single: Sequence[float], judged: bool = True) -> list[str]:
        """`found` is judged; `single` are the figures of single runs, which show how sure it is."""
        cells = [f"{self.title}{whose}", f"{found:.3g}{self.unit}", f"{min(single):.3g}–{max(single):.3g}"]
        if self.limit is None or not judged:
            return [*cells, "", ""]
        met = found <= self.limit if self.sign == "≤" else found >= self.limit
        return [*cells, f"{self.sign} {self.limit:g}{self.unit}", "met" if met else "**missed**"]


# corate's figure divided by TnT's. The limits are set for the largest split of Brown.
JUDGED = "Brown 32623/1000"
RATIOS = {
    "train_cpu": Target("training CPU", "", "≤", 0.25),
    "train_work": Target("– without start-up"),
    "tag_speed": Target("tokens/s, file to file", "×", "≥", 10),
    "predict_speed": Target("tokens/s, in memory", "×"),
}
# CPU milliseconds.
STARTS = {
    "help": Target("`corate --help`", " ms", "≤", 150),
    "one": Target("`corate tag` of one sentence", " ms", "≤", 500),
}


def ratio_rows(title: str, rounds: Mapping[str, list[Figures]]) -> list[list[str]]:
    """Ratio of the medians; its range is that of the ratios within a round."""
    theirs = rounds.get(TNT.name, [])
    rows = []
    for key, target in RATIOS.items() if theirs else ():
        for system in PAPERS:
            ours = rounds[system.name]
            ratio = median(our[key] for our in ours) / median(their[key] for their in theirs)
            single = [our[key] / their[key] for our, their in zip(ours, theirs, strict=True)]
            rows.append(target.row(f", {system.title} : {TNT.title}", ratio, single, title == JUDGED))
    return rows


def start_rows(starts: Mapping[str, list[float]]) -> list[list[str]]:
    return [target.row("", median(starts[key]), starts[key]) for key, target in STARTS.items()]
