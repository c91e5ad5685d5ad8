"""Lines of words with labelled brackets or arcs above them: roles, dependencies, and comparisons of
gold and predicted annotation."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Literal, NamedTuple, get_args

from .palette import FAINT, INK, MATCHED, MISSED, PAPER, SPURIOUS
from .sentence import RoleFrame, Sentence
from .svg import centred, n, path, rect, shortened, svg, text, width, xml

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
LEGEND = {"matched": "in both", "missed": "gold alone", "spurious": "predicted alone"}
"""Description of each status in a comparison's legend."""
LEGEND_WIDTH = 300.0
"""Width of the legend, in pixels."""

Compared = Literal["constituents", "heads", "srl"]
Place = tuple[int, int, str]
"""(start, end, label) of a mark."""
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

    def drawn(self, way: str, words: Sequence[str]) -> list[str]:
        """Return the line, in a group that is left open. words: what the title says of it."""
        _, colour, dashes, thick = MARKS[self.status]
        said = f"{self.label}, {self.status}" if self.status else self.label
        title = f"<g><title>{xml(said)}: {xml(' '.join(words))}</title>"
        return [title, path(way, colour, dashes=dashes, thick=thick)]

    def drawn_label(self, middle: float, y: float) -> Iterator[str]:
        ink = MARKS[self.status][1]
        yield rect(middle - self.wide / 2, y - 8, self.wide, 16, PAPER)
        yield centred(middle, y + 4, self.shown, size=LABEL, weight="bold", fill=ink)


def _placed(
    words: Sequence[str], needs: Sequence[tuple[int, int, float]], direction: str
) -> list[tuple[float, float]]:
    """Return the left and right end of each word in a line; from right to left, the first word is
    the rightmost. needs: (first, last, least width of these words together)."""
    ends: list[tuple[float, float]] = []
    ending: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for first, last, needed in needs:
        ending[last].append((first, needed))
    left = MARGIN
    for j, word in enumerate(words):
        own = width(shortened(word), WORD, bold=True)
        own = max([own, *(needed for first, needed in ending[j] if first == j)])
        left = max([left, *(ends[i][0] + needed - own for i, needed in ending[j] if i < j)])
        ends.append((left, left + own))
        left += own + GAP
    if direction == "rtl":
        total = _end(ends)
        return [(total - right, total - left) for left, right in ends]
    return ends


def _end(ends: Sequence[tuple[float, float]]) -> float:
    return max((right for _, right in ends), default=0.0) + MARGIN


def _words(
    words: Sequence[str],
    ends: Sequence[tuple[float, float]],
    y: float,
    direction: str,
    strong: int | None = None,
) -> Iterator[str]:
    """Draw a line of words. y: their baseline. strong: the bold word."""
    for i, (word, (left, right)) in enumerate(zip(words, ends, strict=True)):
        weight, mirrored = "bold" if i == strong else "normal", direction == "rtl"
        shown, x = shortened(word), (left + right) / 2
        yield centred(x, y, shown, size=WORD, weight=weight, mirrored=mirrored)


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


def brackets(words: list[str], marks: Sequence[Mark], y: float, direction: str) -> Drawn:
    """Draw a line of words with brackets above it. y: the top."""
    ends = _placed(words, [(m.start, m.end - 1, m.wide + 12) for m in marks], direction)
    high = levels([(m.start, m.end) for m in marks])
    base = y + LEVEL * max(high, default=0) + 8
    parts: list[str] = []
    for mark, level in zip(marks, high, strict=True):
        sides = (*ends[mark.start], *ends[mark.end - 1])
        left, right, top = min(sides), max(sides), base - LEVEL * level + 12
        way = f"M{n(left)} {n(top + 6)}V{n(top)}H{n(right)}V{n(top + 6)}"
        parts += mark.drawn(way, words[mark.start : mark.end])
        parts += [*mark.drawn_label((left + right) / 2, top), "</g>"]
    return [*parts, *_words(words, ends, base + 16, direction)], _end(ends), base + 26


def arcs(
    words: list[str], marks: Sequence[Mark], y: float, direction: str, strong: int | None = None
) -> Drawn:
    """Draw a line of words with arcs above it. y: the top. strong: the bold word."""
    spans = [(min(m.start, m.end), max(m.start, m.end)) for m in marks]
    halves = [width(shortened(word), WORD) / 2 for word in words]
    needs = [
        (a, b, m.wide + 2 * ASIDE + 10 + halves[a] + halves[b])
        for (a, b), m in zip(spans, marks, strict=True)
    ]
    ends, high = _placed(words, needs, direction), levels(spans)
    base = y + LEVEL * (max(high, default=0) + 1)
    parts: list[str] = []
    labels: list[str] = []
    for mark, level in zip(marks, high, strict=True):
        x, to = sum(ends[mark.start]) / 2, sum(ends[mark.end]) / 2
        way = 1 if to > x else -1
        x, to, top = x + way * ASIDE, to - way * ASIDE, base - LEVEL * level
        bow = (
            f"M{n(x)} {n(base)}V{n(top + 6)}Q{n(x)} {n(top)} {n(x + way * 6)} {n(top)}"
            f"H{n(to - way * 6)}Q{n(to)} {n(top)} {n(to)} {n(top + 6)}V{n(base)}"
        )
        tip = f"M{n(to - 3)} {n(base - 5)}L{n(to)} {n(base)}L{n(to + 3)} {n(base - 5)}"
        parts += mark.drawn(bow, [words[mark.start], "→", words[mark.end]])
        parts += [path(tip, MARKS[mark.status][1]), "</g>"]
        labels += mark.drawn_label((x + to) / 2, top)
    drawn = [*parts, *labels, *_words(words, ends, base + 18, direction, strong)]
    return drawn, _end(ends), base + 28


def _stacked(lines: Iterable[Callable[[float], Drawn]], y: float, gap: float) -> Drawn:
    """Draw lines, each by a function of its top, one below the other. gap: space below each."""
    parts: list[str] = []
    right = 40.0
    for line in lines:
        drawn, wide, y = line(y)
        parts += drawn
        right, y = max(right, wide), y + gap
    return parts, right, y


def roles_svg(sentences: Sequence[Sentence], *, styled: bool = True) -> str:
    """Draw semantic roles as arcs from predicates to the middles of arguments, a line per frame."""
    lines = [partial(_frame, s, frame) for s in sentences for frame in s.frames or ()]
    parts, right, y = _stacked(lines, MARGIN, 0)
    title = "Semantic roles in “" + " ".join(s.text for s in sentences) + "”"
    return svg(right, y + MARGIN, title, parts, styled=styled)


def heads_svg(sentences: Sequence[Sentence], *, styled: bool = True) -> str:
    """Draw dependencies as arcs from heads to their dependents, a line per sentence."""
    lines = [
        partial(
            arcs, ["ROOT", *s.words], [Mark(*place) for place in _heads(s)], direction=s.direction
        )
        for s in sentences
    ]
    parts, right, y = _stacked(lines, MARGIN, MARGIN)
    title = "Dependencies of “" + " ".join(s.text for s in sentences) + "”"
    return svg(right, y + MARGIN, title, parts, styled=styled)


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
    draw, words = (arcs, ["ROOT", *gold.words]) if of == "heads" else (brackets, gold.words)
    lines = [partial(draw, words, of_line, direction=gold.direction) for of_line in marks]
    parts, right, y = _stacked(lines, 34.0, MARGIN)
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
        return None if sentence.heads is None else {0: _heads(sentence)}
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


def _heads(sentence: Sentence) -> list[Place]:
    """Return (head, dependent, relation) of every word, counted from 1; 0 is the root."""
    pairs = zip(sentence.heads or (), sentence.relations, strict=True)
    return [(0 if head == i else head + 1, i + 1, label) for i, (head, label) in enumerate(pairs)]


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
