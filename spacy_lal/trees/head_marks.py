"""Trees with marked heads: `(S (NP (PRP I)) (VP=H (VBD=H slept)))`, as the Stanford parser prints
them with `markHeadNodes`."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from .tree import ConstituentTree

MARK = "=H"
"""What follows the label of a phrase's head. Readers of treebanks drop it as an index."""


class _Marked(NamedTuple):
    """A node whose descendants are marked; depth and index of its highest word."""

    depth: int
    word: int
    node: ConstituentTree


def mark_heads(tree: ConstituentTree, heads: Sequence[int]) -> ConstituentTree:
    """Return the tree with `MARK` at the label of each phrase's head: the child that has the word
    nearest to the root, the leftmost one where several are as near.

    heads: index of each word's head, from 0; a root is its own. A label that is empty or begins
    with "-" (-LRB-) stays as it is. Raises ValueError for heads of other words, and for a cycle.
    """
    position = len(tree.leaves)
    depths = _depths(heads)
    if len(depths) != position:
        raise ValueError(f"a tree of {position} words needs as many heads, not {len(depths)}")

    def marked(node: ConstituentTree, found: list[_Marked | None]) -> _Marked | None:
        nonlocal position
        if node.word is not None:
            position -= 1
            return _Marked(depths[position], position, node)
        children = [child for child in found if child is not None]
        if not children:
            return None
        head = min(children)
        kept = [_with_mark(child.node) if child is head else child.node for child in children]
        return head._replace(node=replace(node, children=tuple(kept)))

    whole = tree.fold(marked)
    return tree if whole is None else whole.node


def _with_mark(node: ConstituentTree) -> ConstituentTree:
    bare = not node.label or node.label.startswith("-")
    return node if bare else replace(node, label=node.label + MARK)


def _depths(heads: Sequence[int]) -> list[int]:
    """Return the number of words above each word. Raises ValueError for a cycle."""
    depths = [-1] * len(heads)
    for word in range(len(heads)):
        path = [word]
        while depths[path[-1]] < 0 and heads[path[-1]] != path[-1]:
            path.append(heads[path[-1]])
            if len(path) > len(heads):
                raise ValueError(f"a cycle in the heads at word {word}")
        top = max(depths[path[-1]], 0)
        for depth, at in enumerate(reversed(path), start=top):
            depths[at] = depth
    return depths
