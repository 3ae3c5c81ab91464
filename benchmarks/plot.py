"""Accuracy against training time as SVG: a panel a split, a point a tagger, time on a logarithmic axis."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiments"))

from boxes import Box

WIDTH, HEIGHT = 330, 300  # of a panel
LEFT, RIGHT, TOP, BOTTOM = 48, 14, 34, 44  # margins around its axes
RADIUS, FONT, LETTER = 5, 12, 7  # LETTER: mean width of one, rather too wide than too narrow
OURS, PAPERS, THEIRS = "#0b57d0", "#7aa7ef", "#80868b"
INK, GRID = "#202124", "#e3e5e8"


@dataclass(frozen=True)
class Point:
    name: str
    seconds: float
    rate: float
    colour: str


@dataclass(frozen=True)
class Panel:
    title: str
    measure: str
    points: Sequence[Point]


FRAME = Box(LEFT, TOP, WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM)


class Axes:
    """From seconds and percent to places in a panel."""

    def __init__(self, points: Sequence[Point]) -> None:
        logs = [math.log10(point.seconds) for point in points]
        rates = [point.rate for point in points]
        self.log_low, self.log_high = math.floor(min(logs) - 0.1), math.ceil(max(logs) + 0.1)
        self.step = next(s for s in (0.5, 1, 2, 5, 10, 20) if (max(rates) - min(rates)) / s <= 6)
        self.low = self.step * math.floor(min(rates) / self.step - 0.3)
        self.high = self.step * math.ceil(max(rates) / self.step + 0.3)

    def x(self, seconds: float) -> float:
        share = (math.log10(seconds) - self.log_low) / (self.log_high - self.log_low)
        return FRAME.x + FRAME.width * share

    def y(self, rate: float) -> float:
        return FRAME.y + FRAME.height * (self.high - rate) / (self.high - self.low)

    def decades(self) -> list[float]:
        return [10.0**exponent for exponent in range(self.log_low, self.log_high + 1)]

    def rates(self) -> list[float]:
        return [self.low + i * self.step for i in range(round((self.high - self.low) / self.step) + 1)]


def svg(panels: Sequence[Panel]) -> str:
    """The background is white whatever the page's: one picture serves light and dark pages."""
    width = WIDTH * len(panels)
    size = f'width="{width}" height="{HEIGHT}" viewBox="0 0 {width} {HEIGHT}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="{FONT}">',
        f'<rect width="{width}" height="{HEIGHT}" fill="#ffffff"/>',
    ]
    for number, panel in enumerate(panels):
        lines += [f'<g transform="translate({number * WIDTH} 0)">', *_panel(panel), "</g>"]
    return "\n".join([*lines, "</svg>\n"])


def _panel(panel: Panel) -> Iterator[str]:
    axes = Axes(panel.points)
    bottom = FRAME.y + FRAME.height
    yield _text(FRAME.x, TOP - 14, f"{panel.title}: {panel.measure}, %", weight="bold")
    for seconds in axes.decades():
        x = axes.x(seconds)
        yield _line(x, FRAME.y, x, bottom)
        yield _text(x, bottom + 16, f"{seconds:g}", anchor="middle")
    for rate in axes.rates():
        y = axes.y(rate)
        yield _line(FRAME.x, y, FRAME.x + FRAME.width, y)
        yield _text(FRAME.x - 6, y + 4, f"{rate:g}", anchor="end")
    yield _text(FRAME.x + FRAME.width / 2, bottom + 34, "training, CPU seconds", anchor="middle")
    for point in panel.points:
        place = f'cx="{axes.x(point.seconds):.1f}" cy="{axes.y(point.rate):.1f}"'
        yield f'<circle {place} r="{RADIUS}" fill="{point.colour}" stroke="#ffffff"/>'
    for point, box in _names(panel.points, axes):
        weight = "bold" if point.colour == OURS else "normal"
        is_left = box.x + box.width <= axes.x(point.seconds)
        x, anchor = (box.x + box.width, "end") if is_left else (box.x, "start")
        yield _text(x, box.y + FONT - 1, point.name, anchor, weight)


def _names(points: Sequence[Point], axes: Axes) -> Iterator[tuple[Point, Box]]:
    """Every name at the first place beside its point where it covers nothing."""
    taken = [Box(axes.x(p.seconds) - RADIUS, axes.y(p.rate) - RADIUS, 2 * RADIUS, 2 * RADIUS) for p in points]
    for point in points:
        boxes = list(_places(axes.x(point.seconds), axes.y(point.rate), LETTER * len(point.name)))
        free = (b for b in boxes if b.is_within(FRAME) and not any(map(b.overlaps, taken)))
        box = next(free, boxes[0])
        taken.append(box)
        yield point, box


def _places(x: float, y: float, width: float) -> Iterable[Box]:
    gap, half = RADIUS + 3, FONT / 2
    for shift in (0, -half, half, -FONT, FONT, -2 * FONT, 2 * FONT):
        for left in (x + gap, x - gap - width, x - width / 2):
            yield Box(left, y - half + shift, width, FONT + 2)


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{GRID}"/>'


def _text(x: float, y: float, text: str, anchor: str = "start", weight: str = "normal") -> str:
    style = f'text-anchor="{anchor}" font-weight="{weight}" fill="{INK}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(text)}</text>'
