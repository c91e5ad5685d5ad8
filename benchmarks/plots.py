"""Curves of trainings, and diagrams of how honest probabilities are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spacy_lal.drawing.palette import FAINT, GRID, RULE
from spacy_lal.drawing.svg import line, n, svg, text

COLOURS = (
    "#08306b",
    "#d95f02",
    "#1b9e77",
    "#7570b3",
    "#e7298a",
    "#66a61e",
    "#e6ab02",
    "#a6761d",
    "#666666",
)
"""Of curves, in their order; after the last comes the first."""
WIDTH, HEIGHT, LEFT, TOP = 460.0, 260.0, 56.0, 44.0
"""The size of a plot's area, and the room at its left and above it, in pixels."""
THICK = "stroke-width='1.5'"
"""The width of a curve, as an attribute of SVG."""
Points = Sequence[tuple[float, float]]
"""From left to right, the place on the horizontal axis and the one on the vertical axis."""


def curves_svg(curves: Mapping[str, Sequence[Points]], *, title: str, lowest: float = 0.0) -> str:
    """Scores in percent by training steps: a colour a name, whose curves are those of its seeds.

    lowest: where the scale begins; points below, of a training's beginning, are left out.
    Raises ValueError if no point is left.
    """
    shown = {
        name: [[point for point in points if point[1] >= lowest] for points in seeds]
        for name, seeds in curves.items()
    }
    every = [point for seeds in shown.values() for points in seeds for point in points]
    if not every:
        raise ValueError(f"no curve has a score of {lowest:g} or more")
    last, highest = max(1, *(step for step, _ in every)), max(score for _, score in every)
    tick = next(size for size in (0.5, 1, 2, 5, 10, 20) if (highest - lowest) / size <= 8)
    top = lowest + tick
    while top < highest:
        top += tick

    def place(step: float, score: float) -> tuple[float, float]:
        return LEFT + WIDTH * step / last, TOP + HEIGHT * (top - score) / (top - lowest)

    parts = [text(16, 22, title, size=15, weight="bold")]
    for k in range(round((top - lowest) / tick) + 1):
        _, y = place(0, lowest + k * tick)
        parts.append(line(LEFT, y, LEFT + WIDTH, y, GRID))
        mark = f"{lowest + k * tick:g}"
        parts.append(text(LEFT - 6, y + 4, mark, size=10, anchor="end", fill=FAINT))
    for k in range(5):
        x, y = place(last * k / 4, lowest)
        mark = f"{last * k / 4:,.0f}"
        parts.append(text(x, y + 16, mark, size=10, anchor="middle", fill=FAINT))
    parts.append(text(LEFT + WIDTH / 2, TOP + HEIGHT + 32, "steps", size=11, anchor="middle"))
    for k, (name, seeds) in enumerate(shown.items()):
        colour = COLOURS[k % len(COLOURS)]
        for points in seeds:
            way = " ".join(",".join(map(n, place(*point))) for point in points)
            parts.append(f"<polyline points='{way}' fill='none' stroke='{colour}' {THICK}/>")
        x, y = LEFT + WIDTH + 16, TOP + 10 + 18 * k
        parts += [line(x, y - 4, x + 18, y - 4, colour), text(x + 24, y, name, size=11)]
    width = LEFT + WIDTH + 60 + 6.2 * max(map(len, shown))
    return svg(width, TOP + HEIGHT + 44, title, parts)


def calibration_svg(curves: Mapping[str, Points], *, title: str) -> str:
    """How often what has a probability is right: a colour a name, a dot a bin.

    Dots of honest probabilities lie on the diagonal, those of a parser that is too sure below it.
    """

    def place(probability: float, share: float) -> tuple[float, float]:
        return LEFT + HEIGHT * probability, TOP + HEIGHT * (1 - share)

    parts = [text(16, 22, title, size=15, weight="bold")]
    for k in range(0, 11, 2):
        x, y = place(k / 10, k / 10)
        parts += [line(LEFT, y, LEFT + HEIGHT, y, GRID), line(x, TOP, x, TOP + HEIGHT, GRID)]
        parts.append(text(LEFT - 6, y + 4, f"{10 * k}", size=10, anchor="end", fill=FAINT))
        below = TOP + HEIGHT + 16
        parts.append(text(x, below, f"{10 * k}", size=10, anchor="middle", fill=FAINT))
    parts.append(line(*place(0, 0), *place(1, 1), RULE, "4 3"))
    middle = LEFT + HEIGHT / 2
    parts.append(text(middle, TOP + HEIGHT + 32, "probability, %", size=11, anchor="middle"))
    parts.append(text(LEFT, TOP - 8, "right, %", size=11, anchor="middle"))
    for k, (name, points) in enumerate(curves.items()):
        colour = COLOURS[k % len(COLOURS)]
        way = " ".join(",".join(map(n, place(*point))) for point in points)
        parts.append(f"<polyline points='{way}' fill='none' stroke='{colour}' {THICK}/>")
        for point in points:
            x, y = place(*point)
            parts.append(f"<circle cx='{n(x)}' cy='{n(y)}' r='3' fill='{colour}'/>")
        x, y = LEFT + HEIGHT + 16, TOP + 10 + 18 * k
        parts += [line(x, y - 4, x + 18, y - 4, colour), text(x + 24, y, name, size=11)]
    width = LEFT + HEIGHT + 60 + 6.2 * max(map(len, curves), default=0)
    return svg(width, TOP + HEIGHT + 44, title, parts)
