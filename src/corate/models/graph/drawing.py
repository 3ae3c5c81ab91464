"""Pictures of networks, as SVG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from corate.models.graph.conditionals import Conditional, mutual_information
from corate.models.graph.graphs import Edge, Graph, nx

WIDTH, HEIGHT, EDGE = 960, 640, 70
LETTER = 7.2  # width of a letter of the names


def svg_of(edges: Sequence[Edge], conditionals: Mapping[str, Conditional]) -> str:
    """Columns as boxes; an edge is as thick as the information that its ends share, in bits."""
    graph = nx().Graph()
    graph.add_nodes_from(conditionals)
    for a, b in edges:
        bits = _information(a, b, conditionals)
        graph.add_edge(a, b, weight=1.0, bits=bits)
    place = _places(graph)
    most = max((d["bits"] for _, _, d in graph.edges(data=True) if d["bits"]), default=1.0) or 1.0
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="13">',
        "<style>.e{stroke:#7a8fa6}.n{fill:#fff;stroke:#34495e}.t{fill:#1f2d3a;text-anchor:middle}"
        ".b{fill:#6b7885;font-size:11px;text-anchor:middle}</style>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
    ]
    for a, b, data in graph.edges(data=True):
        (x, y), (u, v) = place[a], place[b]
        width = 1 + 7 * (data["bits"] or 0.0) / most
        parts.append(
            f'<line class="e" x1="{x:.1f}" y1="{y:.1f}" x2="{u:.1f}" y2="{v:.1f}" '
            f'stroke-width="{width:.1f}"/>'
        )
        if data["bits"] is not None:
            parts.append(
                f'<text class="b" x="{(x + u) / 2:.1f}" y="{(y + v) / 2 - 4:.1f}">{data["bits"]:.2g}</text>'
            )
    for name, (x, y) in place.items():
        half = max(18.0, LETTER * len(name) / 2 + 8)
        parts.append(
            f'<rect class="n" x="{x - half:.1f}" y="{y - 13:.1f}" width="{2 * half:.1f}" height="26" rx="6"/>'
        )
        parts.append(f'<text class="t" x="{x:.1f}" y="{y + 4.5:.1f}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _places(graph: Graph) -> dict[str, tuple[float, float]]:
    """Where each column stands: near its neighbours, spread over the page."""
    found = nx().kamada_kawai_layout(graph) if len(graph) > 1 else dict.fromkeys(graph, (0.0, 0.0))
    xs, ys = [float(x) for x, _ in found.values()], [float(y) for _, y in found.values()]
    wide, high = (max(v) - min(v) or 1.0 for v in (xs, ys))
    return {
        name: (
            EDGE + (float(x) - min(xs)) / wide * (WIDTH - 2 * EDGE),
            EDGE / 2 + (float(y) - min(ys)) / high * (HEIGHT - EDGE),
        )
        for name, (x, y) in found.items()
    }


def _information(a: str, b: str, conditionals: Mapping[str, Conditional]) -> float | None:
    """Mutual information of two neighbours in bits, by the counts of the one that is the child."""
    for child, parent in ((a, b), (b, a)):
        each = conditionals[child]
        if parent in each.parents:
            counted = each.counts[-1]  # axes: the ranked parents, then the child
            k = each.ranked.index(parent)
            others = tuple(j for j in range(len(each.ranked)) if j != k)
            return mutual_information(counted.sum(axis=others)) / math.log(2)
    return None
