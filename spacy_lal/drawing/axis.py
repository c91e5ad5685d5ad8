"""The line of words that the layers of a picture share, from left to right or turned: downwards."""

from collections.abc import Sequence
from dataclasses import dataclass

from .svg import n, shortened, width

WORD, TAG, LABEL = 14, 11, 11
"""Sizes of words, of their tags, and of labels, in pixels."""
GAP, MARGIN = 10.0, 12.0
"""Space between words and around the picture, in pixels."""
ROW = 22.0
"""Height of a word in a turned line, in pixels."""

Drawn = tuple[list[str], float]
"""Elements of a layer, and the place where it ends, across the line of words."""


@dataclass(frozen=True)
class Axis:
    """A line of words. ends: where each word's room begins and ends, along the line. turned:
    whether the line goes down and layers go to the right, not the line to the right and layers
    down. Places are (u, v): along the line and across it."""

    ends: Sequence[tuple[float, float]]
    turned: bool = False

    def at(self, u: float, v: float) -> str:
        """Return a place as "x y"."""
        return f"{n(v)} {n(u)}" if self.turned else f"{n(u)} {n(v)}"

    def middle(self, word: int) -> float:
        return sum(self.ends[word]) / 2

    def span(self, start: int, end: int) -> tuple[float, float]:
        """Return where the room of words `start` to `end` begins and ends."""
        sides = (*self.ends[start], *self.ends[end - 1])
        return min(sides), max(sides)


def own_widths(words: Sequence[str]) -> list[float]:
    """Return the width of each word, which may be bold."""
    return [width(shortened(word), WORD, bold=True) for word in words]


def widen(widths: list[float], start: int, end: int, needed: float) -> None:
    """Make words `start` to `end` wide enough, together, for a label; all have the same share."""
    share = (needed - GAP * (end - start - 1)) / (end - start)
    widths[start:end] = [max(own, share) for own in widths[start:end]]


def line_of(
    widths: Sequence[float], left: float, direction: str = "ltr"
) -> list[tuple[float, float]]:
    """Return the ends of words in a line; from right to left, the first word is the rightmost."""
    ends = []
    for wide in widths if direction == "ltr" else reversed(widths):
        ends.append((left, left + wide))
        left += wide + GAP
    return ends if direction == "ltr" else ends[::-1]


def levels(spans: Sequence[tuple[int, int]]) -> list[int]:
    """Return each span's row above the words, from 1. A span is above narrower spans that it meets.
    Of spans of equal width that meet, the first is on top."""
    found = [0] * len(spans)
    order = sorted(range(len(spans)), key=lambda k: (spans[k][1] - spans[k][0], -k))
    for number, k in enumerate(order):
        start, end = spans[k]
        met = (other for other in order[:number] if start < spans[other][1])
        found[k] = 1 + max((found[other] for other in met if spans[other][0] < end), default=0)
    return found
