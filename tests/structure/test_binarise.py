"""Binary trees of any tree: every node there, and the way back."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_lal.structure.binarise import binarise, collapse_unaries, debinarise, expand_unaries

# (S (NP a b) (VP c (NP d)) e f), with a chain on d
SPANS = [(0, 6, "S"), (0, 2, "NP"), (2, 4, "VP"), (3, 4, "S"), (3, 4, "NP")]


@st.composite
def trees(draw, most_words=9):
    """(n, preorder constituents): any nesting, chains, bare words, nothing above the sentence."""
    n = draw(st.integers(1, most_words))
    spans = []
    stack = [(0, n)]
    while stack:
        start, end = stack.pop()
        labels = draw(st.lists(st.sampled_from(["A", "B", "C"]), max_size=3))
        spans += [(start, end, label) for label in labels]
        if end - start > 1:
            cuts = draw(st.sets(st.integers(start + 1, end - 1), min_size=1))
            borders = [start, *sorted(cuts), end]
            stack += reversed(list(pairwise(borders)))
    return n, spans


def is_binary(nodes, n):
    """Preorder of 2n-1 different spans, each wider one the sum of two others."""
    spans = [node[:2] for node in nodes]
    assert len(spans) == len(set(spans)) == 2 * n - 1
    assert spans[0] == (0, n)
    assert spans == sorted(spans, key=lambda span: (span[0], -span[1]))
    there = set(spans)
    return all(
        j - i == 1 or sum((i, k) in there and (k, j) in there for k in range(i + 1, j)) == 1
        for i, j in spans
    )


def test_chains_become_one_label():
    collapsed = collapse_unaries(SPANS)
    assert collapsed == [*SPANS[:3], (3, 4, "S::NP")]
    assert expand_unaries(collapsed) == SPANS


def test_left():
    assert binarise(collapse_unaries(SPANS), 6, "left", "*") == [
        (0, 6, "S"), (0, 5, "S*"), (0, 4, "S*"), (0, 2, "NP"), (0, 1, "NP*"), (1, 2, "NP*"),
        (2, 4, "VP"), (2, 3, "VP*"), (3, 4, "S::NP"), (4, 5, "S*"), (5, 6, "S*"),
    ]  # fmt: skip


def test_right():
    assert binarise(collapse_unaries(SPANS), 6, "right", "|<>") == [
        (0, 6, "S"), (0, 2, "NP"), (0, 1, "NP|<>"), (1, 2, "NP|<>"), (2, 6, "S|<>"),
        (2, 4, "VP"), (2, 3, "VP|<>"), (3, 4, "S::NP"), (4, 6, "S|<>"), (4, 5, "S|<>"),
        (5, 6, "S|<>"),
    ]  # fmt: skip


def test_without_a_root_or_words():
    assert binarise([], 2) == [(0, 2, ""), (0, 1, ""), (1, 2, "")]
    assert binarise([(1, 2, "NP")], 2, mark="*", top="ROOT") == [
        (0, 2, "ROOT*"), (0, 1, "ROOT*"), (1, 2, "NP"),
    ]  # fmt: skip
    assert binarise([(0, 1, "A"), (1, 2, "B")], 2, mark="*", top="")[0] == (0, 2, "*")
    assert binarise([], 1) == [(0, 1, "")]
    assert binarise([], 0) == []


@given(trees(), st.sampled_from(["left", "right"]), st.sampled_from(["", "*", "|<>"]))
def test_inverse(tree, direction, mark):
    n, spans = tree
    collapsed = collapse_unaries(spans)
    nodes = binarise(collapsed, n, direction, mark)
    assert is_binary(nodes, n)
    assert debinarise(nodes, mark) == collapsed
    assert expand_unaries(collapsed) == spans


def test_deep_and_wide():
    n = 5000
    deep = [(i, n, "S") for i in range(n)]
    for spans in (deep, [(0, n, "S")], [(0, i, "S") for i in range(n, 0, -1)]):
        nodes = binarise(spans, n, "left")
        assert len(nodes) == 2 * n - 1
        assert debinarise(nodes) == spans
    chain = [(0, 1, "S")] * n
    assert expand_unaries(collapse_unaries(chain)) == chain


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ([(0, 2, "A"), (1, 3, "B")], "cross"),
        ([(0, 3, "A"), (0, 3, "B")], "one label a span"),
        ([(1, 3, "A"), (0, 1, "B")], "preorder"),
        ([(0, 1, "A"), (0, 3, "B")], "preorder"),
        ([(0, 2, "A"), (0, 1, "B"), (0, 1, "C")], "one label a span"),
        ([(0, 4, "A")], "outside 3 words"),
        ([(1, 1, "A")], "outside 3 words"),
        ([(0, 3, "A*")], "label of a new node"),
        ([(0, 3, "")], "label of a new node"),
    ],
)
def test_what_is_no_tree_is_refused(spans, message):
    with pytest.raises(ValueError, match=message):
        binarise(spans, 3, mark="*")


def test_unknown_direction():
    with pytest.raises(ValueError, match="'left' or 'right'"):
        binarise([], 3, "up")
