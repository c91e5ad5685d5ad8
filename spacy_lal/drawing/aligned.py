"""Pictures of sentences whose layers share one line of words: tree, heads, roles and errors."""

from collections.abc import Sequence
from typing import get_args

from .arcs import FUNCTION, Mark, arcs, arcs_depth
from .axis import LABEL, MARGIN, ROW, TAG, WORD, Axis, Drawn, line_of, own_widths, widen
from .html import ERROR
from .lanes import lanes, pieces
from .palette import FAINT, INK, MISSED, WRONG
from .sentence import Sentence
from .svg import centred, n, path, rect, shortened, svg, text, width
from .trees import Edges, Node, bracketed, tree_block, tree_parts

WIDEST = 1280.0
"""Greatest width of a picture that isn't turned, in pixels, unless its reader decides."""

Tree = Node | None
Layers = tuple[Sentence, Tree]
"""A sentence and its tree; the sentence's own layers are drawn where they aren't None."""


def aligned_svg(
    sentences: Sequence[Layers],
    *,
    title: str,
    edges: Edges = "straight",
    direction: str | None = None,
    turned: bool | None = None,
    styled: bool = True,
) -> str:
    """Draw sentences, one below the other.

    direction: of the words, "ltr" or "rtl"; by default that of the letters. turned: whether words
    stand one below the other, and layers at their right; by default in pictures that would be wider
    than `WIDEST`. title: of the picture, before the words. Raises ValueError for unknown edges
    ("straight" or "elbow") and directions.
    """
    if edges not in get_args(Edges):
        raise ValueError(f"edges must be one of {get_args(Edges)}, not {edges!r}")
    if direction not in (None, "ltr", "rtl"):
        raise ValueError(f"direction must be 'ltr', 'rtl' or None, not {direction!r}")
    drawn = None if turned else _drawn(sentences, edges, direction, False)
    if drawn is None or (turned is None and drawn[1] > WIDEST):
        drawn = _drawn(sentences, edges, direction, True)
    parts, right, bottom = drawn
    words = " ".join(sentence.text for sentence, _ in sentences)
    return svg(
        max(right, 40.0) + MARGIN,
        max(bottom, 40.0),
        f"{title} “{words}”",
        parts,
        description=" ".join(bracketed(top) for _, top in sentences if top),
        styled=styled,
    )


def _drawn(
    sentences: Sequence[Layers], edges: Edges, direction: str | None, turned: bool
) -> tuple[list[str], float, float]:
    """Return the elements, and the right end and bottom of the picture."""
    parts: list[str] = []
    right, y = 0.0, MARGIN
    for sentence, top in sentences:
        rtl = (direction or sentence.direction) == "rtl"
        drawn, along, across = _sentence(sentence, top, y, edges, rtl, turned)
        parts += drawn
        if turned:
            along, across = across, along
        right, y = max(right, along), across + MARGIN
    return parts, right, y


def _sentence(
    sentence: Sentence, top: Tree, y: float, edges: Edges, rtl: bool, turned: bool
) -> tuple[list[str], float, float]:
    """Return the elements of one sentence, and their ends along and across the line of words."""
    u, v = (y, MARGIN) if turned else (MARGIN, y)
    notes = _notes(sentence)
    marks = relations(sentence)
    widths = [ROW] * len(sentence.words) if turned else _widths(sentence, top, marks, notes)
    parts: list[str] = []
    if top is None:
        if turned:
            ends = [(u + k * ROW, u + (k + 1) * ROW) for k in range(len(widths))]
        else:
            ends = line_of(widths, u, "rtl" if rtl else "ltr")
    else:
        of_token = dict(zip(sentence.tokens, widths, strict=True))
        block = tree_block(top, of_token, mirrored=rtl and not turned, turned=turned)
        parts, places, v = tree_parts(block, u, v, edges, turned)
        ends = [places[token] for token in sentence.tokens]
    axis = Axis(ends, turned)
    end = max([u, *(high for _, high in ends)])
    if top is not None and not turned:
        end = max(end, u + block.width)
    if marks and top is None and not turned:
        v += arcs_depth(axis, marks)
        drawn, _ = arcs(axis, marks, sentence, v, -1)
        parts, marks = [*parts, *drawn], []
    drawn, v = _words(axis, sentence, v, rtl, top)
    parts += drawn
    edge = v
    if notes:
        drawn, v = _noted(axis, notes, v)
        parts += drawn
    if marks:
        drawn, v = arcs(axis, marks, sentence, v)
        parts += drawn
    if sentence.frames:
        drawn, v = lanes(axis, sentence, v + 6, edge)
        parts = [*drawn, *parts]
    return parts, end, v


def relations(sentence: Sentence) -> list[Mark]:
    """Return the arcs of a sentence's heads; those of function words are faint."""
    pairs = zip(sentence.heads or (), sentence.relations, strict=True)
    return [
        Mark(
            -1 if head == i else head, i, label,
            "faint" if label.partition(":")[0] in FUNCTION else "",
        )
        for i, (head, label) in enumerate(pairs)
    ]  # fmt: skip


def _notes(sentence: Sentence) -> list[tuple[int, int, str]]:
    """Return what stands beside each error: its kind, and its correction or its probability."""
    found: list[tuple[int, int, str]] = []
    errors = sentence.errors or []
    corrections = sentence.corrections[: len(errors)] or [None] * len(errors)
    for (start, end, label, score), correction in zip(errors, corrections, strict=True):
        kind = "" if label in ("", ERROR) else shortened(label)
        if correction is not None:
            kind = f"{kind} → {shortened(correction) or '∅'}".strip()
        elif not kind:
            kind = "error" if score is None else f"error {score:.0%}"
        found.append((start, end, kind))
    return found


def _widths(
    sentence: Sentence, top: Tree, marks: Sequence[Mark], notes: Sequence[tuple[int, int, str]]
) -> list[float]:
    widths = own_widths(sentence.words)
    if top is not None or marks:
        tags = (width(shortened(tag), TAG) for tag in sentence.tags)
        widths = [*map(max, widths, tags)]
    for mark in marks:
        widen(widths, mark.end, mark.end + 1, mark.wide)
    for start, end, note in notes:
        widen(widths, start, end, width(note, LABEL, bold=True) + 4)
    for piece in (piece for lane in pieces(sentence) for piece in lane):
        widen(widths, piece.start, piece.end, piece.wide)
    return widths


def _words(axis: Axis, sentence: Sentence, v: float, rtl: bool, top: Tree) -> Drawn:
    """Draw the words, wrong ones marked, and tags if there is a tree or if there are heads."""
    tagged, tags_first = top is not None or sentence.heads is not None, top is not None
    wrong = {i for start, end, *_ in sentence.errors or () for i in range(start, end)}
    tags = [shortened(tag) if tagged else "" for tag in sentence.tags]
    shown = [shortened(word) for word in sentence.words]
    tag_room = max((width(tag, TAG) + 10 for tag in tags if tag), default=0.0)
    room = max((width(word, WORD, bold=True) for word in shown), default=0.0)
    parts: list[str] = []
    for i, (word, tag) in enumerate(zip(shown, tags, strict=True)):
        wide, strong = width(word, WORD, bold=i in wrong), "bold" if i in wrong else "normal"
        if axis.turned:
            x, y = v + tag_room + wide / 2, axis.middle(i) + 5
            tag_x, tag_y = v + width(tag, TAG) / 2, y - 1
        else:
            x, y = axis.middle(i), v + (29 if tags_first else 14)
            tag_x, tag_y = x, v + (11 if tags_first else 29)
        token = sentence.tokens[i]
        parts.append(f"<g class='lal-word' data-start='{token}' data-end='{token + 1}'>")
        if i in wrong:
            parts.append(rect(x - wide / 2 - 2, y - 14, wide + 4, 19, WRONG, radius=3))
            parts.append(wave(x - wide / 2, x + wide / 2, y + 4))
        if tag:
            parts.append(centred(tag_x, tag_y, tag, size=TAG, fill=FAINT))
        ink = MISSED if i in wrong else INK
        parts.append(centred(x, y, word, size=WORD, weight=strong, fill=ink, mirrored=rtl))
        parts.append("</g>")
    if axis.turned:
        return parts, v + tag_room + room + 12
    return parts, v + (37 if tagged else 22)


def wave(x: float, end: float, y: float) -> str:
    """Draw a wavy line under a wrong word."""
    return path(
        f"M{n(x)} {n(y)}q2 -4 4 0" + "t4 0" * max(1, round((end - x - 4) / 4)), MISSED, thick=1.5
    )


def _noted(axis: Axis, notes: Sequence[tuple[int, int, str]], v: float) -> Drawn:
    parts: list[str] = []
    for start, end, note in notes:
        low, high = axis.span(start, end)
        middle = (low + high) / 2
        if axis.turned:
            parts.append(text(v, middle + 4, note, size=LABEL, weight="bold", fill=MISSED))
        else:
            parts.append(centred(middle, v + 12, note, size=LABEL, weight="bold", fill=MISSED))
    wide = max(width(note, LABEL, bold=True) for *_, note in notes)
    return parts, v + (wide + 10 if axis.turned else 18)
