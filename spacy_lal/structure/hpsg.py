"""Head-driven trees, which join constituents and dependencies: every constituent has a head word.

Zhou and Zhao (2019, section 2) call them simplified HPSG with "joint spans"; Mrini et al. (2020,
section 3.1, figure 5) parse into them. A node's head is its word whose governor lies outside. In a
consistent joint tree all other children of a node depend on that head. Children that depend on a
sibling, together with that sibling, become the children of a new node labelled `<H>`:

    (NP (CD two) (NN coffee) (HYPH -) (NN table) (NNS books))      - depends on table, coffee too
    (NP (CD two) (<H> (NN coffee) (HYPH -) (NN table)) (NNS books))
"""

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..trees.nest import nest
from ..trees.tree import LabelledSpan
from .binarise import collapse_unaries

SUB_HEAD = "<H>"
"""Label of a group: children of one node that depend on one of them, and that child."""


class HeadedSpan(NamedTuple):
    """A node of a head-driven tree. label: joined labels of a unary chain. head: a word's index."""

    start: int
    end: int
    label: str
    head: int


class HeadedTree(NamedTuple):
    """A head-driven tree. nodes: constituents and `<H>` groups in preorder, each over other words.

    conflicts: number of children, after grouping, whose head neither is the head of their node nor
    depends on it. For them constituents and dependencies disagree.
    """

    nodes: list[HeadedSpan]
    conflicts: int

    @property
    def spans(self) -> list[LabelledSpan]:
        """Returns the nodes without their heads."""
        return [node[:3] for node in self.nodes]


def lexicalise(spans: Iterable[LabelledSpan], heads: Sequence[int], n: int) -> HeadedTree:
    """Returns the head-driven tree of n words with these constituents and dependencies.

    spans: constituents in preorder; a unary chain is several spans or one. heads: the head of each
    word, 0 the root, k word k. A node's head is that of its last child that depends on a word
    outside or is a root, else that of its first child. Groups nest along chains of dependents.
    Topmost constituents are grouped like a node's children. Conflicts are children apart from the
    group of the sibling that they depend on, as in non-projective sentences, and children that
    depend on each other in a cycle. Raises ValueError for constituents that are misplaced or cross.
    """
    # spans count words from 0: the root is at -1, outside of all of them
    fathers = [head - 1 for head in heads]
    constituents = collapse_unaries(spans)
    child = {~i: (i, i + 1, i) for i in range(n)}
    nodes: list[HeadedSpan] = []
    conflicts = 0
    # from the leaves up; the sentence comes last and is no node unless it is a constituent, too
    below = nest(constituents, n)
    for k in [*range(len(constituents) - 1, -1, -1), -1]:
        if not below[k]:  # no words
            continue
        children = [child[c] for c in below[k]]
        head = _head(children, fathers)
        if _strangers(children, fathers, head):
            groups, ungrouped = _group(children, fathers, head)
            nodes.extend(groups)
            conflicts += ungrouped
        if k >= 0:
            start, end, label = constituents[k]
            nodes.append(HeadedSpan(start, end, label, head))
            child[k] = (start, end, head)
    nodes.sort(key=lambda node: (node[0], -node[1]))
    return HeadedTree(nodes, conflicts)


_Child = tuple[int, int, int]
"""(start, end, head)"""


def _head(children: Sequence[_Child], fathers: Sequence[int]) -> int:
    start, end, head = children[0][0], children[-1][1], children[0][2]
    for _, _, word in children:
        if not start <= fathers[word] < end:
            head = word
    return head


def _strangers(children: Sequence[_Child], fathers: Sequence[int], head: int) -> int:
    return sum([word != head != fathers[word] for _, _, word in children])


def _group(
    children: Sequence[_Child], fathers: Sequence[int], head: int
) -> tuple[list[HeadedSpan], int]:
    """Returns the groups among the children of a node, and the number of conflicts left."""
    at = {word: child for child, (_, _, word) in enumerate(children)}
    # the child to group each one with: not the node's head
    target = [
        None if word == head or fathers[word] == head else at.get(fathers[word])
        for _, _, word in children
    ]
    waiting = Counter(child for child in target if child is not None)
    # a child comes after those that depend on it; in a cycle none ever does
    ordered = [child for child in range(len(children)) if not waiting[child]]
    # for each child, the span, head, first and last child of the group that it leads; `leader`
    # names the group's leader at these two children
    led = list(children)
    first, last, leader = (list(range(len(children))) for _ in range(3))
    groups: list[HeadedSpan] = []
    conflicts = _strangers(children, fathers, head)
    for child in ordered:
        i = j = child
        members = deque([children[child]])
        while i > 0 and target[leader[i - 1]] == child:
            members.appendleft(led[leader[i - 1]])
            i = first[leader[i - 1]]
        while j + 1 < len(children) and target[leader[j + 1]] == child:
            members.append(led[leader[j + 1]])
            j = last[leader[j + 1]]
        if len(members) > 1:
            start, end, word = members[0][0], members[-1][1], _head(members, fathers)
            led[child] = start, end, word
            groups.append(HeadedSpan(start, end, SUB_HEAD, word))
            conflicts += _strangers(members, fathers, word) - len(members) + 1
            first[child], last[child] = i, j
            leader[i] = leader[j] = child
        above = target[child]
        if above is not None:
            waiting[above] -= 1
            if not waiting[above]:
                ordered.append(above)
    return groups, conflicts
