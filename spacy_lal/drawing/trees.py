"""Constituency trees as SVG, words at the foot, and as boxes of HTML for any width."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, Protocol, TypeVar, get_args

from .html import element, figure, tenth
from .palette import FAINT, RULE, doubt
from .svg import centred, n, path, rect, shortened, svg, width, xml
from .svg import direction as of_letters

Edges = Literal["straight", "elbow"]

WORD, TAG, LABEL = 14, 11, 12
"""Sizes of words, tags and labels, in pixels."""
CHIP = 20.0
"""Height of a phrase's chip, in pixels."""
LEVEL = 42.0
"""Distance between two rows of phrases, in pixels."""
GAP, MARGIN = 12.0, 12.0
"""Space between neighbours and around the picture, in pixels."""
LEAF = 34.0
"""Height of a tag over its word, in pixels."""


@dataclass(slots=True)
class Node:
    """Phrase with labels (several for a unary chain, topmost first), or word with a `tag`. tokens:
    (start, end) in the Doc. probability: the least of its phrases' probabilities, or None."""

    text: str
    tokens: tuple[int, int]
    labels: list[str] = field(default_factory=list)
    tag: str = ""
    probability: float | None = None
    children: list[Node] = field(default_factory=list)

    @property
    def label(self) -> str:
        return "›".join(self.labels)

    @property
    def shown(self) -> str:
        return shortened(self.label if self.labels else self.text)

    @property
    def width(self) -> float:
        """Width of the label, or of the word and its tag, in pixels."""
        if self.labels:
            return width(self.shown, LABEL, bold=True) + 12
        return max(width(self.shown, WORD), width(self.tag, TAG))

    @property
    def described(self) -> str:
        """Description for readers, such as "NP, probability 0.93: the man"."""
        sure = "" if self.probability is None else f", probability {self.probability:.2f}"
        return f"{' over '.join(self.labels)}{sure}: {self.text}"

    @property
    def data(self) -> str:
        """Attributes with the tokens, the label and the probability."""
        start, end = self.tokens
        sure = "" if self.probability is None else f" data-probability='{self.probability:.4f}'"
        return f"data-start='{start}' data-end='{end}' data-label='{xml(self.label)}'{sure}"


class _Nested(Protocol):
    @property
    def children(self) -> Sequence[_Nested]: ...


Nested = TypeVar("Nested", bound=_Nested)
Made = TypeVar("Made")


def fold(preorder: Iterable[Nested], make: Callable[[Nested, list[Made]], Made]) -> Made:
    """Return `make(node, values of its children)` of the topmost node; preorder: all nodes."""
    made: list[Made] = []
    for node in reversed(list(preorder)):
        first = len(made) - len(node.children)
        children = made[first:][::-1]
        del made[first:]
        made.append(make(node, children))
    return made[0]


class Block(Generic[Made]):
    """Extent of a drawn node: `left` within its parent, `width`, and `centre` within itself.
    `height` counts rows above the leaves. With `cells`, lengths are columns of a terminal."""

    __slots__ = ("centre", "children", "height", "left", "node", "width")

    def __init__(
        self, node: Made, own: float, children: list[Block[Made]], gap: float, cells: bool = False
    ) -> None:
        """Place a node above its children. own: width of its label. gap: space between children."""
        self.node, self.children, self.left = node, children, 0.0
        self.height: int = 1 + max((child.height for child in children), default=-1)
        half = (own - 1) // 2 if cells else own / 2
        if not children:
            self.width, self.centre = own, half
            return
        right = -gap
        for child in children:
            child.left = right + gap
            right = child.left + child.width
        first, last = children[0], children[-1]
        ends = first.left + first.centre + last.left + last.centre
        centre = ends // 2 if cells else ends / 2
        shift = max(0.0, half - centre)  # a label that is wider than what is below
        for child in children:
            child.left += shift
        self.centre = centre + shift
        self.width = max(right + shift, self.centre - half + own)


def tree_svg(
    trees: Sequence[Node],
    *,
    edges: Edges = "straight",
    direction: str | None = None,
    styled: bool = True,
) -> str:
    """Draw trees, one below the other; chips of less probable phrases have a stronger colour.
    direction: of the words, "ltr" or "rtl"; by default that of the letters. Raises ValueError for
    unknown edges ("straight" or "elbow") and directions."""
    if edges not in get_args(Edges):
        raise ValueError(f"edges must be one of {get_args(Edges)}, not {edges!r}")
    if direction not in (None, "ltr", "rtl"):
        raise ValueError(f"direction must be 'ltr', 'rtl' or None, not {direction!r}")
    parts: list[str] = []
    right, bottom = 0.0, MARGIN
    for top in trees:
        mirrored = (direction or of_letters(top.text)) == "rtl"
        block = _block(top, mirrored)
        parts += _drawn(block, bottom, edges, mirrored)
        right, bottom = max(right, block.width), bottom + LEVEL * block.height + LEAF + 2 * MARGIN
    return svg(
        max(right, 40.0) + 2 * MARGIN,
        max(bottom - MARGIN, 40.0),
        "Constituency tree of “" + " ".join(top.text for top in trees) + "”",
        parts,
        description=" ".join(map(_bracketed, trees)),
        styled=styled,
    )


def boxes_html(trees: Iterable[Node]) -> str:
    """Draw phrases as boxes around their words; less probable ones have a stronger colour."""
    return "".join(figure("boxes", "Constituents of", top.text, _boxes(top)) for top in trees)


def _walk(top: Node) -> Iterator[tuple[Node, bool]]:
    """Yield each node when its phrase begins (True), and each phrase when it ends (False)."""
    stack = [(top, True)]
    while stack:
        node, begins = stack.pop()
        yield node, begins
        if begins and node.labels:
            stack.append((node, False))
            stack.extend((child, True) for child in reversed(node.children))


def _bracketed(top: Node) -> str:
    pieces = (
        ")" if not begins else f" ({node.label}" if node.labels else f" {node.text}"
        for node, begins in _walk(top)
    )
    return "".join(pieces).strip()


def _boxes(top: Node) -> Iterator[str]:
    for node, begins in _walk(top):
        if not begins:
            yield "</span>"
        elif not node.labels:
            yield element("span", "lal-word", xml(node.text), title=node.tag) + " "
        else:
            yield f"<span class='lal-box lal-node lal-doubt-{tenth(node.probability)}' "
            yield f"title='{xml(node.described)}' {node.data}>"
            yield element("span", "lal-label", xml(node.label))


def _block(top: Node, mirrored: bool) -> Block[Node]:
    return fold(
        (node for node, begins in _walk(top) if begins),
        lambda node, below: Block(node, node.width, below[::-1] if mirrored else below, GAP),
    )


def _drawn(top: Block[Node], y: float, edges: Edges, mirrored: bool) -> Iterator[str]:
    stack = [(top, MARGIN)]
    lines: list[str] = []
    parts: list[str] = []
    while stack:
        block, left = stack.pop()
        node, x, here = block.node, left + block.centre, y + LEVEL * (top.height - block.height)
        for child in block.children:
            to_x, to_y = left + child.left + child.centre, y + LEVEL * (top.height - child.height)
            lines.append(path(_edge(x, here + CHIP, to_x, to_y, edges), RULE))
            stack.append((child, left + child.left))
        if node.labels:
            parts += _chip(node, x, here)
        else:
            parts.append(centred(x, here + 11, node.tag, size=TAG, fill=FAINT))
            parts.append(centred(x, here + 29, node.shown, size=WORD, mirrored=mirrored))
    yield from lines
    yield from parts


def _edge(x: float, y: float, to_x: float, to_y: float, edges: Edges) -> str:
    """Draw an edge to a child, which turns between two rows only, so that it meets no label."""
    turn = y + LEVEL - CHIP
    if edges == "elbow":
        middle = (y + turn) / 2
        return f"M{n(x)} {n(y)}V{n(middle)}H{n(to_x)}V{n(to_y)}"
    return f"M{n(x)} {n(y)}L{n(to_x)} {n(turn)}V{n(to_y)}"


def _chip(node: Node, x: float, y: float) -> Iterator[str]:
    wide = node.width
    yield f"<g class='lal-node' {node.data}>"
    yield f"<title>{xml(node.described)}</title>"
    yield rect(x - wide / 2, y, wide, CHIP, doubt(node.probability), stroke=RULE, radius=5)
    yield centred(x, y + 14, node.shown, size=LABEL, weight="bold")
    yield "</g>"
