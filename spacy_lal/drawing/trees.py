"""Constituency trees: their layout, their phrases in SVG, and boxes of HTML for any width."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Generic, Literal, Protocol, TypeVar

from .axis import GAP, ROW
from .html import element, figure
from .palette import INK, RULE, TOP, category, doubt, hue
from .svg import centred, n, path, rect, shortened, width, xml

Edges = Literal["straight", "elbow"]

LABEL = 12
"""Size of labels, in pixels."""
CHIP = 20.0
"""Height of a phrase's chip, in pixels."""
LEVEL = 38.0
"""Distance between two rows of phrases, in pixels."""
ASIDE = 16.0
"""Distance between two columns of phrases in a turned tree, in pixels."""


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
        return shortened(self.label)

    @property
    def width(self) -> float:
        """Width of the label's chip, in pixels."""
        return width(self.shown, LABEL, bold=True) + 12

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


def boxes_html(trees: Iterable[Node]) -> str:
    """Draw phrases as boxes around their words; frames of doubtful ones are dashed."""
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


def _boxes(top: Node) -> Iterator[str]:
    for node, begins in _walk(top):
        if not begins:
            yield "</span>"
        elif not node.labels:
            yield element("span", "lal-word", xml(node.text), title=node.tag) + " "
        else:
            unsure = f" lal-doubt-{doubt(node.probability)}" if doubt(node.probability) else ""
            yield f"<span class='lal-box lal-node lal-category-{category(node.labels[0])}{unsure}' "
            yield f"title='{xml(node.described)}' {node.data}>"
            yield element("span", "lal-label", xml(node.label))


def tree_block(
    top: Node, widths: Mapping[int, float], *, mirrored: bool = False, turned: bool = False
) -> Block[Node]:
    """Return the extent of a tree along its line of words. widths: of words, by token."""

    def made(node: Node, below: list[Block[Node]]) -> Block[Node]:
        own = ROW if turned else node.width if node.labels else widths[node.tokens[0]]
        return Block(node, own, below[::-1] if mirrored else below, 0.0 if turned else GAP)

    return fold((node for node, begins in _walk(top) if begins), made)


def tree_parts(
    top: Block[Node], u: float, v: float, edges: Edges, turned: bool
) -> tuple[list[str], dict[int, tuple[float, float]], float]:
    """Draw phrases and edges from (u, v) on. Return the elements, the ends of each token's room
    along the line of words, and the place of that line."""
    columns = _columns(top, v) if turned else []
    foot = columns[-1] if turned else v + LEVEL * top.height
    lines: list[str] = []
    chips: list[str] = []
    ends: dict[int, tuple[float, float]] = {}
    stack = [(top, u, 0)]
    while stack:
        block, left, depth = stack.pop()
        node, middle = block.node, left + block.centre
        if not node.labels:
            ends[node.tokens[0]] = left, left + block.width
            continue
        x, y = middle, v + LEVEL * (top.height - block.height)
        if turned:
            x, y = columns[depth] + node.width / 2, middle - CHIP / 2
        chips += _chip(node, x, y)
        for child in block.children:
            there = left + child.left + child.centre
            if turned:
                to = foot - 4 if not child.node.labels else columns[depth + 1]
                way = _turned_edge(x + node.width / 2, middle, columns[depth + 1], to, there, edges)
            else:
                to = v + LEVEL * (top.height - child.height)
                way = _edge(x, y + CHIP, y + LEVEL, there, to, edges)
            places = "data-start='{}' data-end='{}'".format(*child.node.tokens)
            kind = "edge" if child.node.labels else "stem"
            lines.append(f"<g class='lal-{kind}' {places}>{path(way, RULE)}</g>")
            stack.append((child, left + child.left, depth + 1))
    return [*lines, *chips], ends, foot


def _columns(top: Block[Node], x: float) -> list[float]:
    """Return the left end of each level of phrases in a turned tree, and of the words."""
    widths: list[float] = []
    stack = [(top, 0)]
    while stack:
        block, depth = stack.pop()
        if block.node.labels:
            widths += [0.0] * (depth + 1 - len(widths))
            widths[depth] = max(widths[depth], block.node.width)
            stack += [(child, depth + 1) for child in block.children]
    return [*accumulate((wide + ASIDE for wide in widths), initial=x)]


def _edge(x: float, y: float, turn: float, to_x: float, to_y: float, edges: Edges) -> str:
    """Draw an edge to a child, which turns between two rows only, so that it meets no label."""
    if edges == "elbow":
        return f"M{n(x)} {n(y)}V{n((y + turn) / 2)}H{n(to_x)}V{n(to_y)}"
    return f"M{n(x)} {n(y)}L{n(to_x)} {n(turn)}V{n(to_y)}"


def _turned_edge(x: float, y: float, turn: float, to_x: float, to_y: float, edges: Edges) -> str:
    """Draw an edge to a child at the right, which turns before the next level."""
    if edges == "elbow":
        return f"M{n(x)} {n(y)}H{n(turn - ASIDE / 2)}V{n(to_y)}H{n(to_x)}"
    end = min(turn, to_x)
    return f"M{n(x)} {n(y)}H{n(turn - ASIDE)}L{n(end)} {n(to_y)}H{n(to_x)}"


def _chip(node: Node, x: float, y: float) -> Iterator[str]:
    wide, unsure = node.width, doubt(node.probability)
    stroke, dashes = (RULE, INK, TOP)[unsure], "4 2" if unsure else ""
    yield f"<g class='lal-node' {node.data}><title>{xml(node.described)}</title>"
    yield rect(
        x - wide / 2, y, wide, CHIP, hue(category(node.labels[0])),
        stroke=stroke, radius=5, dashes=dashes, thick=max(1.0, unsure),
    )  # fmt: skip
    yield centred(x, y + 14, node.shown, size=LABEL, weight="bold")
    yield "</g>"


def bracketed(top: Node) -> str:
    """Return the tree in brackets."""
    pieces = (
        ")" if not begins else f" ({node.label}" if node.labels else f" {node.text}"
        for node, begins in _walk(top)
    )
    return "".join(pieces).strip()
