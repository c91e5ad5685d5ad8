"""Gold against predicted: what is in both, in gold alone, in the prediction alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Literal, get_args

from .arcs import arcs
from .brackets import LEGEND_WIDTH, Mark, brackets, legend
from .palette import FAINT
from .sentences import Phrase, Sentence, sentences
from .svg import svg, text
from .word_line import MARGIN

Compared = Literal["constituents", "heads", "srl"]
Place = tuple[int, int, str]


def diff_svg(pair: Any, *, of: Compared = "constituents", styled: bool = True) -> str:
    """Two annotations of the same words.

    pair: an `Example`, or (gold, predicted), two Docs, trees or records. of: "constituents", as
    brackets; "heads", as arcs from heads to their dependents; "srl", the roles of each predicate.
    Raises ValueError if `of` is none of these, if the words are not the same, or if one of the two
    is not annotated.
    """
    if of not in get_args(Compared):
        raise ValueError(f"of must be one of {get_args(Compared)}, not {of!r}")
    gold, predicted = (_whole(sentences(item)) for item in _sides(pair))
    if gold.words != predicted.words:
        raise ValueError(
            f"gold and prediction have different words: {gold.text!r}, {predicted.text!r}"
        )
    layer = {"constituents": "phrases", "heads": "heads", "srl": "frames"}[of]
    for name, side in (("gold", gold), ("prediction", predicted)):
        if getattr(side, layer) is None:
            raise ValueError(f"the {name} has no {of}: {side.text!r}")
    direction = gold.direction
    parts: list[str] = []
    right, y = LEGEND_WIDTH, 34.0
    marks: list[Mark] = []
    for words, found in _lines(gold, predicted, of):
        draw = arcs if of == "heads" else brackets
        drawn, wide, y = draw(words, found, y, direction)
        parts += drawn
        marks += found
        right, y = max(right, wide), y + MARGIN
    counts = Counter(mark.status for mark in marks)
    said = ", ".join(f"{counts[status]} {status}" for status in ("matched", "missed", "spurious"))
    parts.append(text(MARGIN, 22, f"{of}: {said}", size=12, fill=FAINT, fitted=True))
    parts += legend(MARGIN, y + 6)
    title = f"Gold and predicted {of} of “{gold.text}”: {said}"
    return svg(right + MARGIN, y + 18, title, parts, styled=styled)


def _sides(pair: Any) -> Sequence[Any]:
    if hasattr(pair, "reference") and hasattr(pair, "predicted"):
        return pair.reference, pair.predicted
    if isinstance(pair, Sequence) and len(pair) == 2:
        return pair
    raise ValueError(f"a comparison is of an Example or of (gold, predicted), not {type(pair)}")


def _whole(parts: Sequence[Sentence]) -> Sentence:
    """One sentence of several: gold and prediction may be split in different ways."""

    def moved(phrases: Iterable[Phrase], by: int) -> list[Phrase]:
        return [(start + by, end + by, label, score) for start, end, label, score in phrases]

    offsets = [sum(len(s.words) for s in parts[:k]) for k in range(len(parts))]
    joined = Sentence([w for s in parts for w in s.words], [], [], [])
    both = list(zip(parts, offsets, strict=True))
    changes: dict[str, Any] = {}
    if parts and all(s.phrases is not None for s in parts):
        changes["phrases"] = [p for s, by in both for p in moved(s.phrases or (), by)]
    if parts and all(s.frames is not None for s in parts):
        changes["frames"] = [
            type(f)(f.predicate + by, f.roleset, moved(f.roles, by))
            for s, by in both
            for f in s.frames or ()
        ]
    if parts and all(s.heads is not None for s in parts):
        changes["heads"] = [head + by for s, by in both for head in s.heads or ()]
        changes["relations"] = [relation for s in parts for relation in s.relations]
    return Sentence(joined.words, [], [], [], **changes)


def _lines(
    gold: Sentence, predicted: Sentence, of: Compared
) -> Iterable[tuple[list[str], list[Mark]]]:
    if of == "constituents":
        sides = [[phrase[:3] for phrase in side.phrases or ()] for side in (gold, predicted)]
        yield gold.words, compared(*sides)
    elif of == "heads":
        sides = [
            [
                (0 if head == i else head + 1, i + 1, relation)
                for i, (head, relation) in enumerate(
                    zip(side.heads or (), side.relations, strict=True)
                )
            ]
            for side in (gold, predicted)
        ]
        yield ["ROOT", *gold.words], compared(*sides)
    else:
        frames = [_frames(side) for side in (gold, predicted)]
        for predicate in sorted({*frames[0], *frames[1]}):
            found = [side.get(predicate, []) for side in frames]
            yield gold.words, compared(*found)


def _frames(sentence: Sentence) -> dict[int, list[Place]]:
    """The roles of each predicate, which may have several frames."""
    found: dict[int, list[Place]] = defaultdict(list)
    for frame in sentence.frames or ():
        found[frame.predicate] += [role[:3] for role in frame.roles]
    return found


def compared(gold: Sequence[Place], predicted: Sequence[Place]) -> list[Mark]:
    """The places of both, wider ones first, each with its status; what is twice in one must be
    twice in the other to be matched."""
    counts, others = Counter(gold), Counter(predicted)
    marks = []
    for place in sorted({*counts, *others}, key=lambda p: (p[0], -p[1], p[2])):
        both = min(counts[place], others[place])
        marks += [Mark(*place, "matched")] * both
        marks += [Mark(*place, "missed")] * (counts[place] - both)
        marks += [Mark(*place, "spurious")] * (others[place] - both)
    return marks
