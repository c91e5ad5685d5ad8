"""A constituency tree as SVG: words at the foot, phrases above, chains of one word joined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, get_args

from .nodes import Node, bracketed, nodes, preorder
from .palette import FAINT, INK, RULE, doubt
from .sentences import Sentence
from .svg import n, path, rect, svg, text, xml
from .widths import shortened, width

Edges = Literal["straight", "elbow"]

WORD, TAG, LABEL = 14, 11, 12
"""The sizes of words, tags and labels, in pixels."""
CHIP = 20.0
"""Height of a phrase's chip."""
LEVEL = 42.0
"""From one row of phrases to the next."""
GAP, MARGIN = 12.0, 12.0
"""The room between neighbours and around the picture, in pixels."""
LEAF = 34.0
"""Height of a tag over its word."""


class _Block:
    """The room of a drawn node: `left` within its parent's room, `width`, and where its middle is
    within its own. `height` counts rows; those of words are 0."""

    __slots__ = ("centre", "children", "height", "left", "node", "width")

    def __init__(self, node: Node, children: list[_Block]) -> None:
        self.node, self.children, self.left = node, children, 0.0
        self.height: int = 1 + max((child.height for child in children), default=-1)
        own = _label_width(node)
        if not children:
            self.width, self.centre = own, own / 2
            return
        right = -GAP
        for child in children:
            child.left = right + GAP
            right = child.left + child.width
        first, last = children[0], children[-1]
        self.centre = (first.left + first.centre + last.left + last.centre) / 2
        shift = max(0.0, own / 2 - self.centre)  # a label that is wider than what is below
        for child in children:
            child.left += shift
        self.centre += shift
        self.width = max(right + shift, self.centre + own / 2)


def _label_width(node: Node) -> float:
    if node.labels:
        return width(_label(node), LABEL, bold=True) + 12
    return max(width(shortened(node.word), WORD), width(node.tag, TAG))


def _label(node: Node) -> str:
    return shortened(node.label)


def tree_svg(
    sentences: Iterable[Sentence],
    *,
    edges: Edges = "straight",
    compact: bool = True,
    direction: str | None = None,
    styled: bool = True,
) -> str:
    """The trees of sentences, one below the other.

    edges: "straight" or "elbow". compact: whether unary chains are one node, "S›VP". direction:
    "ltr" or "rtl", where the first word stands; by default as its letters say. A phrase's chip is
    the darker the less probable it is.
    Raises ValueError for other edges and directions, and where phrases cross.
    """
    if edges not in get_args(Edges):
        raise ValueError(f"edges must be one of {get_args(Edges)}, not {edges!r}")
    if direction not in (None, "ltr", "rtl"):
        raise ValueError(f"direction must be 'ltr', 'rtl' or None, not {direction!r}")
    sentences = list(sentences)
    tops = [nodes(sentence, compact=compact) for sentence in sentences]
    parts: list[str] = []
    right, bottom = 0.0, MARGIN
    for sentence, top in zip(sentences, tops, strict=True):
        mirrored = (direction or sentence.direction) == "rtl"
        block = _blocks(top, mirrored)
        parts += _drawn(block, sentence, bottom, edges, mirrored)
        right = max(right, block.width)
        bottom += _row(block, 0) + LEAF + 2 * MARGIN
    return svg(
        max(right, 40.0) + 2 * MARGIN,
        max(bottom - MARGIN, 40.0),
        "Constituency tree of “" + " ".join(s.text for s in sentences) + "”",
        parts,
        description=" ".join(map(bracketed, tops)),
        styled=styled,
    )


def _blocks(top: Node, mirrored: bool) -> _Block:
    built: list[_Block] = []
    for node in reversed(list(preorder(top))):
        count = len(node.children)
        children = built[len(built) - count :]
        del built[len(built) - count :]
        # from the right: a node's children come in reverse
        built.append(_Block(node, children if mirrored else children[::-1]))
    return built[0]


def _row(block: _Block, height: int) -> float:
    """Where the row of some height begins, from the top of the tree's drawing."""
    return (block.height - height) * LEVEL


def _drawn(
    top: _Block, sentence: Sentence, y: float, edges: Edges, mirrored: bool
) -> Iterator[str]:
    stack = [(top, MARGIN)]
    lines: list[str] = []
    parts: list[str] = []
    while stack:
        block, left = stack.pop()
        x, here = left + block.centre, y + _row(top, block.height)
        for child in block.children:
            below = left + child.left + child.centre, y + _row(top, child.height)
            lines.append(path(_edge(x, here + CHIP, *below, edges), RULE))
            stack.append((child, left + child.left))
        parts += _leaf(block.node, x, here, mirrored) if not block.node.labels else ()
        if block.node.labels:
            parts += _chip(block.node, sentence, x, here)
    yield from lines
    yield from parts


def _edge(x: float, y: float, to_x: float, to_y: float, edges: Edges) -> str:
    """From a phrase down to a child. It goes aside between two rows only, so it meets no label."""
    turn = y + LEVEL - CHIP
    if edges == "elbow":
        middle = (y + turn) / 2
        return f"M{n(x)} {n(y)}V{n(middle)}H{n(to_x)}V{n(to_y)}"
    return f"M{n(x)} {n(y)}L{n(to_x)} {n(turn)}V{n(to_y)}"


def _leaf(node: Node, x: float, y: float, mirrored: bool) -> Iterator[str]:
    word = shortened(node.word)
    yield text(x, y + 11, node.tag, size=TAG, anchor="middle", fill=FAINT, fitted=True)
    drawn = text(x, y + 29, word, size=WORD, anchor="middle", fitted=not mirrored)
    yield drawn.replace("<text ", "<text direction='rtl' ", 1) if mirrored else drawn


def _chip(node: Node, sentence: Sentence, x: float, y: float) -> Iterator[str]:
    label, wide = _label(node), _label_width(node)
    yield f"<g class='lal-node' {node.data(sentence)}>"
    yield f"<title>{xml(node.described(sentence))}</title>"
    fill = doubt(node.probability)
    yield rect(x - wide / 2, y, wide, CHIP, fill, stroke=RULE, radius=5)
    yield text(x, y + 14, label, size=LABEL, weight="bold", anchor="middle", fill=INK, fitted=True)
    yield "</g>"
