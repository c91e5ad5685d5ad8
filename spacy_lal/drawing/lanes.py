"""Lanes of semantic roles beside one line of words: a lane for each predicate."""

from collections.abc import Iterator
from typing import NamedTuple

from .axis import LABEL, Axis, Drawn, levels
from .palette import GRID, INK, RULE, hue, role
from .sentence import RoleFrame, Sentence
from .svg import centred, path, rect, shortened, width, xml

CHIP, LANE = 19.0, 26.0
"""Heights of a role and of a lane, in pixels."""


class Piece(NamedTuple):
    """Role of a frame, in words; V shows the roleset."""

    start: int
    end: int
    label: str
    shown: str
    title: str
    predicate: int

    @property
    def wide(self) -> float:
        return width(self.shown, LABEL, bold=True) + 10


def pieces(sentence: Sentence) -> list[list[Piece]]:
    """Return the roles of each lane. Predicates without arguments share the last one."""
    lanes, alone = list[list[Piece]](), list[Piece]()
    for frame in sentence.frames or ():
        found = list(_pieces(sentence, frame))
        if len(found) > 1:
            lanes.append(found)
        else:
            alone += found
    return [*lanes, *([alone] if alone else [])]


def _pieces(sentence: Sentence, frame: RoleFrame) -> Iterator[Piece]:
    name = frame.roleset or sentence.words[frame.predicate]
    for start, end, label, probability in frame.roles:
        sure = "" if probability is None else f", probability {probability:.2f}"
        title = f"{label} of {name}{sure}: {sentence.covered(start, end)}"
        shown = shortened(name if label == "V" else label)
        yield Piece(start, end, label, shown, title, frame.predicate)


def lanes(axis: Axis, sentence: Sentence, v: float, words: float) -> Drawn:
    """Draw the lanes from v on. words: the edge of the words, to which predicates are tied."""
    ties: list[str] = []
    parts: list[str] = []
    for lane in pieces(sentence):
        high = levels([piece[:2] for piece in lane])
        tops: dict[int, float] = {}
        for level in range(1, max(high) + 1):
            tops[level] = v
            of_level = [p.wide for p, at in zip(lane, high, strict=True) if at == level]
            v += max(of_level) + 6 if axis.turned else LANE
        for predicate in sorted({piece.predicate for piece in lane}):
            own = [piece for piece in lane if piece.predicate == predicate]
            low = min(axis.span(*piece[:2])[0] for piece in own)
            end = max(axis.span(*piece[:2])[1] for piece in own)
            middle, across = axis.middle(predicate), tops[1] + CHIP / 2
            tie = f"M{axis.at(middle, words)}L{axis.at(middle, tops[1])}"
            ties.append(path(tie, GRID, dashes="2 3"))
            ties.append(path(f"M{axis.at(low, across)}L{axis.at(end, across)}", RULE))
        for piece, level in zip(lane, high, strict=True):
            low, end = axis.span(piece.start, piece.end)
            x, y, wide, tall = low, tops[level], end - low, CHIP
            if axis.turned:
                x, y, wide, tall = tops[level], low + 1.5, piece.wide, end - low - 3
            first, last = sentence.tokens[piece.start], sentence.tokens[piece.end - 1] + 1
            strong = piece.label == "V"
            fill = hue(role(piece.label))
            parts += [
                f"<g class='lal-arg' data-start='{first}' data-end='{last}' "
                f"data-predicate='{sentence.tokens[piece.predicate]}' "
                f"data-label='{xml(piece.label)}'><title>{xml(piece.title)}</title>",
                rect(x, y, wide, tall, fill, stroke=INK if strong else RULE, radius=5),
                centred(x + wide / 2, y + tall / 2 + 4, piece.shown, size=LABEL, weight="bold"),
                "</g>",
            ]
    return [*ties, *parts], v
