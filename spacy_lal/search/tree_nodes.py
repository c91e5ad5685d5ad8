"""A tree's nodes by number, as searches walk them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import cached_property

from ..trees.head_marks import depths_of
from ..trees.head_rules import heads_by_rules
from ..trees.tree import ConstituentTree

Heads = Sequence[int] | Callable[[ConstituentTree], Sequence[int]]


class TreeNodes:
    """The nodes of a tree in preorder, from 0, the root.

    Words are nodes of their own below their tags, as in Tregex, so that the tree has two nodes for
    each word. `label`, `parent` (-1 above the root) and `children` hold an item a node, `words` the
    nodes of the words from left to right.

    heads: the head of each word, from 0, where the root is its own head, or a function that
        returns them for the tree; without it, Collins's rules (`heads_by_rules`).
    """

    def __init__(self, tree: ConstituentTree, heads: Heads | None = None) -> None:
        self.tree = tree
        self._heads = heads_by_rules if heads is None else heads
        self.label: list[str] = []
        self.parent: list[int] = []
        self.children: list[list[int]] = []
        self.words: list[int] = []
        label, parents, children = self.label, self.parent, self.children
        stack: list[tuple[ConstituentTree, int]] = [(tree, -1)]
        while stack:
            node, parent = stack.pop()
            number = len(label)
            label.append(node.label)
            parents.append(parent)
            if parent >= 0:
                children[parent].append(number)
            if node.word is None:
                children.append([])
                stack.extend([(child, number) for child in reversed(node.children)])
            else:
                children += [number + 1], []
                self.words.append(number + 1)
                label.append(node.word)
                parents.append(number)

    def __len__(self) -> int:
        return len(self.label)

    @cached_property
    def is_leaf(self) -> list[bool]:
        """Whether a node has no children: words, and phrases over nothing."""
        return [not children for children in self.children]

    @cached_property
    def position(self) -> list[int]:
        """Each node's place among its parent's children, from 0; 0 for the root."""
        position = [0] * len(self)
        for children in self.children:
            for i, child in enumerate(children):
                position[child] = i
        return position

    @cached_property
    def last(self) -> list[int]:
        """The last node below each node, or itself if there is none: below are the nodes from the
        next number up to this one."""
        last = list(range(len(self)))
        for node in range(len(self) - 1, -1, -1):
            if self.children[node]:
                last[node] = last[self.children[node][-1]]
        return last

    @cached_property
    def start(self) -> list[int]:
        """The first word of each node, from 0."""
        return [bisect_left(self.words, node) for node in range(len(self))]

    @cached_property
    def end(self) -> list[int]:
        """The end of each node's words, exclusive."""
        return [bisect_right(self.words, last) for last in self.last]

    @cached_property
    def head_child(self) -> list[int]:
        """The child of each node that has its head word, -1 for a node without words below.

        A node's head word is the one nearest to the sentence's root, by the heads; of several, the
        first.
        """
        heads = self._heads(self.tree) if callable(self._heads) else self._heads
        if len(heads) != len(self.words):
            raise ValueError(f"{len(heads)} heads for a tree of {len(self.words)} words")
        depth = depths_of(heads)
        none = len(heads) + 1
        depths = [none] * len(self)  # of head words
        for word, node in enumerate(self.words):
            depths[node] = depth[word]
        head_child = [-1] * len(self)
        for node in range(len(self) - 1, -1, -1):
            for child in self.children[node]:
                if depths[child] < depths[node]:
                    depths[node], head_child[node] = depths[child], child
        return head_child
