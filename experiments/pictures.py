"""The pictures of the report, each drawn from the results of one experiment."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from boxes import Box
from drawing import LINE, WIDTH, Linear, Log, Picture
from measure import DONE, NOT_RUN
from models import MODELS
from results import Record
from tagging_table import duration, row_of

LEFT, RIGHT, TOP, BOTTOM = 40, 20, 34, 40
ROW = 21
NAMES = 112  # width of a column of model names


def done(records: Mapping[str, Record]) -> dict[str, Record]:
    return {key: record for key, record in records.items() if record["status"] == DONE}


def time_and_accuracy(title: str, split: Record, keys: Sequence[str], metric: str = "overall") -> str:
    """Every model a point: how long training took, how many labels are right."""
    points = {key: split["models"][key] for key in keys if split["models"].get(key, {}).get("status") == DONE}
    height = 330
    x = Log.around((of["seconds"] for of in points.values()), LEFT, WIDTH - RIGHT)
    rates = [of[metric] for of in points.values()]
    margin = 0.12 * (max(rates) - min(rates))
    y = Linear(min(rates) - margin, max(rates) + margin, height - BOTTOM, TOP)
    said = "; ".join(
        f"{MODELS[k].title}: {of[metric]:.1f} % after {duration(of['seconds'])}" for k, of in points.items()
    )
    picture = Picture(title, f"Right labels and training time. {said}.", height)
    what = "right labels, %" if metric == "overall" else "entity F1, %"
    picture.y_axis(y, LEFT, WIDTH - RIGHT, title=what)
    picture.x_axis(x, height - BOTTOM, TOP, "seconds", "training time, a tenfold a step")
    for key, of in points.items():
        picture.mark(MODELS[key], x(of["seconds"]), y(of[metric]))
    frame = Box(LEFT, TOP - 6, WIDTH - LEFT - 2, height - TOP - BOTTOM + 6)
    for key, of in sorted(points.items(), key=lambda item: -item[1][metric]):
        picture.place_label(x(of["seconds"]), y(of[metric]), MODELS[key].title, frame)
    return picture.svg()


def times(title: str, split: Record, together: Sequence[Record] = ()) -> str:
    """Training times, measured and published, a row a model; on an axis for all of `together`."""
    ours = split["models"]
    published = {row_of(m): of["seconds"] for m, of in split["published"].items()}
    keys = sorted(
        [*ours, *(key for key in published if key not in ours)], key=lambda k: _time(ours, published, k)
    )
    height = TOP + ROW * len(keys) + BOTTOM - 6
    known = [seconds for each in together or [split] for seconds in _all_times(each)]
    x = Log.around(known, NAMES, WIDTH - 18)
    picture = Picture(title, _said_of_times(ours, published), height)
    picture.text(2, 14, title, name="heading")
    picture.x_axis(x, height - BOTTOM + 6, TOP - 8, "seconds")
    for i, key in enumerate(keys):
        y = TOP + ROW * i + ROW / 2
        picture.text(2, y + 4, MODELS[key].title if key in MODELS else f"{key}, published")
        if key in published:
            place = x(published[key])
            picture.curve([(place - 5, y - 5), (place + 5, y + 5)], "cross")
            picture.curve([(place - 5, y + 5), (place + 5, y - 5)], "cross")
        if key in ours:
            _time_mark(picture, x, y, key, ours[key])
    return picture.svg()


def _all_times(split: Record) -> list[float]:
    figures = [*split["models"].values(), *split["published"].values()]
    return [of[name] for of in figures for name in ("seconds", "cap") if of.get(name)]


def _time(ours: Mapping[str, Record], published: Mapping[str, float], key: str) -> float:
    of = ours.get(key, {})
    return float(of.get("seconds") or of.get("cap") or published.get(key, math.inf))


def _time_mark(picture: Picture, x: Log, y: float, key: str, of: Record) -> None:
    if of["status"] == DONE:
        picture.line(x.start, y, x(of["seconds"]), y, f"stem {MODELS[key].colour}")
        picture.mark(MODELS[key], x(of["seconds"]), y)
        return
    seconds = of["seconds"] if of["status"] == NOT_RUN else of["cap"]
    if seconds is None:
        picture.text(x.start + 4, y + 4, "not run", name="tick")
        return
    place = x(seconds)
    picture.line(x.start, y, place, y, f"stem dashed {MODELS[key].colour}")
    picture.text(place, y + 4, "?" if of["status"] == NOT_RUN else "›", "middle", "unknown")


def _said_of_times(ours: Mapping[str, Record], published: Mapping[str, float]) -> str:
    said = []
    for key, of in ours.items():
        name = MODELS[key].title
        if of["status"] == DONE:
            said.append(f"{name} {duration(of['seconds'])}")
        elif of["status"] == NOT_RUN:
            about = f", would take about {duration(of['seconds'])}" if of["seconds"] else ""
            said.append(f"{name} not run{about}")
        else:
            said.append(f"{name} stopped after {of['cap']} s")
    quoted = [f"{MODELS[k].title if k in MODELS else k} {duration(s)}" for k, s in published.items()]
    return f"Measured: {'; '.join(said)}. Published: {'; '.join(quoted)}."


def accuracy_by_split(title: str, series: Mapping[str, Mapping[str, float]], sizes: Mapping[str, int]) -> str:
    """`series[key][split]` in percent, over training tokens."""
    height, room = 360, 124
    x = Log.around(sizes.values(), LEFT, WIDTH - room)
    rates = [rate for of in series.values() for rate in of.values()]
    y = Linear(min(rates) - 0.5, max(rates) + 0.5, height - BOTTOM, TOP)
    said = "; ".join(
        f"{_name(key)}: " + ", ".join(f"{rate:.1f} on {split}" for split, rate in of.items())
        for key, of in series.items()
    )
    picture = Picture(title, f"Right labels in percent. {said}.", height)
    picture.text(2, 14, title, name="heading")
    picture.y_axis(y, LEFT, WIDTH - room)
    picture.line(LEFT, height - BOTTOM, WIDTH - room, height - BOTTOM)
    last = -math.inf
    for tokens in sizes.values():
        picture.line(x(tokens), height - BOTTOM, x(tokens), height - BOTTOM + 4)
        if x(tokens) - last < 2.2 * LINE:
            continue
        last = x(tokens)
        picture.text(x(tokens), height - BOTTOM + LINE + 2, _thousands(tokens), "middle", "tick")
    picture.text((LEFT + WIDTH - room) / 2, height - 4, "training tokens", "middle", "axis-title")
    ends = []
    for key, of in series.items():
        colour = MODELS[key].colour if key in MODELS else "grey"
        points = [(x(sizes[split]), y(rate)) for split, rate in of.items()]
        picture.curve(points, f"curve {colour}")
        for place in points:
            if key in MODELS:
                picture.mark(MODELS[key], *place)
        ends.append((points[-1], _name(key)))
    for (at, label_y), name in spread(ends, TOP, height - BOTTOM):
        picture.line(at[0] + 7, at[1], WIDTH - room + 5, label_y, "leader")
        picture.text(WIDTH - room + 8, label_y + 4, name)
    return picture.svg()


def _thousands(tokens: int) -> str:
    return f"{tokens / 1000:.0f}k"


def _name(key: str) -> str:
    return MODELS[key].title if key in MODELS else key


def spread(
    ends: Sequence[tuple[tuple[float, float], str]], top: float, bottom: float
) -> list[tuple[tuple[tuple[float, float], float], str]]:
    """Labels at the ends of curves, moved apart so that none covers another."""
    ordered = sorted(ends, key=lambda end: end[0][1])
    places = [at[1] for at, _ in ordered]
    for i in range(1, len(places)):
        places[i] = max(places[i], places[i - 1] + LINE)
    over = max(0.0, places[-1] - bottom)
    for i in reversed(range(len(places))):
        limit = bottom if i == len(places) - 1 else places[i + 1] - LINE
        places[i] = min(places[i], limit) if over else places[i]
    return [((at, max(place, top)), name) for (at, name), place in zip(ordered, places, strict=True)]


def differences(title: str, split: Record, reference: str, metric: str = "accuracy") -> str:
    """The lead of every model over a reference, with its 95 % interval from resampled sentences."""
    leads = leads_over(split, reference, metric)
    height = TOP + ROW * len(leads) + BOTTOM - 6
    ends = [0.0, *(end for of in leads.values() for end in (of["low"], of["high"]))]
    margin = 0.05 * (max(ends) - min(ends)) or 1.0
    x = Linear(min(ends) - margin, max(ends) + margin, NAMES, WIDTH - 14)
    said = "; ".join(
        f"{MODELS[k].title} {of['lead']:+.2f}, from {of['low']:+.2f} to {of['high']:+.2f}"
        for k, of in leads.items()
    )
    picture = Picture(title, f"Points of difference to {MODELS[reference].title}: {said}.", height)
    picture.text(2, 14, title, name="heading")
    picture.x_axis(x, height - BOTTOM + 6, TOP - 8, "signed")
    picture.line(x(0), TOP - 8, x(0), height - BOTTOM + 6, "zero")
    for i, (key, of) in enumerate(leads.items()):
        y = TOP + ROW * i + ROW / 2
        picture.text(2, y + 4, MODELS[key].title)
        picture.mark(MODELS[key], x(of["lead"]), y)
        picture.line(x(of["low"]), y, x(of["high"]), y, "interval")
        for end in ("low", "high"):
            picture.line(x(of[end]), y - 8, x(of[end]), y + 8, "interval")
    return picture.svg()


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
    """A point a round, a row a model."""
    keys = sorted(found["models"], key=lambda key: -found["models"][key]["overall"])
    height = TOP + ROW * len(keys) + BOTTOM
    x = Linear(60, 100, NAMES, WIDTH - 12)
    said = "; ".join(f"{MODELS[k].title} {found['models'][k]['overall']:.1f}" for k in keys)
    title = "Right labels, %, in ten simulated rounds"
    picture = Picture(title, f"Mean of the rounds: {said}. Best possible {found['optimum']:.1f}.", height)
    picture.text(2, 14, title, name="heading")
    picture.x_axis(x, height - BOTTOM, TOP - 6)
    for value, name in ((found["blind"], "blind"), (found["optimum"], "best possible")):
        picture.line(x(value), TOP - 6, x(value), height - BOTTOM, "zero")
        picture.text(x(value), height - BOTTOM + 2.2 * LINE, name, "middle", "tick")
    for i, key in enumerate(keys):
        y = TOP + ROW * i + ROW / 2
        picture.text(2, y + 4, MODELS[key].title)
        for rate in found["models"][key]["rounds"]:
            picture.line(x(rate), y - 6, x(rate), y + 6, f"stem {MODELS[key].colour}")
        picture.mark(MODELS[key], x(found["models"][key]["overall"]), y)
    return picture.svg()


def shares(title: str, rows: Mapping[str, Mapping[str, float]], names: Mapping[str, str]) -> str:
    """Two probabilities of each row, bars from the left and from the right; others have what is between."""
    height = TOP + LINE + (ROW + 3) * len(rows) + 6
    first, second = names
    said = "; ".join(f"{row}: {of[first]:.3f} and {of[second]:.3f}" for row, of in rows.items())
    picture = Picture(title, f"{names[first]} and {names[second]}. {said}.", height)
    picture.text(2, 14, title, name="heading")
    picture.text(NAMES, TOP, names[first], name="tick")
    picture.text(WIDTH - 12, TOP, names[second], "end", "tick")
    width = WIDTH - 12 - NAMES
    for i, (row, of) in enumerate(rows.items()):
        y = TOP + LINE / 2 + (ROW + 3) * i
        edge = NAMES + width * of[first]
        picture.text(2, y + 14, row)
        picture.rect(NAMES, y, edge - NAMES, ROW - 3, "bar right")
        picture.rect(NAMES + width * (1 - of[second]), y, width * of[second], ROW - 3, "bar wrong")
        picture.text(NAMES + 5, y + 13, f"{of[first]:.3f}", name="in-right")
        picture.text(WIDTH - 17, y + 13, f"{of[second]:.3f}", "end", "in-wrong")
    picture.line(NAMES + width / 2, TOP + 4, NAMES + width / 2, height - 4, "zero")
    return picture.svg()


def flat_valley(found: Record) -> str:
    """From ep to ttp the likelihood does not change, the probability of [1,1] does."""
    height = 300
    x = Linear(0, 1, LEFT + 14, WIDTH - 26)
    y = Linear(0, 1, height - BOTTOM - 8, TOP + 8)
    low, high = found["path"][0]["p11"], found["path"][-1]["p11"]
    flat = found["path"][0]["objective"]
    title = "All equally likely, and yet not the same"
    said = f"−log likelihood is {flat:.5f} all the way; p([1,1]) grows from {low:.2f} to {high:.2f}."
    picture = Picture(title, said, height)
    picture.text(2, 14, title, name="heading")
    picture.y_axis(y, LEFT + 14, WIDTH - 26)
    picture.text(LEFT + 14, TOP, "probability of [1,1] for [b,c]", name="tick")
    picture.line(LEFT + 14, y(0.5), WIDTH - 26, y(0.5), "zero")
    picture.text(LEFT + 20, y(0.5) - 5, "above: [b,c] is labelled [1,1], wrong", name="tick")
    picture.curve([(x(step["t"]), y(step["p11"])) for step in found["path"]], "curve red thick")
    for t, name, anchor in ((0, "ep: counted", "start"), (1, "ttp", "end")):
        p = found["path"][-t]["p11"] if t else low
        picture.parts.append(f'<circle cx="{x(t):.1f}" cy="{y(p):.1f}" r="6" class="full red"/>')
        picture.text(x(t), y(p) + (20 if t == 0 else -11), name, anchor)
    picture.text(x(0), height - BOTTOM + 8, "ep", "middle", "tick")
    picture.text(x(1), height - BOTTOM + 8, "ttp", "middle", "tick")
    below = f"−log likelihood: {flat:.5f} everywhere on this line"
    picture.text((x(0) + x(1)) / 2, height - 10, below, "middle", "axis-title")
    return picture.svg()


def runaway(found: Record) -> str:
    """Equation 10: the score of all sequences together, which should be 1, and the accuracy."""
    steps = found["steps"]
    height = 250
    x = Linear(0, steps[-1]["steps"], LEFT, WIDTH - 18)
    y = Linear(50, 100, height - BOTTOM, TOP + 14)
    title = "Equation 10: the more it is “trained”, the worse"
    said = "; ".join(f"after {s['steps']} steps {s['overall']:.1f} %, log Z {s['log_z']:.1f}" for s in steps)
    picture = Picture(title, f"Right labels: {said}.", height)
    picture.text(2, 14, title, name="heading")
    picture.y_axis(y, LEFT, WIDTH - 18, title="right labels, %; and log Z, which should be 0")
    picture.x_axis(x, height - BOTTOM, TOP + 14, title="steps up the slope")
    picture.line(LEFT, y(found["ep1"]), WIDTH - 18, y(found["ep1"]), "zero")
    picture.text(WIDTH - 20, y(found["ep1"]) - 5, "EP1", "end", "tick")
    picture.curve([(x(s["steps"]), y(s["overall"])) for s in steps], "curve grey thick")
    for step in steps:
        place = x(step["steps"]), y(step["overall"])
        picture.parts.append(f'<circle cx="{place[0]:.1f}" cy="{place[1]:.1f}" r="4" class="full grey"/>')
        if step["log_z"] > 1:
            picture.text(place[0], place[1] + 18, f"{step['log_z']:.1f}", "middle", "tick")
    return picture.svg()
