"""From the constituents of any tree to the nodes of a binary one, and back.

A tree over n words is the list of its constituents (start, end, label) in preorder: outer before
inner, the nodes of a unary chain as several constituents over the same words, topmost first.
Charts have one label a span and binary trees 2n-1 spans; so chains are joined to one label, and
nodes that are no constituents fill the gaps. Both steps can be undone exactly.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from ..trees import LabelledSpan

JOIN = "::"
"""Between the labels of a unary chain that are one label of a chart, topmost first."""

Direction = Literal["left", "right"]


def collapse_unaries(spans: Iterable[LabelledSpan], join: str = JOIN) -> list[LabelledSpan]:
    """One label for each (start, end): those of a unary chain joined, topmost first."""
    chains: dict[tuple[int, int], list[str]] = {}
    for start, end, label in spans:
        chains.setdefault((start, end), []).append(label)
    return [(start, end, join.join(labels)) for (start, end), labels in chains.items()]


def expand_unaries(spans: Iterable[LabelledSpan], join: str = JOIN) -> list[LabelledSpan]:
    """Undo `collapse_unaries`, for labels that do not contain `join` themselves."""
    return [(start, end, part) for start, end, label in spans for part in label.split(join)]


def binarise(
    spans: Iterable[LabelledSpan],
    n: int,
    direction: Direction = "left",
    mark: str = "",
    *,
    join: str = JOIN,
    top: str = "TOP",
) -> list[LabelledSpan]:
    """The 2n-1 nodes of a binary tree with these constituents, in preorder.

    spans: constituents in preorder, one a span (see `collapse_unaries`). A node of more than two
    children has all but the last one grouped by new nodes ("left"), or all but the first one
    ("right"). New nodes and words that are no constituents are labelled "", or, with a `mark`,
    with the lowest label of the constituent they are in and the mark: `NP*` for "*" in `S::NP`.
    top: stands for that label where no constituent covers the sentence.
    Raises ValueError for a direction that is none, two labels on a span, crossing or misplaced
    constituents, and labels that `debinarise` would take for new ones.
    """
    if direction not in ("left", "right"):
        raise ValueError(f"direction must be 'left' or 'right', not {direction!r}")
    if n < 1:
        return []
    nodes: list[LabelledSpan] = list(spans)
    for start, end, label in nodes:
        if _is_new(label, mark):
            raise ValueError(f"constituent {(start, end)} has the label {label!r} of a new node")
    children = _children(nodes, n, _new_label(top, mark, join))
    result: list[LabelledSpan] = []
    stack = [0]
    while stack:
        node = stack.pop()
        if node < 0:
            result.append(nodes[~node])
            continue
        result.append(nodes[node])
        below = children[node]
        label = nodes[node][2]
        new = label if _is_new(label, mark) else _new_label(label, mark, join)
        # ~i: a node whose children are already on the stack; i: one still to be opened
        fresh = []
        for child in below[1:-1]:
            start, end = nodes[node][0], nodes[child][1]
            if direction == "right":
                start, end = nodes[child][0], nodes[node][1]
            fresh.append(~len(nodes))
            nodes.append((start, end, new))
            children.append([])
        if direction == "left":
            order = [*reversed(fresh), *below]
        else:
            order = below[:1]
            for group, child in zip(fresh, below[1:-1], strict=True):
                order += [group, child]
            order += below[1:][-1:]
        stack += reversed(order)
    return result
