"""Nesting and crossing of spans."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

Span = TypeVar("Span", bound=Sequence[Any])


def nest(spans: Sequence[Sequence[Any]], n: int) -> list[list[int]]:
    """Return the children of each span, from left to right, and last the root's children.

    Among children, k stands for span k, ~i for word i. Children come after their parent, so that a
    loop from the last span to the first builds a tree from its leaves. Raises ValueError, naming
    the spans, if one is empty or outside the n words, and if two cross or are out of order.
    spans: (start, end, …) in preorder; in a unary chain the topmost first.
    """
    below: list[list[int]] = [[] for _ in range(len(spans) + 1)]
    starts, ends = [*(span[0] for span in spans), 0], [*(span[1] for span in spans), n]
    opened = [len(spans)]
    position = 0

    def fill(k: int, end: int) -> None:
        nonlocal position
        below[k].extend(~i for i in range(position, end))
        position = max(position, end)

    for k, span in enumerate(spans):
        start, end = starts[k], ends[k]
        if not 0 <= start < end <= n:
            raise ValueError(f"span {tuple(span)} is empty or outside {n} words")
        while len(opened) > 1 and ends[opened[-1]] <= start:
            closed = opened.pop()
            fill(closed, ends[closed])
        outer = opened[-1]
        if start < starts[outer] or end > ends[outer]:
            raise ValueError(
                f"spans {tuple(spans[outer])} and {tuple(span)} cross or are out of preorder"
            )
        fill(outer, start)
        below[outer].append(k)
        opened.append(k)
    for k in reversed(opened):
        fill(k, ends[k])
    return below


def crossing(spans: Iterable[Span]) -> tuple[Span, Span] | None:
    """Return two crossing spans, or None; spans: sorted by start, then the wider first."""
    opened: list[Span] = []
    for span in spans:
        while opened and opened[-1][1] <= span[0]:
            opened.pop()
        if opened and opened[-1][1] < span[1]:
            return opened[-1], span
        opened.append(span)
    return None


def arcs_cross(heads: Mapping[int, int]) -> bool:
    """Return whether arcs from heads to words cross, with the arc from before the first word to a
    word that is its own head."""
    arcs = (sorted((-1 if head == word else head, word)) for word, head in heads.items())
    return crossing(sorted(arcs, key=lambda arc: (arc[0], -arc[1]))) is not None
