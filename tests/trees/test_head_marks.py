"""Marks of heads on trees; the trees are marked by hand."""

from __future__ import annotations

import pytest

from spacy_lal.formats.penn_brackets import clean_tree
from spacy_lal.trees.head_marks import mark_heads
from spacy_lal.trees.tree import ConstituentTree

read = ConstituentTree.from_string


@pytest.mark.parametrize(
    ("plain", "heads", "marked"),
    [
        (
            "(TOP (S (NP (DT The) (NN cat)) (VP (VBD sat) (ADVP (RB down))) (. .)))",
            [1, 2, 2, 2, 2],
            "(TOP (S=H (NP (DT The) (NN=H cat)) (VP=H (VBD=H sat) (ADVP (RB=H down))) (. .)))",
        ),
        # two words of the NP have heads outside it: the nearer one to the root counts
        (
            "(S (VP (VBZ sees)) (NP (JJ old) (NNS men) (CC and)))",
            [0, 0, 1, 2],
            "(S (VP=H (VBZ=H sees)) (NP (JJ=H old) (NNS men) (CC and)))",
        ),
        # two roots: the left one
        ("(X (A a) (B b))", [0, 1], "(X (A=H a) (B b))"),
        ("(PRN (-LRB- -LRB-) (NN x))", [0, 0], "(PRN (-LRB- -LRB-) (NN x))"),
        ("(NN tea)", [0], "(NN tea)"),
    ],
)
def test_marks(plain: str, heads: list[int], marked: str) -> None:
    tree = mark_heads(read(plain), heads)
    assert str(tree) == marked
    assert clean_tree(tree) == read(plain)


def test_deep_trees() -> None:
    depth = 5000
    tree = read("(X " * depth + "(A a) (B b)" + ")" * depth)
    assert str(mark_heads(tree, [1, 1])).endswith("(A a) (B=H b)" + ")" * depth)
    words = read("(X " + "(A a) " * depth + ")")
    right = [min(i + 1, depth - 1) for i in range(depth)]
    assert str(mark_heads(words, right)).endswith("(A a) (A=H a))")


def test_bad_heads() -> None:
    with pytest.raises(ValueError, match="a tree of 1 words needs as many heads, not 2"):
        mark_heads(read("(NN tea)"), [0, 0])
    with pytest.raises(ValueError, match="a cycle in the heads at word 1"):
        mark_heads(read("(X (A a) (B b) (C c))"), [0, 2, 1])
