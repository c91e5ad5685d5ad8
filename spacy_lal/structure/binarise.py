"""From the constituents of any tree to the nodes of a binary one, and back.

A tree over n words is the list of its constituents (start, end, label) in preorder: outer before
inner, the nodes of a unary chain as several constituents over the same words, topmost first.
Charts have one label a span and binary trees 2n-1 spans; so chains are joined to one label, and
nodes that are no constituents fill the gaps. Both steps can be undone exactly.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from ..trees.nest import nest
from ..trees.tree import LabelledSpan

JOIN = "::"
"""Between the labels of a unary chain that are one label of a chart, topmost first."""

Direction = Literal["left", "right"]


def collapse_unaries(spans: Iterable[LabelledSpan]) -> list[LabelledSpan]:
    """One label for each (start, end): those of a unary chain joined, topmost first."""
    chains: dict[tuple[int, int], list[str]] = {}
    for start, end, label in spans:
        chains.setdefault((start, end), []).append(label)
    return [(start, end, JOIN.join(labels)) for (start, end), labels in chains.items()]


def expand_unaries(spans: Iterable[LabelledSpan]) -> list[LabelledSpan]:
    """Undo `collapse_unaries`, for labels that do not contain `JOIN` themselves."""
    return [(start, end, part) for start, end, label in spans for part in label.split(JOIN)]


def binarise(
    spans: Iterable[LabelledSpan],
    n: int,
    direction: Direction = "left",
    mark: str = "",
    *,
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
    nodes = list(spans)
    for start, end, label in nodes:
        if is_new(label, mark):
            raise ValueError(f"constituent {(start, end)} has {label!r}, the label of a new node")
    below = nest(nodes, n)
    new_labels = [label.split(JOIN)[-1] + mark if mark else "" for *_, label in nodes]
    if not nodes or nodes[0][:2] != (0, n):
        # no constituent covers the sentence: a new node does
        new_labels.append(top + mark if mark else "")
        nodes.append((0, n, new_labels[-1]))
    result = list(nodes)
    for (start, end, _), new, children in zip(nodes, new_labels, below, strict=False):
        if children[0] >= 0 and nodes[children[0]][:2] == (start, end):
            raise ValueError(f"constituent {(start, end)} is there twice: one label a span")
        if end - start == 1:
            continue
        borders = [~child + 1 if child < 0 else nodes[child][1] for child in children[:-1]]
        if direction == "left":
            result += [(start, border, new) for border in borders[1:]]
        else:
            result += [(border, end, new) for border in borders[:-1]]
        result += [(~child, ~child + 1, new) for child in children if child < 0]
    return sorted(result, key=lambda node: (node[0], -node[1]))


def debinarise(nodes: Iterable[LabelledSpan], mark: str = "") -> list[LabelledSpan]:
    """Undo `binarise`: leave out nodes labelled "" or, with a `mark`, ending in it."""
    return [node for node in nodes if not is_new(node[2], mark)]


def is_new(label: str, mark: str = "") -> bool:
    """Whether a label is that of a node which is no constituent."""
    return not label or (mark != "" and label.endswith(mark))
