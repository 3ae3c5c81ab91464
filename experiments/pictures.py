"""The pictures of the report, each drawn from the results of one experiment."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from experiments.measure import DONE, KEPT, NOT_RUN, done
from experiments.models import MODELS, title_of
from experiments.tagging_table import duration, row_of
from lab.pictures import COLOURS, LINE, Point, inline, log_axis, mark, new, time_and_rate
from lab.store import Record

ROW = 0.29  # inches
SOFT = COLOURS["soft"]
SUBTITLE: dict[str, Any] = {"color": SOFT, "fontsize": 11, "fontweight": "normal"}


def titled(title: str, height: float, subtitle: str = "") -> tuple[Figure, Axes]:
    figure = new(height=height)
    axes = figure.subplots()
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    if subtitle:
        axes.set_title(subtitle, **SUBTITLE)
    return figure, axes


def rows(title: str, names: Sequence[str], more: float = 0.75) -> tuple[Figure, Axes]:
    """A row a name, the first on top."""
    figure, axes = titled(title, ROW * len(names) + more)
    axes.set_yticks(range(len(names)), names, color=COLOURS["ink"])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    return figure, axes


def mark_model(axes: Axes, key: str, x: float, y: float) -> None:
    mark(axes, x, y, MODELS[key].colour, MODELS[key].mark)


def time_and_accuracy(title: str, split: Record, keys: Iterable[str], metric: str = "overall") -> str:
    """Every model a point: how long training took, how many labels are right."""
    found = done(split["models"])
    points = {key: found[key] for key in keys if key in found}
    figure = new(height=4.6)
    axes = figure.subplots()
    axes.set_title("right labels, %" if metric == "overall" else "entity F1, %", **SUBTITLE)
    time_and_rate(
        axes,
        [
            Point(MODELS[key].title, of["seconds"], of[metric], MODELS[key].colour, MODELS[key].mark)
            for key, of in points.items()
        ],
        "training time, a tenfold a step",
    )
    said = "; ".join(
        f"{title_of(key)}: {of[metric]:.1f} % after {duration(of['seconds'])}" for key, of in points.items()
    )
    return inline(figure, title, f"Right labels and training time. {said}.")


def times(title: str, split: Record, together: Sequence[Record] = ()) -> str:
    """Training times, measured and published, a row a model; on an axis for all of `together`."""
    ours = split["models"]
    published = {row_of(method): of["seconds"] for method, of in split["published"].items()}

    def time(key: str) -> float:
        of = ours.get(key, {})
        return float(of.get("seconds") or of.get("cap") or published.get(key, math.inf))

    keys = sorted([*ours, *(key for key in published if key not in ours)], key=time)
    figure, axes = rows(title, [title_of(key) + ("" if key in MODELS else ", published") for key in keys])
    log_axis(axes, [seconds for each in together or [split] for seconds in _all_times(each)])
    for y, key in enumerate(keys):
        if key in published:
            axes.plot([published[key]], [y], "x", color=SOFT, ms=9, mew=1.8, clip_on=False)
        if key in ours:
            _time_mark(axes, y, key, ours[key])
    quoted = "; ".join(f"{title_of(key)} {duration(seconds)}" for key, seconds in published.items())
    measured = "; ".join(f"{title_of(key)} {_said_of(of)}" for key, of in ours.items())
    return inline(figure, title, f"Measured: {measured}. Published: {quoted}.")


def _all_times(split: Record) -> list[float]:
    figures = [*split["models"].values(), *split["published"].values()]
    return [of[name] for of in figures for name in ("seconds", "cap") if of.get(name)]


def _time_mark(axes: Axes, y: float, key: str, of: Record) -> None:
    start, colour = axes.get_xlim()[0], COLOURS[MODELS[key].colour]
    if of["status"] in (DONE, KEPT):
        axes.hlines(y, start, of["seconds"], color=colour, lw=2, alpha=0.55)
        mark_model(axes, key, of["seconds"], y)
        return
    seconds = of["seconds"] if of["status"] == NOT_RUN else of["cap"]
    if seconds is None:
        axes.text(start, y, " not run", color=SOFT, va="center")
        return
    axes.hlines(y, start, seconds, color=colour, lw=2, alpha=0.55, linestyles="dotted")
    sign = "?" if of["status"] == NOT_RUN else "›"
    axes.text(seconds, y, sign, color=SOFT, ha="center", va="center", weight="bold", fontsize=13)


def _said_of(of: Record) -> str:
    if of["status"] in (DONE, KEPT):
        return duration(of["seconds"])
    if of["status"] == NOT_RUN:
        return "not run" + (f", would take about {duration(of['seconds'])}" if of["seconds"] else "")
    return f"stopped after {of['cap']} s"


def accuracy_by_split(title: str, series: Mapping[str, Mapping[str, float]], sizes: Mapping[str, int]) -> str:
    """`series[key][split]` in percent, over training tokens."""
    figure = new(height=5.0)
    axes = figure.subplots()
    axes.set_title(title)
    axes.set_xscale("log")
    axes.set_xlabel("training tokens")
    axes.xaxis.set_major_locator(FixedLocator(list(sizes.values())))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda tokens, _: f"{tokens / 1000:.0f}k"))
    axes.grid(visible=False, axis="x")
    axes.tick_params(axis="x", labelrotation=45)
    last = max(sizes.values())
    ends = {}
    for key, of in series.items():
        points = [(sizes[split], rate) for split, rate in of.items()]
        colour = MODELS[key].colour if key in MODELS else "grey"
        axes.plot(*zip(*points, strict=True), color=COLOURS[colour], lw=1.6)
        for place in points:
            if key in MODELS:
                mark_model(axes, key, *place)
        ends[key] = points[-1]
    low, high = axes.get_ylim()
    line = 1.15 * LINE * (high - low) / (72 * 3.9)  # of text, in percent
    for key, height in spread({key: rate for key, (_, rate) in ends.items()}, line, high).items():
        leader = {"arrowstyle": "-", "color": SOFT, "lw": 0.7, "shrinkA": 0, "shrinkB": 7}
        axes.annotate(title_of(key), ends[key], (last * 1.25, height), va="center", arrowprops=leader)
    said = "; ".join(
        f"{title_of(key)}: " + ", ".join(f"{rate:.1f} on {split}" for split, rate in of.items())
        for key, of in series.items()
    )
    return inline(figure, title, f"Right labels in percent. {said}.")


def spread(values: Mapping[str, float], gap: float, highest: float) -> dict[str, float]:
    """Moved down so far that each is a gap below the one above."""
    places, above = {}, highest + gap
    for key, value in sorted(values.items(), key=lambda item: -item[1]):
        places[key] = above = min(value, above - gap)
    return places


def differences(title: str, split: Record, reference: str, metric: str = "accuracy") -> str:
    """The lead of every model over a reference, with its 95 % interval from resampled sentences."""
    leads = leads_over(split, reference, metric)
    figure, axes = rows(title, [title_of(key) for key in leads])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:+g}" if abs(x) > 1e-9 else "0"))
    axes.axvline(0, color=COLOURS["ink"], lw=1, ls="--")
    for y, (key, of) in enumerate(leads.items()):
        beyond = [[of["lead"] - of["low"]], [of["high"] - of["lead"]]]
        mark_model(axes, key, of["lead"], y)
        axes.errorbar(of["lead"], y, xerr=beyond, color=COLOURS["ink"], lw=1.2, capsize=5, zorder=4)
    said = "; ".join(
        f"{title_of(key)} {of['lead']:+.2f}, from {of['low']:+.2f} to {of['high']:+.2f}"
        for key, of in leads.items()
    )
    return inline(figure, title, f"Points of difference to {title_of(reference)}: {said}.")


def leads_over(split: Record, reference: str, metric: str = "accuracy") -> dict[str, Record]:
    """In points, the largest first."""
    found: dict[str, Record] = {}
    for pair in split["comparisons"]:
        if reference not in (pair["a"], pair["b"]) or pair[metric] is None:
            continue
        sign = 1 if pair["b"] == reference else -1
        ends = sorted(100 * sign * pair[metric][name] for name in ("low", "high"))
        other = pair["a"] if sign == 1 else pair["b"]
        found[other] = {"lead": 100 * sign * pair[metric]["lead"], "low": ends[0], "high": ends[1]}
    return dict(sorted(found.items(), key=lambda item: -item[1]["lead"]))


def label_bias(found: Record) -> str:
    """A stroke a round, a row a model."""
    title = "Right labels, %, in ten simulated rounds"
    keys = sorted(found["models"], key=lambda key: -found["models"][key]["overall"])
    figure, axes = rows(title, [title_of(key) for key in keys], more=1.0)
    axes.set_xlim(60, 100)
    for value, name in ((found["blind"], "blind"), (found["optimum"], "best possible")):
        axes.axvline(value, color=COLOURS["ink"], lw=1, ls="--")
        axes.annotate(
            name, (value, len(keys) - 0.4), (0, -32), textcoords="offset points", ha="center", color=SOFT
        )
    for y, key in enumerate(keys):
        of = found["models"][key]
        axes.vlines(of["rounds"], y - 0.3, y + 0.3, color=COLOURS[MODELS[key].colour], lw=2, alpha=0.55)
        mark_model(axes, key, of["overall"], y)
    said = "; ".join(f"{title_of(key)} {found['models'][key]['overall']:.1f}" for key in keys)
    return inline(figure, title, f"Mean of the rounds: {said}. Best possible {found['optimum']:.1f}.")


def shares(title: str, of_rows: Mapping[str, Mapping[str, float]], names: Mapping[str, str]) -> str:
    """Two probabilities of each row, bars from the left and from the right; others have what is between."""
    figure, axes = rows(title, list(of_rows), more=0.7)
    first, second = names
    axes.set_xlim(0, 1)
    axes.set_xticks([])
    axes.set_title(names[first], loc="left", **SUBTITLE)
    axes.set_title(names[second], loc="right", **SUBTITLE)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    axes.axvline(0.5, color=COLOURS["ink"], lw=1, ls="--")
    for y, of in enumerate(of_rows.values()):
        axes.barh(y, of[first], color=COLOURS["right"])
        axes.barh(y, of[second], left=1 - of[second], color=COLOURS["wrong"])
        axes.text(0.015, y, f"{of[first]:.3f}", va="center")
        axes.text(0.985, y, f"{of[second]:.3f}", va="center", ha="right")
    said = "; ".join(f"{row}: {of[first]:.3f} and {of[second]:.3f}" for row, of in of_rows.items())
    return inline(figure, title, f"{names[first]} and {names[second]}. {said}.")


def flat_valley(found: Record) -> str:
    """From ep to ttp the likelihood does not change, the probability of [1,1] does."""
    path = found["path"]
    title, flat = "All equally likely, and yet not the same", path[0]["objective"]
    figure, axes = titled(title, 4.1, "probability of [1,1] for [b,c]")
    axes.set_xlabel(f"−log likelihood: {flat:.5f} everywhere on this line")
    axes.set_xlim(-0.05, 1.05)
    axes.set_ylim(0, 1)
    axes.set_xticks([0, 1], ["ep: counted", "ttp"])
    axes.axhline(0.5, color=COLOURS["ink"], lw=1, ls="--")
    axes.text(0, 0.52, "above: [1,1], wrong", color=SOFT)
    axes.plot([step["t"] for step in path], [step["p11"] for step in path], color=COLOURS["red"], lw=3)
    for end in (path[0], path[-1]):
        mark(axes, end["t"], end["p11"], "red")
    low, high = path[0]["p11"], path[-1]["p11"]
    said = f"−log likelihood is {flat:.5f} all the way; p([1,1]) grows from {low:.2f} to {high:.2f}."
    return inline(figure, title, said)


def runaway(found: Record) -> str:
    """Equation 10: the score of all sequences together, which should be 1, and the accuracy."""
    steps = found["steps"]
    title = "Equation 10: the more it is “trained”, the worse"
    figure, axes = titled(title, 3.5, "right labels, %; and log Z, which should be 0")
    axes.set_xlabel("steps up the slope")
    axes.set_ylim(50, 100)
    axes.axhline(found["ep1"], color=COLOURS["ink"], lw=1, ls="--")
    axes.text(steps[-1]["steps"], found["ep1"] + 1, "EP1", color=SOFT, ha="right")
    axes.plot([s["steps"] for s in steps], [s["overall"] for s in steps], color=COLOURS["grey"], lw=3)
    for step in steps:
        mark(axes, step["steps"], step["overall"], "grey")
        if step["log_z"] > 1:
            place = (step["steps"], step["overall"])
            axes.annotate(
                f"{step['log_z']:.1f}", place, (0, -17), textcoords="offset points", ha="center", color=SOFT
            )
    said = "; ".join(f"after {s['steps']} steps {s['overall']:.1f} %, log Z {s['log_z']:.1f}" for s in steps)
    return inline(figure, title, f"Right labels: {said}.")
