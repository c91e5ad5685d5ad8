"""From the constituents of any tree to the nodes of a binary one, and back.

A tree over n words is the list of its constituents (start, end, label) in preorder: outer before
inner, the nodes of a unary chain as several constituents over the same words, topmost first.
Charts have one label a span and binary trees 2n-1 spans; so chains are joined to one label, and
nodes that are no constituents fill the gaps. Both steps can be undone exactly.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from ..trees.tree import LabelledSpan

JOIN = "::"
"""Between the labels of a unary chain that are one label of a chart, topmost first."""

Direction = Literal["left", "right"]


def crossing(spans: Iterable[LabelledSpan]) -> tuple[LabelledSpan, LabelledSpan] | None:
    """Two constituents of which neither contains the other though they share words, or None.

    spans: sorted by start, the wider of two that start together first, as in preorder.
    """
    opened: list[LabelledSpan] = []
    for span in spans:
        while opened and opened[-1][1] <= span[0]:
            opened.pop()
        if opened and opened[-1][1] < span[1]:
            return opened[-1], span
        opened.append(span)
    return None


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
    spans = list(spans)
    result = list(spans)
    opened: list[_Opened] = []
    if not spans or spans[0][:2] != (0, n):
        # no constituent covers the sentence: a new node does
        root = _Opened(0, n, top + mark if mark else "", [0])
        result.append(root[:3])
        opened.append(root)
    for start, end, label in spans:
        if not 0 <= start < end <= n:
            raise ValueError(f"constituent {(start, end)} is outside of {n} words")
        if is_new(label, mark):
            raise ValueError(f"constituent {(start, end)} has {label!r}, the label of a new node")
        while opened and opened[-1].end <= start:
            result += opened.pop().finish(direction)
        if opened:
            parent = opened[-1]
            if end > parent.end or start < parent.borders[-1] or (start, end) == parent[:2]:
                raise ValueError(
                    f"constituent {(start, end)} crosses, precedes or repeats another one: they "
                    "must be in preorder, with one label a span"
                )
            result += parent.words_up_to(start)
            parent.borders.append(end)
        opened.append(_Opened(start, end, label.split(JOIN)[-1] + mark if mark else "", [start]))
    while opened:
        result += opened.pop().finish(direction)
    return sorted(result, key=lambda node: (node[0], -node[1]))


def debinarise(nodes: Iterable[LabelledSpan], mark: str = "") -> list[LabelledSpan]:
    """Undo `binarise`: leave out nodes labelled "" or, with a `mark`, ending in it."""
    return [node for node in nodes if not is_new(node[2], mark)]


def is_new(label: str, mark: str = "") -> bool:
    """Whether a label is that of a node which is no constituent."""
    return not label or (mark != "" and label.endswith(mark))


class _Opened(NamedTuple):
    """A constituent some of whose children are known.

    new: the label of new nodes in it. borders: its start and the ends of those children.
    """

    start: int
    end: int
    new: str
    borders: list[int]

    def words_up_to(self, end: int) -> list[LabelledSpan]:
        """Make children of the words between the last child and `end`."""
        words = range(self.borders[-1], end)
        self.borders.extend(word + 1 for word in words)
        return [(word, word + 1, self.new) for word in words]

    def finish(self, direction: Direction) -> list[LabelledSpan]:
        """The words after the last child, and the new nodes between this one and its children."""
        if self.end - self.start == 1:
            return []
        words = self.words_up_to(self.end)
        if direction == "left":
            return words + [(self.start, border, self.new) for border in self.borders[2:-1]]
        return words + [(border, self.end, self.new) for border in self.borders[1:-2]]
