"""What corate has to reach, and whether it did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.studies import Bins, LabelSpeed
from benchmarks.systems import ECRN, EP1, FITTED, FIXED, PERCEPTRON, RICH, TNT, Figures, Result, System

BROWN = "Brown 32623/1000"
DUTCH = "CoNLL-2002 Dutch train/testb"


@dataclass(frozen=True)
class Verdict:
    """A row of a table of targets; `met` is None where nothing is judged."""

    cells: list[str]
    met: bool | None

    @property
    def title(self) -> str:
        return self.cells[0]


@dataclass(frozen=True)
class Target:
    """A figure that is to be at most, or at least, its limit; without one it is shown and not judged.

    An aim is shown with its limit, and missing it is no fault.
    """

    title: str
    sign: str = ""
    limit: float | None = None
    unit: str = ""
    is_aim: bool = False

    def judge(self, found: float, single: Sequence[float] = (), bound: str = "") -> Verdict:
        """`single` are figures of single runs, which show how sure it is; `bound` stands before `found`."""
        spread = f"{_short(min(single))}–{_short(max(single))}" if len(single) > 1 else ""
        cells = [self.title, f"{bound}{_short(found)}{self.unit}", spread]
        if self.limit is None:
            return Verdict([*cells, "", ""], None)
        met = found <= self.limit if self.sign == "≤" else found >= self.limit
        limit = f"{self.sign} {_short(self.limit)}{self.unit}"
        if self.is_aim:
            return Verdict([*cells, f"aim: {limit}", "reached" if met else "not reached"], None)
        if bound and not met:
            return Verdict([*cells, limit, "open: needs a larger --cap"], None)
        return Verdict([*cells, limit, "met" if met else "**missed**"], met)


def _short(figure: float) -> str:
    """Three digits, four of a percentage near 100, and never an exponent."""
    return f"{figure:,.0f}" if figure >= 1000 else f"{figure:.4g}" if figure >= 10 else f"{figure:.3g}"


@dataclass(frozen=True)
class Ratio:
    """A figure of ours divided by one of a peer, or of our own."""

    ours: System
    our_key: str
    theirs: System
    their_key: str
    what: str
    sign: str = ""
    limit: float | None = None
    is_aim: bool = False

    def target(self) -> Target:
        whose = "" if self.ours == self.theirs else f", {self.ours.title} : {self.theirs.title}"
        unit = "×" if "speed" in self.our_key or "thread" in self.our_key else ""
        return Target(self.what + whose, self.sign, self.limit, unit, self.is_aim)

    def judge(self, result: Result) -> Verdict | None:
        """Ratio of the medians; its range is that of the ratios within a round. None without the peer."""
        ours = [figures[self.our_key] for figures in result.rounds[self.ours.name]]
        theirs = [figures[self.their_key] for figures in result.rounds.get(self.theirs.name, [])]
        if not theirs:
            return self._bound(result, median(ours))
        if len(theirs) < len(ours):
            theirs = [median(theirs)] * len(ours)
        single = [our / their for our, their in zip(ours, theirs, strict=True)]
        return self.target().judge(median(ours) / median(theirs), single)

    def _bound(self, result: Result, ours: float) -> Verdict | None:
        """A peer whose training was stopped by the cap would have taken longer than that."""
        seconds = result.training_caps.get(self.theirs.name)
        if self.our_key != "train_cpu" or seconds is None:
            return None
        return self.target().judge(ours / seconds, bound="< ")


def _papers() -> list[Ratio]:
    rows = {
        "train_cpu": ("training CPU", "≤", 0.25),
        "train_work": ("– without start-up", "", None),
        "tag_speed": ("tokens/s, file to file", "≥", 10),
        "predict_speed": ("tokens/s, in memory", "", None),
    }
    return [
        Ratio(system, key, TNT, key, what, sign, limit)
        for key, (what, sign, limit) in rows.items()
        for system in (EP1, ECRN)
    ]


def _against_rich(least: float | None) -> list[Ratio]:
    """Features computed before is the harder comparison: reaching it is no duty."""
    ready = "tokens/s, in memory, CRFsuite's features ready"
    full = "tokens/s, in memory, CRFsuite's features included"
    return [
        Ratio(system, "predict_speed", RICH, key, what, "≥", limit, is_aim=key == "ready_speed")
        for key, what in (("ready_speed", ready), ("predict_speed", full))
        for system, limit in ((FITTED, least), (FIXED, None))
    ]


# Limits hold for the split they are given for; on others some ratios are shown.
RATIOS = {
    BROWN: [
        *_papers(),
        Ratio(FIXED, "train_cpu", TNT, "train_cpu", "training CPU", "≤", 1 / 4),
        Ratio(FITTED, "train_cpu", TNT, "train_cpu", "training CPU", "≤", 1),
        Ratio(FITTED, "train_cpu", TNT, "train_cpu", "training CPU", "≤", 1 / 3, is_aim=True),
        Ratio(FITTED, "train_cpu", PERCEPTRON, "train_cpu", "training CPU", "≤", 1 / 30),
        *_against_rich(10),
        Ratio(FITTED, "two_threads", FITTED, "one_thread", "two threads : one, fitted", "≥", 1.7),
        Ratio(FIXED, "two_threads", FIXED, "one_thread", "two threads : one, fixed"),
    ],
    DUTCH: _against_rich(3),
}
SHOWN = [
    *(Ratio(FITTED, "train_cpu", peer, "train_cpu", "training CPU") for peer in (TNT, PERCEPTRON, RICH)),
    *_against_rich(None),
]
PEAKS = {
    system.name: Target(f"peak memory of training, {system.title}", "≤", 600, " MB")
    for system in (FIXED, FITTED)
}
STARTS = {
    "help": Target("`corate --help`", "≤", 150, " ms"),
    "one": Target("`corate tag` of one sentence, ECRN", "≤", 500, " ms"),
    "one_fitted": Target("`corate tag` of one sentence, Tagger", unit=" ms"),
}
# Of the Tagger with fitted weights: accuracy on Brown, entity F1 on Dutch, in percent.
FLOORS = {
    "Brown 1000/4000": 93.1,
    "Brown 2500/2500": 94.9,
    "Brown 4000/1000": 95.5,
    "Brown 17311/16312": 97.1,
    BROWN: 97.3,
    DUTCH: 80.0,
}
LOSSES = {"accuracy": 1.5, "f1": 4.0}  # that fixed weights may cost
MORE_A_TOKEN = 1.1  # training CPU a token on the largest corpus, over that on the smallest: linear, and noise
MORE_FITTING = 1.5  # CPU of fitting the weights on the largest corpus, over that on the smallest: noise alone
MORE_LABELS = 2.0  # tagging time with the most labels, over that with the fewest: "hardly grows"
CALIBRATION = 0.02


def ratio_verdicts(result: Result) -> list[Verdict]:
    found = [ratio.judge(result) for ratio in RATIOS.get(result.title, SHOWN)]
    verdicts = [verdict for verdict in found if verdict]
    if result.title == BROWN:
        for name, target in PEAKS.items():
            single = [figures["train_peak"] for figures in result.rounds[name]]
            verdicts.append(target.judge(median(single), single))
    return verdicts


def measure_of(title: str) -> str:
    return "f1" if title == DUTCH else "accuracy"


def accuracy_verdicts(found: Mapping[str, Mapping[str, Figures]]) -> list[Verdict]:
    """Figures by split and system."""
    verdicts = []
    for title, by_system in found.items():
        key = measure_of(title)
        name = "entity F1" if key == "f1" else "accuracy"
        fitted, fixed = by_system[FITTED.name][key], by_system[FIXED.name][key]
        verdicts.append(Target(f"{title}: {name}, fitted", "≥", FLOORS[title], " %").judge(fitted))
        lost = Target(f"{title}: {name} lost by fixed weights", "≤", LOSSES[key], " points")
        verdicts.append(lost.judge(fitted - fixed))
    return verdicts


def start_verdicts(starts: Mapping[str, list[float]]) -> list[Verdict]:
    return [target.judge(median(starts[key]), starts[key]) for key, target in STARTS.items()]


def scaling_verdicts(costs: Mapping[int, Mapping[str, Figures]]) -> list[Verdict]:
    smallest, largest = min(costs), max(costs)
    times = largest // smallest
    verdicts = []
    for system in (FIXED, FITTED):
        growth = costs[largest][system.name]["cpu"] / costs[smallest][system.name]["cpu"] / times
        title = f"CPU a token on {times} × the corpus : on 1 ×, {system.title}"
        verdicts.append(Target(title, "≤", MORE_A_TOKEN).judge(growth))
    growth = fitting(costs[largest]) / fitting(costs[smallest])
    title = f"CPU of fitting the weights on {times} × the corpus : on 1 ×"
    return [*verdicts, Target(title, "≤", MORE_FITTING).judge(growth)]


def fitting(costs: Mapping[str, Figures]) -> float:
    return costs[FITTED.name]["cpu"] - costs[FIXED.name]["cpu"]


def label_verdicts(speeds: Sequence[LabelSpeed]) -> list[Verdict]:
    few, many = speeds[0], speeds[-1]
    numbers = f"{many.sizes['labels']:.0f} labels : {few.sizes['labels']:.0f}"
    return [Target(f"time to tag known words, {numbers}", "≤", MORE_LABELS).judge(few.ours / many.ours)]


def expected_error(bins: Bins) -> float:
    """Expected calibration error: Σ n |probability − right| / Σ n."""
    return sum(b["n"] * abs(b["probability"] - b["right"]) for b in bins) / sum(b["n"] for b in bins)


def calibration_verdicts(title: str, bins: Mapping[str, Bins]) -> list[Verdict]:
    """Fixed weights are shown: they were never fitted to be probabilities."""
    what = f"expected calibration error, {title}"
    return [
        Target(f"{what}, fitted", "≤", CALIBRATION).judge(expected_error(bins[FITTED.name])),
        Target(f"{what}, fixed").judge(expected_error(bins[FIXED.name])),
    ]
