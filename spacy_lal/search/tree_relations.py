"""Tregex's relations between nodes of a tree (R. Levy and G. Andrew 2006, Tregex and Tsurgeon).

A relation gives the nodes B in it with a node A, in the order in which Stanford's Tregex tries
them, so that matches come in its order. What is below, before and after a node are ranges of
preorder numbers, which `RANGES` gives for these relations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, pairwise

from .tree_nodes import TreeNodes

Relation = Callable[[TreeNodes, int], Iterable[int]]
Ranges = Callable[[TreeNodes, int], Iterable[range]]
Choice = Callable[[TreeNodes, int], list[int]]
"""One child of a node or none: the first, the head, …"""


def itself(tree: TreeNodes, a: int) -> list[int]:
    return [a]


def _nth(nodes: list[int], n: int) -> list[int]:
    """Return the n-th node, from 1, or from the end with -1, if there is one."""
    index = n - 1 if n > 0 else n
    return nodes[index : index + 1 or None] if len(nodes) >= abs(n) else []


def _sisters(tree: TreeNodes, a: int) -> list[int]:
    return tree.children[tree.parent[a]] if a else [a]


def _ancestors(tree: TreeNodes, a: int) -> Iterator[int]:
    while (a := tree.parent[a]) >= 0:
        yield a


def _leaves(tree: TreeNodes, a: int) -> list[int]:
    return [b for b in range(a + 1, tree.last[a] + 1) if not tree.children[b]]


# the child that is chosen, the parent that chooses A, and chains of these


def _chooser(choose: Choice) -> Relation:
    def found(tree: TreeNodes, a: int) -> list[int]:
        return [tree.parent[a]] if a and choose(tree, tree.parent[a]) == [a] else []

    return found


def _chain(step: Relation) -> Relation:
    def found(tree: TreeNodes, a: int) -> Iterator[int]:
        while (b := next(iter(step(tree, a)), None)) is not None:
            yield b
            a = b

    return found


_CHOICES: dict[str, Choice] = {
    ":": lambda tree, a: tree.children[a] if len(tree.children[a]) == 1 else [],
    ",": lambda tree, a: tree.children[a][:1],
    "-": lambda tree, a: tree.children[a][-1:],
    "`": lambda tree, a: tree.children[a][-1:],
    "#": lambda tree, a: [b for b in tree.children[a] if b == tree.head_child[a]],
}
_down_first, _down_last = _chain(_CHOICES[","]), _chain(_CHOICES["-"])


# before and after


def _next(tree: TreeNodes, a: int) -> Iterator[int]:
    """What begins where A ends: the largest first."""
    b = tree.last[a] + 1
    if b < len(tree):
        yield b
        yield from _down_first(tree, b)


def _previous(tree: TreeNodes, a: int) -> Iterator[int]:
    """What ends where A begins: the largest first."""
    while a and not tree.position[a]:
        a = tree.parent[a]
    if a:
        b = _sisters(tree, a)[tree.position[a] - 1]
        yield b
        yield from _down_last(tree, b)


def _nodes(ranges: Ranges) -> Relation:
    return lambda tree, a: chain.from_iterable(ranges(tree, a))


def _after(tree: TreeNodes, a: int) -> Iterable[range]:
    """Later sisters of A's ancestors and all below them: those of the highest ancestor first."""
    path = [a, *_ancestors(tree, a)]
    ends = [tree.last[b] + 1 for b in reversed(path)]
    return (range(start, end) for end, start in pairwise(ends))


def _before(tree: TreeNodes, a: int) -> Iterable[range]:
    """The same on the left, of each ancestor the nearest sister first."""
    path = [a, *_ancestors(tree, a)]
    left = (b for x in reversed(path) for b in reversed(_sisters(tree, x)[: tree.position[x]]))
    return (range(b, tree.last[b] + 1) for b in left)


RELATIONS: dict[str, Relation] = {
    "==": itself,
    "<": lambda tree, a: tree.children[a],
    ">": lambda tree, a: [tree.parent[a]] if a else [],
    ">>": _ancestors,
    "<=": lambda tree, a: [a, *tree.children[a]],
    "<<<": _leaves,
    ".": _next,
    ",": _previous,
    "$": lambda tree, a: [b for b in _sisters(tree, a) if b != a],
}
"""The relations of a node to others by their signs."""
_IN_RANGES: dict[str, Ranges] = {
    "<<": lambda tree, a: (range(a + 1, tree.last[a] + 1),),
    ":": lambda tree, a: (range(len(tree)),),
    "..": _after,
    ",,": _before,
}
RANGES: dict[Relation, Ranges] = {}
"""The relations of these whose nodes lie side by side in preorder."""
for _sign, _ranges in _IN_RANGES.items():
    RELATIONS[_sign] = _nodes(_ranges)
    RANGES[RELATIONS[_sign]] = _ranges
for _sign, _choose in _CHOICES.items():
    RELATIONS |= {f"<{_sign}": _choose, f"<<{_sign}": _chain(_choose)}
    RELATIONS |= {f">{_sign}": _chooser(_choose), f">>{_sign}": _chain(_chooser(_choose))}
for _right, _left in (("+", "-"), (".", ",")):
    RELATIONS |= {
        f"${_right}": lambda tree, a: _sisters(tree, a)[tree.position[a] + 1 :][:1],
        f"${_left}": lambda tree, a: _sisters(tree, a)[: tree.position[a]][-1:],
        f"${_right}{_right}": lambda tree, a: _sisters(tree, a)[: tree.position[a] : -1],
        f"${_left}{_left}": lambda tree, a: _sisters(tree, a)[: tree.position[a]],
    }


def numbered(symbol: str, n: int) -> Relation | None:
    """Return `<n`, `>n` or `<<<n`: the n-th child, parent or leaf, from the end if n is negative.
    None if `symbol` takes no number."""

    def child(tree: TreeNodes, a: int) -> list[int]:
        return _nth(tree.children[a], n)

    def leaf(tree: TreeNodes, a: int) -> list[int]:
        return _nth(_leaves(tree, a) or [a], n)  # as in Tregex, a leaf's only leaf is itself

    return {"<": child, ">": _chooser(child), "<<<": leaf}.get(symbol)


def unbroken(symbol: str, passes: Callable[[str], bool]) -> Relation:
    """Return `<+(C)`, `>+(C)`, `.+(C)` or `,+(C)`: the relation through nodes whose labels pass."""
    step = {"<+": RELATIONS["<"], ">+": RELATIONS[">"], ".+": _next, ",+": _previous}[symbol]

    def reached(tree: TreeNodes, a: int) -> Iterable[int]:
        found: dict[int, None] = {}
        stack = [iter(step(tree, a))]
        while stack:
            for b in stack[-1]:
                if b not in found:
                    found[b] = None
                    if passes(tree.label[b]):
                        stack.append(iter(step(tree, b)))
                        break
            else:
                stack.pop()
        return reversed(found) if symbol[0] in ".," else found

    return reached
