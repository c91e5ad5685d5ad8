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
    if len(heads) != position:
        raise ValueError(f"a tree of {position} words needs as many heads, not {len(heads)}")
    depths = depths_of(heads)
    if position in depths:
        raise ValueError(f"a cycle in the heads at word {depths.index(position)}")

    def marked(node: ConstituentTree, found: list[_Marked | None]) -> _Marked | None:
        nonlocal position
        if node.word is not None:
            position -= 1
            return _Marked(depths[position], position, node)
        children = [child for child in found if child is not None]
        if not children:
            return None
        head = min(children)
        kept = [child.node for child in children]
        if (label := head.node.label) and not label.startswith("-"):
            kept[children.index(head)] = replace(head.node, label=label + MARK)
        return head._replace(node=replace(node, children=tuple(kept)))

    whole = tree.fold(marked)
    return tree if whole is None else whole.node


def depths_of(heads: Sequence[int]) -> list[int]:
    """Return the number of words above each word; for those in or below a cycle, that of all."""
    depths = [len(heads)] * len(heads)
    below: list[list[int]] = [[] for _ in heads]
    for word, head in enumerate(heads):
        below[head].append(word)
    level = [word for word, head in enumerate(heads) if word == head]
    depth = 0
    while level:
        for word in level:
            depths[word] = depth
        level = [d for word in level for d in below[word] if d != word]
        depth += 1
    return depths
