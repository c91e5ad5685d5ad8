"""A line of words with room for what is drawn above them: brackets and arcs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from .svg import text
from .widths import shortened, width

WORD = 14
"""The size of a word, in pixels."""
GAP, MARGIN = 12.0, 12.0
"""The room between words and around the picture, in pixels."""


@dataclass(frozen=True)
class WordLine:
    """Where words are. lefts, rights: of each word's room; the first word is at the right end of a
    mirrored line, where `lefts` and `rights` are the ends of rooms as seen."""

    words: list[str]
    lefts: list[float]
    rights: list[float]
    mirrored: bool

    @property
    def width(self) -> float:
        return max(self.rights, default=0.0) + MARGIN

    def middle(self, i: int) -> float:
        return (self.lefts[i] + self.rights[i]) / 2

    def span(self, start: int, end: int) -> tuple[float, float]:
        """The left and right end of words start to end."""
        return min(self.lefts[start], self.lefts[end - 1]), max(
            self.rights[start], self.rights[end - 1]
        )

    def drawn(self, y: float, strong: int | None = None) -> Iterator[str]:
        """The words; y: their baseline. strong: the one that is bold."""
        for i, word in enumerate(self.words):
            shown = text(
                self.middle(i),
                y,
                shortened(word),
                size=WORD,
                anchor="middle",
                weight="bold" if i == strong else "normal",
                fitted=not self.mirrored,
            )
            yield shown.replace("<text ", "<text direction='rtl' ", 1) if self.mirrored else shown


def word_line(
    words: list[str], needs: Sequence[tuple[int, int, float]], direction: str
) -> WordLine:
    """Words side by side. needs: (first, last, width): at least how wide words are together."""
    lefts: list[float] = []
    rights: list[float] = []
    ending: dict[int, list[tuple[int, float]]] = {}
    for first, last, needed in needs:
        ending.setdefault(last, []).append((first, needed))
    left = MARGIN
    for j, word in enumerate(words):
        own = width(shortened(word), WORD, bold=True)  # one of them may be
        own = max([own, *(needed for first, needed in ending.get(j, ()) if first == j)])
        for first, needed in ending.get(j, ()):
            if first < j:
                left = max(left, lefts[first] + needed - own)
        lefts.append(left)
        rights.append(left + own)
        left += own + GAP
    mirrored = direction == "rtl"
    if mirrored:
        total = max(rights, default=0.0) + MARGIN
        lefts, rights = [total - r for r in rights], [total - x for x in lefts]
    return WordLine(words, lefts, rights, mirrored)


def levels(
    spans: Sequence[tuple[int, int]], meet: Callable[[tuple[int, int], tuple[int, int]], bool]
) -> list[int]:
    """How high above the words each span is drawn, from 1: above all narrower ones that it meets.

    Spans of equal width that meet are piled up in their order, the first on top.
    """
    found = [0] * len(spans)
    order = sorted(range(len(spans)), key=lambda k: (spans[k][1] - spans[k][0], -k))
    done: list[int] = []
    for k in order:
        below = (found[other] for other in done if meet(spans[k], spans[other]))
        found[k] = 1 + max(below, default=0)
        done.append(k)
    return found
