"""Labelled arcs above a line of words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .brackets import LABEL, LEVEL, MARKS, Mark
from .palette import PAPER
from .sentences import RoleFrame, Sentence
from .svg import n, path, rect, svg, text, xml
from .widths import shortened, width
from .word_line import MARGIN, WORD, WordLine, levels, word_line

ASIDE = 4.0
"""How far from the middle of a word arcs begin and end, so that the two directions stay apart."""


def arcs(
    words: list[str],
    marks: Sequence[Mark],
    y: float,
    direction: str,
    strong: int | None = None,
) -> tuple[list[str], float, float]:
    """The elements of a line of words with arcs from `start` to `end` of the marks, its width, and
    where it ends. y: where it begins. strong: the word that is bold."""
    ends = [(min(m.start, m.end), max(m.start, m.end)) for m in marks]
    needs = [
        (
            a,
            b,
            m.wide
            + 2 * ASIDE
            + 10
            + (width(shortened(words[a]), WORD) + width(shortened(words[b]), WORD)) / 2,
        )
        for (a, b), m in zip(ends, marks, strict=True)
    ]
    line = word_line(words, needs, direction)
    high = levels(ends, lambda a, b: a[0] < b[1] and b[0] < a[1])
    base = y + LEVEL * (max(high, default=0) + 1)
    parts: list[str] = []
    labels: list[str] = []
    for mark, level in zip(marks, high, strict=True):
        _arc(line, mark, base, level, parts, labels)
    return [*parts, *labels, *line.drawn(base + 18, strong)], line.width, base + 28


def _arc(
    line: WordLine, mark: Mark, base: float, level: int, parts: list[str], labels: list[str]
) -> None:
    x, to = line.middle(mark.start), line.middle(mark.end)
    side = ASIDE if to > x else -ASIDE
    x, to, top = x + side, to - side, base - LEVEL * level
    _, colour, dashes, thick = MARKS[mark.status]
    bend = 6 if to > x else -6
    title = mark.described([line.words[mark.start], "→", line.words[mark.end]])
    parts += [
        f"<g><title>{xml(title)}</title>",
        path(
            f"M{n(x)} {n(base)}V{n(top + 6)}Q{n(x)} {n(top)} {n(x + bend)} {n(top)}"
            f"H{n(to - bend)}Q{n(to)} {n(top)} {n(to)} {n(top + 6)}V{n(base)}",
            colour,
            dashes=dashes,
            thick=thick,
        ),
        path(f"M{n(to - 3)} {n(base - 5)}L{n(to)} {n(base)}L{n(to + 3)} {n(base - 5)}", colour),
        "</g>",
    ]
    middle = (x + to) / 2
    labels += [
        rect(middle - mark.wide / 2, top - 8, mark.wide, 16, PAPER),
        text(
            middle, top + 4, mark.shown, size=LABEL, weight="bold", anchor="middle", fill=colour,
            fitted=True,
        ),
    ]  # fmt: skip


def roles_svg(sentences: Iterable[Sentence], *, styled: bool = True) -> str:
    """Semantic roles as arcs from a predicate to the middles of its arguments, a line a frame."""
    parts: list[str] = []
    right, y = 0.0, MARGIN
    sentences = list(sentences)
    for sentence in sentences:
        for frame in sentence.frames or ():
            drawn, wide, y = _frame(sentence, frame, y)
            parts += drawn
            right = max(right, wide)
    title = "Semantic roles in “" + " ".join(s.text for s in sentences) + "”"
    return svg(max(right, 40.0), y + MARGIN, title, parts, styled=styled)


def heads_svg(sentences: Iterable[Sentence], *, styled: bool = True) -> str:
    """Dependencies as arcs from heads to their dependents, a line a sentence."""
    parts: list[str] = []
    right, y = 0.0, MARGIN
    sentences = list(sentences)
    for sentence in sentences:
        pairs = zip(sentence.heads or (), sentence.relations, strict=True)
        marks = [
            Mark(0 if head == i else head + 1, i + 1, relation)
            for i, (head, relation) in enumerate(pairs)
        ]
        drawn, wide, y = arcs(["ROOT", *sentence.words], marks, y, sentence.direction)
        parts += drawn
        right, y = max(right, wide), y + MARGIN
    title = "Dependencies of “" + " ".join(s.text for s in sentences) + "”"
    return svg(max(right, 40.0), y + MARGIN, title, parts, styled=styled)


def _frame(sentence: Sentence, frame: RoleFrame, y: float) -> tuple[list[str], float, float]:
    """Words of a role are one: the arc goes to them as a whole."""
    pieces = _pieces(sentence, frame)
    place = {start: k for k, (start, _, _) in enumerate(pieces)}
    verb = next(k for k, (a, b, _) in enumerate(pieces) if a <= frame.predicate < b)
    words = [sentence.covered(start, end) for start, end, _ in pieces]
    marks = [
        Mark(verb, place[start], label)
        for start, _, label in pieces
        if label and place[start] != verb
    ]
    return arcs(words, marks, y, sentence.direction, verb)


def _pieces(sentence: Sentence, frame: RoleFrame) -> list[tuple[int, int, str]]:
    """The sentence cut at its roles; of roles in others, only the outer ones."""
    pieces: list[tuple[int, int, str]] = []
    position = 0
    for start, end, label, _ in frame.roles:
        if start < position or (label != "V" and start <= frame.predicate < end):
            continue
        pieces += [(i, i + 1, "") for i in range(position, start)]
        pieces.append((start, end, label))
        position = end
    return pieces + [(i, i + 1, "") for i in range(position, len(sentence.words))]
