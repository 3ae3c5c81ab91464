"""A little SVG: scales, axes, marks and text. Colours are names that the page's style sheet knows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import count

from boxes import Box
from models import MODELS, Model

WIDTH = 360  # fits a phone; on a larger screen pictures stand side by side
LETTER = 6.6  # mean width of one at the size of labels, rather too wide than too narrow
LINE = 14
CROWDED = 6  # more ticks than that, and every other one goes without a figure
RADIUS = 5.5

_numbers = count(1)


def reset_numbers() -> None:
    """Ids count from 1 in every page."""
    global _numbers
    _numbers = count(1)


@dataclass(frozen=True)
class Linear:
    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        return self.start + (self.end - self.start) * (value - self.low) / (self.high - self.low)

    def ticks(self, most: int = 6) -> list[float]:
        span = self.high - self.low
        sizes = (m * 10.0**e for e in range(-4, 5) for m in (1, 2, 5))
        step = next(size for size in sizes if span / size <= most)
        first = math.ceil(self.low / step - 1e-9)
        return [step * k for k in range(first, math.floor(self.high / step + 1e-9) + 1)]


@dataclass(frozen=True)
class Log:
    """low and high are powers of ten."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.start + (self.end - self.start) * share

    def ticks(self) -> list[float]:
        first, last = round(math.log10(self.low)), round(math.log10(self.high))
        return [10.0**e for e in range(first, last + 1)]

    @classmethod
    def around(cls, values: Iterable[float], start: float, end: float) -> Log:
        logs = [math.log10(value) for value in values]
        low, high = math.floor(min(logs) - 0.05), math.ceil(max(logs) + 0.05)
        return cls(10.0**low, 10.0**high, start, end)


class Picture:
    """An image with a title and, for those who do not see it, a description of what it shows."""

    def __init__(self, title: str, description: str, height: float, width: float = WIDTH) -> None:
        self.title, self.description = title, description
        self.width, self.height = width, height
        self.parts: list[str] = []
        self.taken: list[Box] = []  # by marks and labels

    def line(self, x1: float, y1: float, x2: float, y2: float, name: str = "axis") -> None:
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{name}"/>')

    def rect(self, x: float, y: float, width: float, height: float, name: str) -> None:
        place = f'x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{height:.1f}"'
        self.parts.append(f'<rect {place} class="{name}"/>')

    def curve(self, points: Sequence[tuple[float, float]], name: str) -> None:
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{places}" class="{name}"/>')

    def text(self, x: float, y: float, text: str, anchor: str = "start", name: str = "label") -> None:
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{name}">{escape(text)}</text>'
        )

    def mark(self, model: Model, x: float, y: float) -> None:
        self.parts.append(symbol(model, x, y))
        self.taken.append(Box(x - RADIUS, y - RADIUS, 2 * RADIUS, 2 * RADIUS))

    def place_label(self, x: float, y: float, text: str, within: Box) -> None:
        """Beside a mark, where nothing else is; a little farther away if need be."""
        width = LETTER * len(text)
        away = RADIUS + 4
        for distance in (0, LINE * 0.8, LINE * 1.6, LINE * 2.6, LINE * 3.6):
            for dy in (0.0,) if distance == 0 else (-distance, distance):
                for left in (x + away, x - away - width, x - width / 2):
                    box = Box(left, y + dy - LINE / 2, width, LINE)
                    if box.is_within(within) and not any(map(box.overlaps, self.taken)):
                        self.taken.append(box)
                        if distance > LINE:
                            self.line(x, y, min(max(x, left), left + width), y + dy * 0.75, "leader")
                        self.text(left, y + dy + 4, text)
                        return
        self.text(x + away, y + 4, text)

    def x_axis(self, scale: Linear | Log, y: float, top: float, form: str = "", title: str = "") -> None:
        """Ticks below, lines of the grid up to `top`; `form` is "seconds", "signed" or nothing."""
        for i, value in enumerate(scale.ticks()):
            x = scale(value)
            self.line(x, top, x, y, "grid")
            if isinstance(scale, Log) and i % 2 and len(scale.ticks()) > CROWDED:
                continue
            self.text(x, y + LINE, _tick(value, form), "middle", "tick")
        self.line(scale.start, y, scale.end, y)
        if title:
            self.text((scale.start + scale.end) / 2, y + 2.3 * LINE, title, "middle", "axis-title")

    def y_axis(self, scale: Linear, x: float, right: float, form: str = "{:g}", title: str = "") -> None:
        for value in scale.ticks():
            y = scale(value)
            self.line(x, y, right, y, "grid")
            self.text(x - 5, y + 4, form.format(value), "end", "tick")
        if title:
            self.text(2, min(scale.start, scale.end) - 10, title, "start", "axis-title")

    def svg(self) -> str:
        number = next(_numbers)
        names = f"t{number} d{number}"
        return (
            f'<svg viewBox="0 0 {self.width:g} {self.height:g}" role="img" aria-labelledby="{names}">'
            f'<title id="t{number}">{escape(self.title)}</title>'
            f'<desc id="d{number}">{escape(self.description)}</desc>{"".join(self.parts)}</svg>'
        )


def symbol(model: Model, x: float, y: float, radius: float = RADIUS) -> str:
    """Colour is the family, shape the member; a ring is empty inside."""
    shape, _, hollow = model.shape.partition("-")
    if shape == "ring":
        shape, hollow = "circle", "ring"
    name = f"{'hollow' if hollow else 'full'} {model.colour}"
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" class="{name}"/>'
    r = radius
    corners = {
        "square": [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
        "diamond": [(0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)],
        "triangle": [(0, -1.2), (1.15, 0.9), (-1.15, 0.9)],
        "down": [(0, 1.2), (1.15, -0.9), (-1.15, -0.9)],
    }[shape]
    points = " ".join(f"{x + r * dx:.1f},{y + r * dy:.1f}" for dx, dy in corners)
    return f'<polygon points="{points}" class="{name}"/>'


def swatch(key: str) -> str:
    """The mark of a model beside its name, where its name says what it is."""
    mark = symbol(MODELS[key], 8, 8)
    return f'<svg viewBox="0 0 16 16" class="swatch" aria-hidden="true" focusable="false">{mark}</svg>'


def _tick(value: float, form: str) -> str:
    if form == "seconds":
        return seconds(value)
    return f"{value:+g}" if form == "signed" and abs(value) > 1e-9 else f"{value:g}"


def seconds(value: float) -> str:
    """A power of ten of seconds, in a unit that is felt."""
    names = {60: "min", 3600: "h", 86_400: "d"}
    for size, unit in reversed(names.items()):
        if value >= 2 * size:
            return f"{value / size:.0f} {unit}"
    return f"{value:g} s"
