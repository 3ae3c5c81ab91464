"""The learning curve as a picture, by matplotlib: a panel a measure, and what is expected of larger sizes."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from corate.errors import InputError
from corate.evaluation.curve import NAMES, Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = ("svg", "png")
MEASURED, BEYOND = "#0072b2", "#d55e00"


def check_matplotlib() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise InputError("a picture needs matplotlib: pip install 'corate[plot]'") from None


def draw(curves: Mapping[str, Curve], kind: str = "svg") -> bytes:
    """The picture as bytes of a file; the same curves give the same bytes."""
    check_matplotlib()
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "corate", "grid.color": "#dfe2e6"}):
        figure = Figure(figsize=(5.5 * len(curves), 3.8), layout="constrained")
        panels = figure.subplots(1, len(curves), squeeze=False)[0]
        for axes, (name, curve) in zip(panels, curves.items(), strict=True):
            _panel(axes, NAMES.get(name, name), curve)
        buffer = io.BytesIO()
        metadata = {"Date": None} if kind == "svg" else {"Software": None}
        figure.savefig(buffer, format=kind, dpi=150, metadata=metadata)
    return buffer.getvalue()


def _panel(axes: Axes, name: str, curve: Curve) -> None:
    sizes = [point.sentences for point in curve.points]
    means = [100 * point.mean for point in curve.points]
    spreads = [100 * (point.spread or 0.0) for point in curve.points]
    ticks = [*sizes, *(each.sentences for each in curve.expected)]
    axes.set_xscale("log")
    axes.errorbar(sizes, means, spreads, fmt="o", color=MEASURED, capsize=3, label="measured")
    if curve.law is not None:
        known = np.geomspace(sizes[0], sizes[-1], 100)
        axes.plot(known, [100 * curve.law(n) for n in known.tolist()], color=MEASURED, linewidth=1)
    if curve.expected:
        beyond = [sizes[-1], *(each.sentences for each in curve.expected)]
        values, low, high = (
            [means[-1], *(100 * getattr(each, end) for each in curve.expected)]
            for end in ("value", "low", "high")
        )
        axes.plot(beyond, values, "--o", color=BEYOND, linewidth=1, markerfacecolor="white", label="expected")
        axes.fill_between(beyond, low, high, color=BEYOND, alpha=0.15, linewidth=0)
    axes.set_xticks(ticks, [f"{n:,}" for n in ticks], rotation=45, ha="right")
    axes.minorticks_off()
    axes.grid(visible=True)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel("training sentences")
    axes.set_ylabel(f"{name}, %")
    axes.legend(loc="lower right", frameon=False)
