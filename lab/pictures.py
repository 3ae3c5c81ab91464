"""Pictures by matplotlib, as SVG: for a page whose style sheet knows the colours, or for a file of its own.

Text stays text, and the same figures give the same bytes.
"""

from __future__ import annotations

import hashlib
import io
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from matplotlib.transforms import Bbox

# By the names of the page's style sheet, which has others in the dark.
COLOURS = {
    "ink": "#1d1f21",
    "soft": "#5d6166",
    "rule": "#dfe2e6",
    "paper": "#fffffe",  # one less than white: a colour that matplotlib does not use by itself
    "blue": "#0072b2",
    "sky": "#3aa0dc",
    "red": "#d55e00",
    "green": "#009e73",
    "orange": "#d79000",
    "purple": "#b0508a",
    "grey": "#707479",
    "right": "#9cc9e6",
    "wrong": "#f3c5a8",
}
LINE = 13.0  # of text, in points
RADIUS = 6.0
WIDTH = 5.0  # inches: 360 points fit a phone; on a larger screen pictures stand side by side
Side = Literal["left", "center", "right"]
CROWDED = 6  # more decades than that, and every other one goes without a figure

mpl.rcParams.update(
    {
        "svg.fonttype": "none",
        "svg.hashsalt": "corate",
        "font.size": 11,
        "axes.titlesize": 12,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.labelcolor": COLOURS["soft"],
        "axes.edgecolor": COLOURS["soft"],
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "grid.color": COLOURS["rule"],
        "text.color": COLOURS["ink"],
        "axes.titlecolor": COLOURS["ink"],
        "xtick.color": COLOURS["soft"],
        "ytick.color": COLOURS["soft"],
        "figure.facecolor": "none",
        "axes.facecolor": "none",
    }
)


def new(width: float = WIDTH, height: float = 4.4) -> Figure:
    """In inches."""
    return Figure(figsize=(width, height), layout="constrained")


def svg(figure: Figure, background: str = "white") -> str:
    """A file of its own: on white, so that one picture serves light and dark pages."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None}, facecolor=background)
    return re.sub(r"<metadata>.*?</metadata>\s*", "", buffer.getvalue(), flags=re.DOTALL)


def inline(figure: Figure, title: str, description: str) -> str:
    """For a page: in its colours, with ids that no other picture has, and with words for who does not see."""
    text = svg(figure, background="none")
    text = re.sub(r"\s*\n\s*", " ", text[text.index("<svg") : text.index("</svg>")])
    for name, colour in COLOURS.items():
        text = text.replace(colour, f"var(--{name})")
    number = hashlib.sha256(f"{title}{description}{text}".encode()).hexdigest()[:8]
    used = set(re.findall(r'(?:href="|url\()#([^")]+)', text))
    text = re.sub(r' id="([^"]+)"', lambda m: f' id="{number}-{m[1]}"' if m[1] in used else "", text)
    text = re.sub(r'(href="|url\()#', rf"\g<1>#{number}-", text)
    box = re.findall(r'viewBox="[^"]+"', text)[0]
    head = (
        f'<svg {box} role="img" aria-labelledby="t{number} d{number}"><title id="t{number}">{escape(title)}'
    )
    head += f'</title><desc id="d{number}">{escape(description)}</desc>'
    return head + text.partition(">")[2].strip() + "</svg>"


def mark(axes: Axes, x: float, y: float, colour: str, shape: str = "o") -> None:
    """Colour is the family, shape the member; one with ° is empty inside."""
    is_empty, size = shape.endswith("°"), 8 if shape[0] == "D" else 10
    inside, edge = ("paper", colour) if is_empty else (colour, "paper")
    look: dict[str, Any] = {"mfc": COLOURS[inside], "mec": COLOURS[edge], "mew": 2.2 if is_empty else 0.8}
    axes.plot([x], [y], shape[0], ms=size, clip_on=False, zorder=3, **look)


@dataclass(frozen=True)
class Point:
    """What took so many seconds, and how much of it was right, in percent."""

    name: str
    seconds: float
    rate: float
    colour: str
    shape: str = "o"


def time_and_rate(axes: Axes, points: Sequence[Point], time_title: str) -> None:
    """Every point with its name beside it."""
    log_axis(axes, [point.seconds for point in points])
    axes.set_xlabel(time_title)
    rates = [point.rate for point in points]
    margin = 0.12 * (max(rates) - min(rates)) or 1.0
    axes.set_ylim(min(rates) - margin, max(rates) + margin)
    for point in points:
        mark(axes, point.seconds, point.rate, point.colour, point.shape)
    _place_names(axes, points)


def log_axis(axes: Axes, values: Iterable[float]) -> None:
    """Decades of seconds around some values."""
    logs = [math.log10(value) for value in values]
    low, high = math.floor(min(logs) - 0.05), math.ceil(max(logs) + 0.05)
    axes.set_xscale("log")
    axes.set_xlim(10.0**low, 10.0**high)
    decades = [10.0**exponent for exponent in range(low, high + 1)]
    axes.xaxis.set_major_locator(FixedLocator(decades))
    axes.xaxis.set_minor_locator(NullLocator())
    named = set(decades[:: 2 if len(decades) > CROWDED else 1])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: seconds(value) if value in named else ""))


def seconds(value: float) -> str:
    """A power of ten of seconds, in a unit that is felt."""
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if value >= 2 * size:
            return f"{value / size:.0f} {unit}"
    return f"{value:g} s"


def _place_names(axes: Axes, points: Sequence[Point]) -> None:
    """Beside a mark, where nothing else is; a little farther away, and with a line to it, if need be."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
    figure.draw_without_rendering()  # places are known once the layout is
    unit = figure.dpi / 72
    marks = axes.transData.transform([(point.seconds, point.rate) for point in points])
    taken = [Bbox.from_bounds(x, y, 0, 0).padded(RADIUS * unit) for x, y in marks]
    away = RADIUS + 3
    steps = [step * LINE for step in (0, 0.8, -0.8, 1.6, -1.6, 2.6, -2.6, 3.6, -3.6)]
    sides: tuple[tuple[float, Side], ...] = ((away, "left"), (-away, "right"), (0.0, "center"))
    places = [(dx, dy, side) for dy in steps for dx, side in sides]
    for point in sorted(points, key=lambda point: -point.rate):
        at = (point.seconds, point.rate)
        name = axes.annotate(point.name, at, (away, 0), textcoords="offset points", va="center_baseline")
        for dx, dy, side in places:
            name.set_position((dx, dy))
            name.set_horizontalalignment(side)
            box = name.get_window_extent(renderer)
            if _within(box, axes.bbox) and not any(box.overlaps(other) for other in taken):
                break
        if abs(dy) > LINE:
            line = {"arrowstyle": "-", "color": COLOURS["soft"], "lw": 0.7, "shrinkB": RADIUS}
            end = (dx, dy - math.copysign(LINE / 2, dy))
            axes.annotate("", at, end, textcoords="offset points", arrowprops=line)
        taken.append(box)


def _within(box: Bbox, frame: Bbox) -> bool:
    return bool(frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1)
