"""Lines of words with labelled brackets or arcs above them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .palette import FAINT, INK, MATCHED, MISSED, PAPER, SPURIOUS
from .sentence import RoleFrame, Sentence
from .svg import n, path, rect, svg, text, xml
from .widths import shortened, width

WORD, LABEL = 14, 12
"""Sizes of words and labels, in pixels."""
GAP, MARGIN = 12.0, 12.0
"""Space between words and around the picture, in pixels."""
LEVEL = 24.0
"""Distance between two rows of brackets or arcs, in pixels."""
ASIDE = 4.0
"""Distance of an arc's end from a word's middle, in pixels; it separates the directions."""
MARKS = {
    "": ("", INK, "", 1.0),
    "matched": ("", MATCHED, "", 1.0),
    "missed": ("−", MISSED, "5 3", 1.5),
    "spurious": ("+", SPURIOUS, "", 2.5),
}
"""Sign before the label, colour, dashes and thickness of a line, by status."""
LEGEND_WIDTH = 300.0
"""Width of the legend, in pixels."""

Drawn = tuple[list[str], float, float]
"""Part of a picture: (elements, right end, bottom)."""


class Mark(NamedTuple):
    """Bracket over words `start` to `end`, or arc between these two; status: a key of `MARKS`."""

    start: int
    end: int
    label: str
    status: str = ""

    @property
    def shown(self) -> str:
        return MARKS[self.status][0] + shortened(self.label)

    @property
    def wide(self) -> float:
        return width(self.shown, LABEL, bold=True) + 8

    def described(self, words: Sequence[str]) -> str:
        said = f"{self.label}, {self.status}" if self.status else self.label
        return f"{said}: {' '.join(words)}"

    def drawn_label(self, middle: float, y: float) -> list[str]:
        return [
            rect(middle - self.wide / 2, y - 8, self.wide, 16, PAPER),
            text(
                middle, y + 4, self.shown, size=LABEL, weight="bold", anchor="middle",
                fill=MARKS[self.status][1], fitted=True,
            ),
        ]  # fmt: skip


@dataclass(frozen=True)
class WordLine:
    """Left and right ends of words; in a mirrored line the first word is the rightmost."""

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
        """Return the left and right end of words start to end."""
        first, last = start, end - 1
        return min(self.lefts[first], self.lefts[last]), max(self.rights[first], self.rights[last])

    def drawn(self, y: float, strong: int | None = None) -> Iterator[str]:
        """Draw the words. y: their baseline. strong: the bold word."""
        for i, word in enumerate(self.words):
            yield text(
                self.middle(i),
                y,
                shortened(word),
                size=WORD,
                anchor="middle",
                weight="bold" if i == strong else "normal",
                fitted=True,
                mirrored=self.mirrored,
            )


def word_line(
    words: list[str], needs: Sequence[tuple[int, int, float]], direction: str
) -> WordLine:
    """Place words side by side. needs: (first, last, least width of these words together)."""
    lefts: list[float] = []
    rights: list[float] = []
    ending: dict[int, list[tuple[int, float]]] = {}
    for first, last, needed in needs:
        ending.setdefault(last, []).append((first, needed))
    left = MARGIN
    for j, word in enumerate(words):
        own = width(shortened(word), WORD, bold=True)
        own = max([own, *(needed for first, needed in ending.get(j, ()) if first == j)])
        for first, needed in ending.get(j, ()):
            if first < j:
                left = max(left, lefts[first] + needed - own)
        lefts.append(left)
        rights.append(left + own)
        left += own + GAP
    if direction == "rtl":
        total = max(rights, default=0.0) + MARGIN
        lefts, rights = [total - r for r in rights], [total - x for x in lefts]
    return WordLine(words, lefts, rights, direction == "rtl")


def levels(spans: Sequence[tuple[int, int]]) -> list[int]:
    """Return each span's row above the words, from 1. A span is above narrower spans that it meets.
    Of spans of equal width that meet, the first is on top."""
    found = [0] * len(spans)
    order = sorted(range(len(spans)), key=lambda k: (spans[k][1] - spans[k][0], -k))
    for number, k in enumerate(order):
        start, end = spans[k]
        below = (
            found[other]
            for other in order[:number]
            if start < spans[other][1] and spans[other][0] < end
        )
        found[k] = 1 + max(below, default=0)
    return found


def brackets(words: list[str], marks: Sequence[Mark], y: float, direction: str) -> Drawn:
    """Draw a line of words with brackets above it. y: the top."""
    line = word_line(words, [(m.start, m.end - 1, m.wide + 12) for m in marks], direction)
    high = levels([(m.start, m.end) for m in marks])
    base = y + LEVEL * max(high, default=0) + 8
    parts = [p for m, k in zip(marks, high, strict=True) for p in _bracket(line, m, base, k)]
    return [*parts, *line.drawn(base + 16)], line.width, base + 26


def _bracket(line: WordLine, mark: Mark, base: float, level: int) -> list[str]:
    left, right = line.span(mark.start, mark.end)
    _, colour, dashes, thick = MARKS[mark.status]
    y = base - LEVEL * level + 12
    way = f"M{n(left)} {n(y + 6)}V{n(y)}H{n(right)}V{n(y + 6)}"
    return [
        f"<g><title>{xml(mark.described(line.words[mark.start : mark.end]))}</title>",
        path(way, colour, dashes=dashes, thick=thick),
        *mark.drawn_label((left + right) / 2, y),
        "</g>",
    ]


def arcs(
    words: list[str], marks: Sequence[Mark], y: float, direction: str, strong: int | None = None
) -> Drawn:
    """Draw a line of words with arcs above it. y: the top. strong: the bold word."""
    ends = [(min(m.start, m.end), max(m.start, m.end)) for m in marks]
    halves = [width(shortened(word), WORD) / 2 for word in words]
    needs = [
        (a, b, m.wide + 2 * ASIDE + 10 + halves[a] + halves[b])
        for (a, b), m in zip(ends, marks, strict=True)
    ]
    line = word_line(words, needs, direction)
    high = levels(ends)
    base = y + LEVEL * (max(high, default=0) + 1)
    parts: list[str] = []
    labels: list[str] = []
    for mark, level in zip(marks, high, strict=True):
        x, to, top = line.middle(mark.start), line.middle(mark.end), base - LEVEL * level
        side = ASIDE if to > x else -ASIDE
        x, to = x + side, to - side
        parts += _arc(
            mark, mark.described([words[mark.start], "→", words[mark.end]]), x, to, base, top
        )
        labels += mark.drawn_label((x + to) / 2, top)
    return [*parts, *labels, *line.drawn(base + 18, strong)], line.width, base + 28


def _arc(mark: Mark, title: str, x: float, to: float, base: float, top: float) -> list[str]:
    _, colour, dashes, thick = MARKS[mark.status]
    bend = 6 if to > x else -6
    way = (
        f"M{n(x)} {n(base)}V{n(top + 6)}Q{n(x)} {n(top)} {n(x + bend)} {n(top)}"
        f"H{n(to - bend)}Q{n(to)} {n(top)} {n(to)} {n(top + 6)}V{n(base)}"
    )
    return [
        f"<g><title>{xml(title)}</title>",
        path(way, colour, dashes=dashes, thick=thick),
        path(f"M{n(to - 3)} {n(base - 5)}L{n(to)} {n(base)}L{n(to + 3)} {n(base - 5)}", colour),
        "</g>",
    ]


def legend(x: float, y: float) -> list[str]:
    """Draw the legend of a comparison."""
    parts = []
    names = {"matched": "in both", "missed": "gold alone", "spurious": "predicted alone"}
    for status, name in names.items():
        sign, colour, dashes, thick = MARKS[status]
        parts.append(path(f"M{n(x)} {n(y - 4)}H{n(x + 22)}", colour, dashes=dashes, thick=thick))
        said = f"{sign} {name}".strip()
        parts.append(text(x + 27, y, said, size=11, fill=FAINT, fitted=True))
        x += 27 + width(said, 11) + 14
    return parts


def roles_svg(sentences: Iterable[Sentence], *, styled: bool = True) -> str:
    """Draw semantic roles as arcs from predicates to the middles of arguments, a line per frame."""
    parts: list[str] = []
    right, y = 40.0, MARGIN
    sentences = list(sentences)
    for sentence in sentences:
        for frame in sentence.frames or ():
            drawn, wide, y = _frame(sentence, frame, y)
            parts += drawn
            right = max(right, wide)
    title = "Semantic roles in “" + " ".join(s.text for s in sentences) + "”"
    return svg(right, y + MARGIN, title, parts, styled=styled)


def heads_svg(sentences: Iterable[Sentence], *, styled: bool = True) -> str:
    """Draw dependencies as arcs from heads to their dependents, a line per sentence."""
    parts: list[str] = []
    right, y = 40.0, MARGIN
    sentences = list(sentences)
    for sentence in sentences:
        marks = [Mark(*place) for place in head_places(sentence)]
        drawn, wide, y = arcs(["ROOT", *sentence.words], marks, y, sentence.direction)
        parts += drawn
        right, y = max(right, wide), y + MARGIN
    title = "Dependencies of “" + " ".join(s.text for s in sentences) + "”"
    return svg(right, y + MARGIN, title, parts, styled=styled)


def head_places(sentence: Sentence) -> list[tuple[int, int, str]]:
    """Return (head, dependent, relation) of every word, counted from 1; 0 is the root."""
    return [
        (0 if head == i else head + 1, i + 1, relation)
        for i, (head, relation) in enumerate(
            zip(sentence.heads or (), sentence.relations, strict=True)
        )
    ]


def _frame(sentence: Sentence, frame: RoleFrame, y: float) -> Drawn:
    pieces = _pieces(sentence, frame)
    verb = next(k for k, (a, b, _) in enumerate(pieces) if a <= frame.predicate < b)
    words = [sentence.covered(start, end) for start, end, _ in pieces]
    marks = [Mark(verb, k, label) for k, (_, _, label) in enumerate(pieces) if label and k != verb]
    return arcs(words, marks, y, sentence.direction, verb)


def _pieces(sentence: Sentence, frame: RoleFrame) -> list[tuple[int, int, str]]:
    pieces: list[tuple[int, int, str]] = []
    position = 0
    for start, end, label, _ in frame.roles:
        if start < position or (label != "V" and start <= frame.predicate < end):
            continue
        pieces += [(i, i + 1, "") for i in range(position, start)]
        pieces.append((start, end, label))
        position = end
    return pieces + [(i, i + 1, "") for i in range(position, len(sentence.words))]
