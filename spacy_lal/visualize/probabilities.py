"""A chart of all spans of a sentence, each as dark as it is probable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .palette import GRID, INK, PAPER, TOP, shade
from .svg import rect, scale, svg, text
from .widths import shortened, width

if TYPE_CHECKING:
    from ..interpret import SpanProbabilities

CELL_X, CELL_Y = 36.0, 22.0
"""The width and the height of a cell, in pixels."""
LABELLED = 0.2
"""From which probability on a cell bears its label."""
SHOWN = 0.005
"""From which probability on a long sentence's cell is drawn at all: it has a thousand of them."""


def probabilities_svg(found: SpanProbabilities, *, styled: bool = True) -> str:
    """The chart of a sentence: a row a width, single words at the foot, the whole sentence on top.

    A cell's middle is above the middle of its words. A cell with a frame is more probable than not.
    """
    words = [shortened(word, 20) for word in found.words]
    n = len(words)
    slanted = max((width(word, 12) for word in words), default=0.0) * 0.71
    left, top = max(16.0, slanted - CELL_X / 2 + 8), 40.0
    bottom = top + CELL_Y * n
    parts = [text(16, 22, "Probability of every span", size=15, weight="bold")]
    framed: list[str] = []
    for start in range(n):
        for end in range(start + 1, n + 1):
            p = float(found.probabilities[start, end])
            if p < SHOWN and n > 20:
                continue
            label = found.labels[start][end].replace("::", "›")
            x = left + CELL_X * (start + end - 1) / 2
            y = bottom - CELL_Y * (end - start)
            title = f"{label}, probability {p:.3f}: {' '.join(found.words[start:end])}"
            parts.append(rect(x, y, CELL_X - 1, CELL_Y - 1, shade(p), title, stroke=GRID))
            if p > 0.5:
                framed.append(rect(x, y, CELL_X - 1, CELL_Y - 1, "none", stroke=TOP))
            if p > LABELLED:
                framed.append(_label(x, y, label, p))
    for t, word in enumerate(words):
        x = left + CELL_X * (t + 0.6)
        parts.append(text(x, bottom + 14, word, size=12, turn=-45, anchor="end"))
    foot = bottom + slanted + 26
    parts += [*framed, *scale(left, foot, "1")]
    title = "Probability of every span of “" + " ".join(found.words) + "” to be a constituent"
    width_ = max(left + CELL_X * n + 16, 260.0)
    return svg(width_, foot + 24, title, parts, description=_said(found, words), styled=styled)


def _label(x: float, y: float, label: str, probability: float) -> str:
    shown = label
    while len(shown) > 1 and width(shown, 11) > CELL_X - 4:
        shown = shown[:-2] + "…"
    fill = PAPER if probability > 0.55 else INK
    return text(
        x + (CELL_X - 1) / 2, y + 15, shown, size=11, anchor="middle", fill=fill, fitted=True
    )


def _said(found: SpanProbabilities, words: Sequence[str]) -> str:
    """The spans that are more probable than not."""
    n = len(words)
    return "; ".join(
        f"{found.labels[i][j]} {found.probabilities[i, j]:.2f}: {' '.join(found.words[i:j])}"
        for i in range(n)
        for j in range(n, i, -1)
        if found.probabilities[i, j] > 0.5
    )
