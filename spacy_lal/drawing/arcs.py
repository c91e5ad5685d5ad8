"""Curved arcs from heads to their dependents, whose relations stand at the dependents."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import count
from typing import NamedTuple

from .axis import LABEL, Axis, Drawn, levels
from .palette import INK, MATCHED, MISSED, RULE, SPURIOUS
from .sentence import Sentence
from .svg import centred, path, shortened, text, width, xml

MARKS = {
    "": ("", INK, "", 1.2),
    "faint": ("", RULE, "", 1.0),
    "matched": ("", MATCHED, "", 1.0),
    "missed": ("−", MISSED, "5 3", 1.5),
    "spurious": ("+", SPURIOUS, "", 2.5),
}
"""Sign before the label, colour, dashes and thickness of a line, by status."""
FUNCTION = frozenset({"punct", "det", "case", "aux", "cop", "mark", "cc"})
"""Relations of function words, whose arcs are faint."""
LEVEL, LOWEST = 14.0, 8.0
"""Height that each level adds to an arc, and that every arc has, in pixels."""
ROOT = 30.0
"""Length of the arrow to a root, in pixels."""
ROOM = 15.0
"""Height of a relation, in pixels."""
PORT = 5.0
"""Distance between the ends of arcs at one word, in pixels."""


class Mark(NamedTuple):
    """Bracket over words `start` to `end`, or arc from word `start`, -1 for a root, to word `end`;
    status: a key of `MARKS`."""

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

    def drawn(self, way: str, words: Sequence[str]) -> list[str]:
        """Return the line, in a group that is left open. words: what the title says of it."""
        _, colour, dashes, thick = MARKS[self.status]
        said = self.label if self.status in ("", "faint") else f"{self.label}, {self.status}"
        title = f"<title>{xml(said)}: {xml(' '.join(words))}</title>"
        return [title, path(way, colour, dashes=dashes, thick=thick)]


def arcs(axis: Axis, marks: Sequence[Mark], sentence: Sentence, v: float, way: int = 1) -> Drawn:
    """Draw relations beside the words and arcs beyond them. v: the edge of the words. way: 1, or -1
    for arcs above the words."""
    words, tokens = sentence.words, sentence.tokens
    inner, _ = _depths(axis, marks)
    ports = _ports(axis, marks)
    high = levels([_ends(mark) for mark in marks])
    numbers = defaultdict[int, Iterator[int]](count)
    foot = v + way * inner
    parts: list[str] = []
    for k, (mark, level) in enumerate(zip(marks, high, strict=True)):
        to = ports[k, mark.end]
        head = words[mark.start] if mark.start >= 0 else "ROOT"
        governor = tokens[mark.start] if mark.start >= 0 else -1
        # a curve reaches three quarters of the way to its two middle points
        far = foot + way * (LOWEST + LEVEL * level) / 0.75
        line = f"M{axis.at(to, foot + way * ROOT)}L{axis.at(to, foot)}"
        if mark.start >= 0:
            u = ports[k, mark.start]
            line = f"M{axis.at(u, foot)}C{axis.at(u, far)} {axis.at(to, far)} {axis.at(to, foot)}"
        back = foot + way * 6
        tip = f"M{axis.at(to - 3, back)}L{axis.at(to, foot)}L{axis.at(to + 3, back)}"
        _, colour, _, thick = MARKS[mark.status]
        places = f"data-head='{governor}' data-token='{tokens[mark.end]}'"
        parts.append(f"<g class='lal-arc' {places} data-label='{xml(mark.label)}'>")
        parts += mark.drawn(line, [head, "→", words[mark.end]])
        parts.append(path(tip, colour, thick=max(thick, 1.2)))
        ink = INK if mark.status in ("", "faint") else colour
        row, middle = next(numbers[mark.end]), axis.middle(mark.end)
        if axis.turned:
            parts.append(text(v, middle + 4, mark.shown, size=LABEL, fill=ink))
        else:
            below = v + way * row * ROOM + (11 if way > 0 else -3)
            parts.append(centred(middle, below, mark.shown, size=LABEL, fill=ink))
        parts.append("</g>")
    return parts, v + way * arcs_depth(axis, marks)


def arcs_depth(axis: Axis, marks: Sequence[Mark]) -> float:
    """Return the room that arcs and relations take across the line of words."""
    inner, outer = _depths(axis, marks)
    return inner + outer


def _depths(axis: Axis, marks: Sequence[Mark]) -> tuple[float, float]:
    """Return the room of relations and of arcs."""
    numbers = defaultdict[int, int](int)
    for mark in marks:
        numbers[mark.end] += 1
    rows = max(numbers.values(), default=0)
    inner = max((m.wide for m in marks), default=0.0) if axis.turned else rows * ROOM
    highest = max(levels([_ends(mark) for mark in marks]), default=0)
    return inner + 4, max(ROOT, LOWEST + LEVEL * highest) + 4


def _ends(mark: Mark) -> tuple[int, int]:
    start = mark.end if mark.start < 0 else mark.start
    return min(start, mark.end), max(start, mark.end)


def _ports(axis: Axis, marks: Sequence[Mark]) -> dict[tuple[int, int], float]:
    """Return where each arc (number, word) meets a word: arcs to one side stand on that side, the
    nearest outermost, so that arcs of a word don't cross."""
    found: dict[tuple[int, int], float] = {}
    at = defaultdict[int, list[tuple[bool, float, int]]](list)
    for k, mark in enumerate(marks):
        for here, there in ((mark.start, mark.end), (mark.end, mark.start)):
            if here >= 0:
                gap = 0.0 if there < 0 else axis.middle(there) - axis.middle(here)
                at[here].append((gap > 0, 1 / gap if gap else 0.0, k))
    for word, ends in at.items():
        low, high = axis.ends[word]
        step = min(PORT, (high - low) / len(ends))
        for place, (_, _, k) in enumerate(sorted(ends)):
            found[k, word] = axis.middle(word) + (place - (len(ends) - 1) / 2) * step
    return found
