"""Labelled brackets above a line of words; they may cross."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .palette import FAINT, INK, MATCHED, MISSED, PAPER, SPURIOUS
from .svg import n, path, rect, text, xml
from .widths import shortened, width
from .word_line import WordLine, levels, word_line

LABEL = 12
"""The size of a label, in pixels."""
LEVEL = 24.0
"""The distance from one row of brackets to the next, in pixels."""
MARKS = {
    "": ("", INK, "", 1.0),
    "matched": ("", MATCHED, "", 1.0),
    "missed": ("−", MISSED, "5 3", 1.5),
    "spurious": ("+", SPURIOUS, "", 2.5),
}
"""What stands before the label, the colour, the dashes and the thickness of a line."""


class Mark(NamedTuple):
    """Something between words `start` and `end`: a bracket over them, or an arc from one to the
    other. status: a key of `MARKS`."""

    start: int
    end: int
    label: str
    status: str = ""
    probability: float | None = None

    @property
    def shown(self) -> str:
        return MARKS[self.status][0] + shortened(self.label)

    @property
    def wide(self) -> float:
        return width(self.shown, LABEL, bold=True) + 8

    def described(self, words: Sequence[str]) -> str:
        said = [self.label, *([self.status] if self.status else [])]
        if self.probability is not None:
            said.append(f"probability {self.probability:.2f}")
        return f"{', '.join(said)}: {' '.join(words)}"


def brackets(
    words: list[str], marks: Sequence[Mark], y: float, direction: str
) -> tuple[list[str], float, float]:
    """The elements of a line of words with brackets above it, its width, and where it ends.

    y: where it begins.
    """
    line = word_line(words, [(m.start, m.end - 1, m.wide + 12) for m in marks], direction)
    spans = [(m.start, m.end) for m in marks]
    high = levels(spans, lambda a, b: a[0] < b[1] and b[0] < a[1])
    base = y + LEVEL * max(high, default=0) + 8
    parts = [p for m, k in zip(marks, high, strict=True) for p in _bracket(line, m, base, k)]
    return [*parts, *line.drawn(base + 16)], line.width, base + 26


def _bracket(line: WordLine, mark: Mark, base: float, level: int) -> list[str]:
    left, right = line.span(mark.start, mark.end)
    _, colour, dashes, thick = MARKS[mark.status]
    y = base - LEVEL * level + 12
    middle, half = (left + right) / 2, mark.wide / 2
    return [
        f"<g><title>{xml(mark.described(line.words[mark.start : mark.end]))}</title>",
        path(
            f"M{n(left)} {n(y + 6)}V{n(y)}H{n(right)}V{n(y + 6)}",
            colour,
            dashes=dashes,
            thick=thick,
        ),
        rect(middle - half, y - 8, mark.wide, 16, PAPER),
        text(
            middle, y + 4, mark.shown, size=LABEL, weight="bold", anchor="middle", fill=colour,
            fitted=True,
        ),
        "</g>",
    ]  # fmt: skip


def legend(x: float, y: float) -> list[str]:
    """What the lines of a comparison mean."""
    parts = []
    for status, name in (
        ("matched", "in both"),
        ("missed", "gold alone"),
        ("spurious", "predicted alone"),
    ):
        sign, colour, dashes, thick = MARKS[status]
        parts.append(path(f"M{n(x)} {n(y - 4)}H{n(x + 22)}", colour, dashes=dashes, thick=thick))
        said = f"{sign} {name}".strip()
        parts.append(text(x + 27, y, said, size=11, fill=FAINT, fitted=True))
        x += 27 + width(said, 11) + 14
    return parts


LEGEND_WIDTH = 300.0
"""The width of the legend, in pixels."""
