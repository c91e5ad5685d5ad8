"""Binary trees of any tree: every node there, and the way back."""

from itertools import pairwise

import torch
from hypothesis import given
from hypothesis import strategies as st

from spacy_lal.structure.binarise import collapse_unaries, left_binarisation
from spacy_lal.structure.chart import chart_size, packed_spans, span_position

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


def nodes_of(spans, n):
    """The nodes of the left binarisation, in preorder."""
    gold = torch.zeros(1, chart_size(n), dtype=torch.long)
    for start, end, _ in spans:
        gold[0, span_position(n, torch.tensor(start), torch.tensor(end))] = 1
    there = left_binarisation(gold, torch.tensor([n]))[0]
    starts, ends = (t[there].tolist() for t in packed_spans(n))
    return sorted(zip(starts, ends, strict=True), key=lambda span: (span[0], -span[1]))


def is_binary(spans, n):
    """2n-1 different spans, each wider one the sum of two others."""
    there = set(spans)
    assert len(spans) == len(there) == 2 * n - 1
    assert spans[0] == (0, n)
    return all(
        j - i == 1 or sum((i, k) in there and (k, j) in there for k in range(i + 1, j)) == 1
        for i, j in spans
    )


def test_chains_become_one_label():
    assert collapse_unaries(SPANS) == [*SPANS[:3], (3, 4, "S::NP")]


def test_left():
    assert nodes_of(SPANS, 6) == [
        (0, 6), (0, 5), (0, 4), (0, 2), (0, 1), (1, 2), (2, 4), (2, 3), (3, 4), (4, 5), (5, 6),
    ]  # fmt: skip
    assert nodes_of([], 2) == [(0, 2), (0, 1), (1, 2)]
    assert nodes_of([], 1) == [(0, 1)]


@given(trees())
def test_any_tree_becomes_a_binary_one(tree):
    n, spans = tree
    nodes = nodes_of(spans, n)
    assert is_binary(nodes, n)
    constituents = {(start, end) for start, end, _ in spans}
    assert constituents <= set(nodes)
    # what is new is the root, a word or a left child
    for start, end in set(nodes) - constituents - {(0, n)}:
        assert end - start == 1 or any(i == start and j > end for i, j in nodes)


def test_deep_and_wide():
    n = 400
    deep = [(i, n, "S") for i in range(n)]
    for spans in (deep, [(0, n, "S")], [(0, i, "S") for i in range(n, 0, -1)]):
        assert len(nodes_of(spans, n)) == 2 * n - 1
    assert collapse_unaries([(0, 1, "S")] * 3) == [(0, 1, "S::S::S")]
