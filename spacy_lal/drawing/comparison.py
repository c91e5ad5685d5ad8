"""Comparison of gold and predicted annotation: marks for matched, missed and spurious parts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Literal, get_args

from .lines import LEGEND_WIDTH, MARGIN, Mark, arcs, brackets, head_places, legend
from .palette import FAINT
from .sentence import Phrase, RoleFrame, Sentence
from .svg import svg, text

Compared = Literal["constituents", "heads", "srl"]
Place = tuple[int, int, str]

_LAYERS = {"constituents": "phrases", "heads": "heads", "srl": "frames"}


def diff_svg(
    gold: Sequence[Sentence],
    predicted: Sequence[Sentence],
    *,
    of: Compared = "constituents",
    styled: bool = True,
) -> str:
    """Draw two annotations of the same words, whatever their sentence boundaries: constituents as
    brackets, heads as arcs, or each predicate's roles ("srl"). Raises ValueError for another `of`,
    different words, or a missing annotation."""
    if of not in get_args(Compared):
        raise ValueError(f"of must be one of {get_args(Compared)}, not {of!r}")
    sides = {"gold": _whole(gold), "prediction": _whole(predicted)}
    one, other = sides.values()
    if one.words != other.words:
        raise ValueError(f"gold and prediction have different words: {one.text!r}, {other.text!r}")
    for name, side in sides.items():
        if getattr(side, _LAYERS[of]) is None:
            raise ValueError(f"the {name} has no {of}: {side.text!r}")
    parts: list[str] = []
    right, y = LEGEND_WIDTH, 34.0
    counts: Counter[str] = Counter()
    draw = arcs if of == "heads" else brackets
    for words, marks in _lines(one, other, of):
        drawn, wide, y = draw(words, marks, y, one.direction)
        parts += drawn
        counts.update(mark.status for mark in marks)
        right, y = max(right, wide), y + MARGIN
    said = ", ".join(f"{counts[status]} {status}" for status in ("matched", "missed", "spurious"))
    parts.append(text(MARGIN, 22, f"{of}: {said}", size=12, fill=FAINT, fitted=True))
    parts += legend(MARGIN, y + 6)
    title = f"Gold and predicted {of} of “{one.text}”: {said}"
    return svg(right + MARGIN, y + 18, title, parts, styled=styled)


def _whole(parts: Sequence[Sentence]) -> Sentence:

    def moved(phrases: Iterable[Phrase], by: int) -> list[Phrase]:
        return [(start + by, end + by, label, score) for start, end, label, score in phrases]

    whole = Sentence([w for s in parts for w in s.words], [], [], [])
    offsets = [sum(len(s.words) for s in parts[:k]) for k in range(len(parts))]
    both = list(zip(parts, offsets, strict=True))
    if parts and all(s.phrases is not None for s in parts):
        whole = replace(whole, phrases=[p for s, by in both for p in moved(s.phrases or (), by)])
    if parts and all(s.frames is not None for s in parts):
        frames = [
            RoleFrame(f.predicate + by, f.roleset, moved(f.roles, by))
            for s, by in both
            for f in s.frames or ()
        ]
        whole = replace(whole, frames=frames)
    if parts and all(s.heads is not None for s in parts):
        heads = [head + by for s, by in both for head in s.heads or ()]
        whole = replace(whole, heads=heads, relations=[r for s in parts for r in s.relations])
    return whole


def _lines(
    gold: Sentence, predicted: Sentence, of: Compared
) -> Iterator[tuple[list[str], list[Mark]]]:
    sides = (gold, predicted)
    if of == "constituents":
        phrases = [[phrase[:3] for phrase in side.phrases or ()] for side in sides]
        yield gold.words, _compared(*phrases)
    elif of == "heads":
        yield ["ROOT", *gold.words], _compared(*map(head_places, sides))
    else:
        frames = [_roles(side) for side in sides]
        for predicate in sorted({*frames[0], *frames[1]}):
            found = [side.get(predicate, []) for side in frames]
            yield gold.words, _compared(*found)


def _roles(sentence: Sentence) -> dict[int, list[Place]]:
    found: dict[int, list[Place]] = defaultdict(list)
    for frame in sentence.frames or ():
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
