"""Comparisons of gold and predicted annotation: lines of words with brackets or arcs above them."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Literal, get_args

from .aligned import relations
from .arcs import MARKS, Mark, arcs, arcs_depth
from .axis import LABEL, MARGIN, WORD, Axis, levels, line_of, own_widths, widen
from .palette import FAINT, PAPER
from .sentence import Sentence
from .svg import centred, n, path, rect, shortened, svg, text, width

LEVEL = 24.0
"""Distance between two rows of brackets or arcs, in pixels."""
LEGEND = {"matched": "in both", "missed": "gold alone", "spurious": "predicted alone"}
"""Description of each status in a comparison's legend."""
LEGEND_WIDTH = 300.0
"""Width of the legend, in pixels."""

Compared = Literal["constituents", "heads", "srl"]
Place = tuple[int, int, str]
"""(start, end, label) of a mark."""


def _line(
    sentence: Sentence, marks: Sequence[Mark], of: Compared, y: float
) -> tuple[list[str], float, float]:
    """Draw a line of words with marks above it, from y on. Return the elements, the right end and
    the bottom."""
    widths = own_widths(sentence.words)
    for mark in marks:
        start, end = (mark.end, mark.end + 1) if of == "heads" else (mark.start, mark.end)
        widen(widths, start, end, mark.wide + 4)
    axis = Axis(line_of(widths, MARGIN, sentence.direction))
    if of == "heads":
        base = y + arcs_depth(axis, marks)
        parts, _ = arcs(axis, marks, sentence, base, -1)
    else:
        high = levels([(m.start, m.end) for m in marks])
        base = y + LEVEL * max(high, default=0) + 8
        parts = []
        for mark, level in zip(marks, high, strict=True):
            parts += _bracket(axis, mark, base - LEVEL * level + 12, sentence.words)
    mirrored = sentence.direction == "rtl"
    for i, word in enumerate(sentence.words):
        x = axis.middle(i)
        parts.append(centred(x, base + 16, shortened(word), size=WORD, mirrored=mirrored))
    return parts, max((high for _, high in axis.ends), default=0.0) + MARGIN, base + 26


def _bracket(axis: Axis, mark: Mark, top: float, words: Sequence[str]) -> list[str]:
    left, right = axis.span(mark.start, mark.end)
    middle, ink = (left + right) / 2, MARKS[mark.status][1]
    way = f"M{n(left)} {n(top + 6)}V{n(top)}H{n(right)}V{n(top + 6)}"
    return [
        "<g>",
        *mark.drawn(way, words[mark.start : mark.end]),
        rect(middle - mark.wide / 2, top - 8, mark.wide, 16, PAPER),
        centred(middle, top + 4, mark.shown, size=LABEL, weight="bold", fill=ink),
        "</g>",
    ]


def diff_svg(
    gold: Sentence, predicted: Sentence, *, of: Compared = "constituents", styled: bool = True
) -> str:
    """Draw two annotations of the same words: constituents as brackets, heads as arcs, or each
    predicate's roles ("srl"). Raises ValueError for another `of`, different words, or a missing
    annotation."""
    if of not in get_args(Compared):
        raise ValueError(f"of must be one of {get_args(Compared)}, not {of!r}")
    if gold.words != predicted.words:
        raise ValueError(
            f"gold and prediction have different words: {gold.text!r}, {predicted.text!r}"
        )
    sides = []
    for name, side in (("gold", gold), ("prediction", predicted)):
        if (found := _places(side, of)) is None:
            raise ValueError(f"the {name} has no {of}: {side.text!r}")
        sides.append(found)
    one, other = sides
    marks = [_compared(one.get(line, []), other.get(line, [])) for line in sorted({*one, *other})]
    parts: list[str] = []
    right, y = 40.0, 34.0
    for of_line in marks:
        drawn, wide, y = _line(gold, of_line, of, y)
        parts += drawn
        right, y = max(right, wide), y + MARGIN
    counts = Counter(mark.status for of_line in marks for mark in of_line)
    said = ", ".join(f"{counts[status]} {status}" for status in LEGEND)
    parts.append(text(MARGIN, 22, f"{of}: {said}", size=12, fill=FAINT, fitted=True))
    parts += _legend(MARGIN, y + 6)
    title = f"Gold and predicted {of} of “{gold.text}”: {said}"
    return svg(max(right, LEGEND_WIDTH) + MARGIN, y + 18, title, parts, styled=styled)


def _places(sentence: Sentence, of: Compared) -> dict[int, list[Place]] | None:
    """Return places of marks for each line, which roles have by predicate."""
    if of == "constituents":
        phrases = sentence.phrases
        return None if phrases is None else {0: [phrase[:3] for phrase in phrases]}
    if of == "heads":
        return None if sentence.heads is None else {0: [mark[:3] for mark in relations(sentence)]}
    if sentence.frames is None:
        return None
    found: dict[int, list[Place]] = defaultdict(list)
    for frame in sentence.frames:
        found[frame.predicate] += [role[:3] for role in frame.roles]
    return found


def _compared(gold: Sequence[Place], predicted: Sequence[Place]) -> list[Mark]:
    """Return all marks, wider ones first; duplicates match only duplicates."""
    counts, others = Counter(gold), Counter(predicted)
    statuses = {"matched": counts & others, "missed": counts - others, "spurious": others - counts}
    return [
        Mark(*place, status)
        for place in sorted({*counts, *others}, key=lambda p: (p[0], -p[1], p[2]))
        for status, found in statuses.items()
        for _ in range(found[place])
    ]


def _legend(x: float, y: float) -> Iterator[str]:
    for status, name in LEGEND.items():
        sign, colour, dashes, thick = MARKS[status]
        yield path(f"M{n(x)} {n(y - 4)}H{n(x + 22)}", colour, dashes=dashes, thick=thick)
        said = f"{sign} {name}".strip()
        yield text(x + 27, y, said, size=11, fill=FAINT, fitted=True)
        x += 27 + width(said, 11) + 14
