"""Drawings: the graphs of figures 1 to 3 of 002, and what Theorem 1 of 000 needs."""

from __future__ import annotations

from matplotlib.axes import Axes

from experiments.pictures import SOFT, titled
from lab.pictures import COLOURS, inline, mark
from lab.store import Record

# Of three neighbouring labels s and their words o: which arrows or lines a model has (002 Fig. 1 to 3).
GRAPHS = {
    "Hidden Markov model": ("s → s, s → o", True, "down"),
    "Conditional Markov model": ("s → s, o → s", True, "up"),
    "Conditional random field, ECRN": ("s — s, s — o", False, "both"),
}


def graph(title: str) -> str:
    """Labels above, words below."""
    said, directed, between = GRAPHS[title]
    figure, axes = titled(title, 2.3)
    axes.set_xlim(-0.5, 3.0)
    axes.set_ylim(-0.55, 1.55)
    axes.set_axis_off()
    for i in range(3):
        _node(axes, i, 1, f"s{'₁₂₃'[i]}", "blue")
        _node(axes, i, 0, f"o{'₁₂₃'[i]}", "grey")
        if i < 2:
            _line(axes, (i, 1), (i + 1, 1), directed)
        ends = ((i, 1), (i, 0)) if between == "down" else ((i, 0), (i, 1))
        _line(axes, *ends, directed)
    axes.text(2.45, 1, "…", va="center")
    return inline(figure, title, f"Three labels s and their words o; {said}.")


def _node(axes: Axes, x: float, y: float, name: str, colour: str) -> None:
    axes.plot([x], [y], "o", ms=26, mfc=COLOURS["paper"], mec=COLOURS[colour], mew=2, zorder=3)
    axes.text(x, y, name, ha="center", va="center", zorder=4)


def _line(axes: Axes, start: tuple[float, float], end: tuple[float, float], directed: bool) -> None:
    style = {"arrowstyle": "->" if directed else "-", "color": COLOURS["ink"], "lw": 1.5}
    axes.annotate("", end, start, arrowprops={**style, "shrinkA": 15, "shrinkB": 15})


def gaps(found: Record) -> str:
    """Random data: how far marginals disagree, and how far the closed form is from the optimum."""
    title = "Where marginals agree, counting is the optimum"
    figure, axes = titled(title, 3.9, "−log L of EP above the optimum, nats")
    axes.set_xlabel("largest disagreement of pair and unary marginals")
    colours = {"a place a word": "blue", "words anywhere": "red"}
    said = []
    for name, draws in found["random"].items():
        for each in draws:
            mark(axes, each["disagreement"], each["gap"], colours[name])
        values = [each["gap"] for each in draws]
        said.append(f"{name}: from {min(values):.2f} to {max(values):.2f}")
    extended = found["example"]["extended"]
    place = extended["disagreement"], extended["gap"]
    mark(axes, *place, "orange", "D")
    axes.annotate("the paper's extension", place, (12, 8), textcoords="offset points", color=SOFT)
    return inline(figure, title, f"Gap in nats. {'; '.join(said)}; extension {extended['gap']:.2f}.")


def sums(found: Record) -> str:
    """What the closed form's factors sum to, the least and the most of each random data set."""
    title = "What EP's factors sum to"
    figure, axes = titled(title, 3.9, "Z of the sentences of a data set: 1 is a distribution")
    axes.axhline(1, color=COLOURS["ink"], lw=1, ls="--")
    axes.set_xlabel("random data set, words anywhere")
    draws = found["random"]["words anywhere"]
    axes.set_xticks(range(len(draws)))
    for i, each in enumerate(draws):
        axes.vlines(i, each["z_low"], each["z_high"], color=COLOURS["red"], lw=3)
        for end in ("z_low", "z_high"):
            mark(axes, i, each[end], "red")
    low, high = min(each["z_low"] for each in draws), max(each["z_high"] for each in draws)
    return inline(figure, title, f"Z lies between {low:.2f} and {high:.2f}.")


def penalties(found: Record) -> str:
    """The probability of the wrong answer by penalty."""
    title = "A penalty against the test time problem"
    figure, axes = titled(title, 3.9, "probability of [1,1] for [b,c]")
    axes.set_xscale("log")
    axes.set_xlabel("penalty c2")
    axes.set_ylim(0, 1.05)
    axes.axhline(0.5, color=COLOURS["ink"], lw=1, ls="--")
    said = []
    for (name, of), colour in zip(found["penalised"].items(), ("blue", "sky", "red"), strict=True):
        axes.plot([each["c2"] for each in of], [each["p11"] for each in of], color=COLOURS[colour], lw=2)
        for each in of:
            mark(axes, each["c2"], each["p11"], colour)
        place = of[0]["c2"], of[0]["p11"]
        below = -16 if colour != "sky" else 10
        axes.annotate(name, place, (8, below), textcoords="offset points", color=SOFT)
        said.append(f"{name}: {', '.join(format(each['p11'], '.2f') for each in of)}")
    return inline(figure, title, "; ".join(said) + ".")
