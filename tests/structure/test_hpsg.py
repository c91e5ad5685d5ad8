"""Head-driven trees: heads of constituents, groups of siblings, and what fits in no such tree."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_lal.structure.binarise import collapse_unaries
from spacy_lal.structure.hpsg import SUB_HEAD, lexicalise
from spacy_lal.trees.nest import crossing
from tests.structure.test_binarise import trees


def drawn(tree, n):
    """The nodes as brackets, each with its label and head: `S1(0 VP1(1 2))`."""
    ends, text = [], []
    nodes = list(tree.nodes)
    for word in range(n):
        while nodes and nodes[0].start == word:
            node = nodes.pop(0)
            text.append(f"{node.label}{node.head}(")
            ends.append(node.end)
        text.append(f"{word} ")
        while ends and ends[-1] == word + 1:
            ends.pop()
            text[-1] = text[-1].rstrip() + ") "
    return "".join(text).strip()


@st.composite
def sentences(draw):
    """(n, preorder constituents, heads): any heads at all, most of them no tree."""
    n, spans = draw(trees())
    return n, spans, draw(st.lists(st.integers(0, n), min_size=n, max_size=n))


def children_of(start, end, spans):
    """The highest spans in (start, end) and the words between them; spans: in preorder."""
    children = []
    for inner in spans:
        if start <= inner[0] and inner[1] <= end:
            children += [(word, word + 1) for word in range(start, inner[0])] + [inner[:2]]
            start = inner[1]
    return children + [(word, word + 1) for word in range(start, end)]


@st.composite
def agreeing_sentences(draw):
    """(n, preorder constituents, heads): in every constituent one word depends on none in it."""
    n, spans = draw(trees())
    nodes = [span[:2] for span in collapse_unaries(spans)]
    if (0, n) not in nodes:
        nodes.insert(0, (0, n))
    heads = [0] * n
    head_of = {}
    for at, node in reversed(list(enumerate(nodes))):
        words = [head_of.get(child, child[0]) for child in children_of(*node, nodes[at + 1 :])]
        # any projective tree of the children
        stack = [(0, len(words), None)]
        while stack:
            start, end, above = stack.pop()
            if start < end:
                root = draw(st.integers(start, end - 1))
                if above is None:
                    head_of[node] = words[root]
                else:
                    heads[words[root]] = words[above] + 1
                for left, right in ((start, root), (root + 1, end)):
                    cut = draw(st.integers(left, right))
                    stack += [(left, cut, root), (cut, right, root)]
    return n, spans, heads


def test_every_constituent_has_a_head():
    # the cat saw birds
    spans = [(0, 4, "S"), (0, 2, "NP"), (2, 4, "VP"), (3, 4, "NP")]
    tree = lexicalise(spans, [2, 3, 0, 3], 4)
    assert drawn(tree, 4) == "S2(NP1(0 1) VP2(2 NP3(3)))"
    assert tree.conflicts == 0
    assert tree.spans == spans


def test_chains_are_one_node():
    spans = [(0, 2, "S"), (0, 2, "VP"), (1, 2, "NP"), (1, 2, "QP")]
    tree = lexicalise(spans, [0, 1], 2)
    assert drawn(tree, 2) == "S::VP0(0 NP::QP1(1))"
    assert lexicalise(collapse_unaries(spans), [0, 1], 2) == tree


def test_siblings_that_depend_on_a_sibling_are_grouped():
    # two coffee - table books: `coffee` and `-` depend on `table`
    tree = lexicalise([(0, 5, "NP")], [5, 4, 4, 5, 0], 5)
    assert drawn(tree, 5) == "NP4(0 <H>3(1 2 3) 4)"
    assert tree.conflicts == 0
    # cats and dogs: `and` depends on `dogs`, on its other side
    assert drawn(lexicalise([(0, 3, "NP")], [0, 3, 1], 3), 3) == "NP0(0 <H>2(1 2))"


def test_groups_are_nested():
    # 0 -> 1 -> 2 -> 3: every one has the one before
    tree = lexicalise([(0, 4, "X")], [2, 3, 4, 0], 4)
    assert drawn(tree, 4) == "X3(<H>2(<H>1(0 1) 2) 3)"
    assert tree.conflicts == 0
    # the same from the other side, on both sides, and with phrases
    assert drawn(lexicalise([(0, 4, "X")], [0, 1, 2, 3], 4), 4) == "X0(0 <H>1(1 <H>2(2 3)))"
    tree = lexicalise([(0, 6, "X"), (1, 3, "Y")], [2, 5, 2, 5, 6, 0], 6)
    assert drawn(tree, 6) == "X5(<H>4(<H>1(0 Y1(1 2)) 3 4) 5)"


def test_a_dependent_between_its_head_and_that_ones_head():
    # 1 depends on 0, and 0 on 2: grouping 0 with 2 first would leave a gap
    tree = lexicalise([(0, 4, "X")], [3, 1, 4, 0], 4)
    assert drawn(tree, 4) == "X3(<H>2(<H>0(0 1) 2) 3)"


def test_several_words_with_a_head_outside():
    # both 1 and 2 depend on 0, which is no sibling: the last one is the head
    tree = lexicalise([(0, 3, "S"), (1, 3, "NP")], [0, 1, 1], 3)
    assert drawn(tree, 3) == "S0(0 NP2(1 2))"
    assert tree.conflicts == 1


def test_no_child_depends_on_a_word_outside():
    # 2 depends on 0, but the phrase of 0 is headed by 1, which depends on 2: so is the wider one
    tree = lexicalise([(0, 4, "S"), (0, 3, "NP"), (0, 2, "NML")], [4, 3, 1, 0], 4)
    assert drawn(tree, 4) == "S3(NP1(NML1(0 1) 2) 3)"
    assert tree.conflicts == 3


def test_no_constituent_over_the_sentence():
    # nothing at all: the words are grouped by their dependencies
    assert drawn(lexicalise([], [2, 3, 0], 3), 3) == "<H>1(0 1) 2"
    # several tops, and words between them
    tree = lexicalise([(0, 2, "NP"), (4, 6, "VP")], [2, 5, 4, 5, 0, 5], 6)
    assert drawn(tree, 6) == "NP1(0 1) <H>3(2 3) VP4(4 5)"
    assert tree.conflicts == 0


def test_several_roots():
    tree = lexicalise([(0, 4, "X")], [0, 1, 0, 3], 4)
    assert drawn(tree, 4) == "X2(<H>0(0 1) 2 3)"
    assert tree.conflicts == 1


def test_one_word_and_none():
    assert lexicalise([], [0], 1) == ([], 0)
    assert lexicalise([(0, 1, "NP")], [0], 1) == ([(0, 1, "NP", 0)], 0)
    assert lexicalise([], [], 0) == ([], 0)


def test_unlabelled_constituents_stay():
    assert lexicalise([(0, 2, "")], [0, 1], 2).spans == [(0, 2, "")]


def test_non_projective_siblings():
    # 0 and 4 depend on 2, but 1 and 3, between them, do not
    tree = lexicalise([(0, 6, "X")], [3, 6, 6, 6, 3, 0], 6)
    assert drawn(tree, 6) == "X5(0 1 2 3 4 5)"
    assert tree.conflicts == 2
    # what lies next to 2 is grouped all the same
    tree = lexicalise([(0, 6, "X")], [3, 3, 6, 6, 3, 0], 6)
    assert drawn(tree, 6) == "X5(<H>2(0 1 2) 3 4 5)"
    assert tree.conflicts == 1


def test_circles():
    # 0 and 1 depend on each other, 2 on 1
    tree = lexicalise([(0, 4, "X")], [2, 1, 2, 0], 4)
    assert drawn(tree, 4) == "X3(0 1 2 3)"
    assert tree.conflicts == 3
    # where all depend on each other the first is the head
    assert drawn(lexicalise([(0, 3, "X")], [2, 3, 1], 3), 3) == "X0(0 <H>2(1 2))"


def test_wide_and_deep_in_linear_time():
    n = 5000
    chain = [*range(2, n + 1), 0]
    started = time.perf_counter()
    flat = lexicalise([], chain, n)
    assert [node[:2] for node in flat.nodes] == [(0, end) for end in range(n - 1, 1, -1)]
    deep = lexicalise([(start, n, "X") for start in range(n)], [n] * (n - 1) + [0], n)
    assert len(deep.nodes) == n
    assert {node.head for node in deep.nodes} == {n - 1}
    assert flat.conflicts == deep.conflicts == 0
    assert time.perf_counter() - started < 5


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ([(0, 4, "X")], "outside 3 words"),
        ([(1, 1, "X")], "outside 3 words"),
        ([(0, 2, "X"), (1, 3, "Y")], r"\(1, 3, 'Y'\) cross"),
        ([(0, 1, "X"), (0, 3, "Y")], r"\(0, 3, 'Y'\) cross"),
        ([(1, 2, "X"), (0, 3, "Y")], r"\(0, 3, 'Y'\) cross"),
        ([(1, 2, "X"), (0, 1, "Y")], r"\(0, 1, 'Y'\) cross"),
    ],
)
def test_misplaced_constituents(spans, message):
    with pytest.raises(ValueError, match=message):
        lexicalise(spans, [0, 1, 1], 3)


@given(sentences())
def test_any_heads_give_a_tree_of_all_constituents(sentence):
    n, spans, heads = sentence
    tree = lexicalise(spans, heads, n)
    constituents = [node for node in tree.spans if node[2] != SUB_HEAD]
    assert constituents == collapse_unaries(spans)
    # nested, in preorder, one node a span
    assert crossing(tree.spans) is None
    assert len({node[:2] for node in tree.nodes}) == len(tree.nodes)
    assert all(node.start <= node.head < node.end for node in tree.nodes)
    assert all(node.end - node.start > 1 for node in tree.nodes if node.label == SUB_HEAD)


@given(agreeing_sentences())
def test_trees_that_agree_leave_no_conflict(sentence):
    n, spans, heads = sentence
    tree = lexicalise(spans, heads, n)
    assert tree.conflicts == 0
    for at, node in enumerate(tree.nodes):
        # one word of the node depends on none in it: the head, on which its other children depend
        outside = {
            word for word in range(node.start, node.end) if not node.start < heads[word] <= node.end
        }
        assert outside == {node.head}
        inner = {below[:2]: below.head for below in tree.nodes[at + 1 :]}
        children = children_of(node.start, node.end, tree.spans[at + 1 :])
        words = [inner.get(child, child[0]) for child in children]
        assert node.head in words
        assert all(node.head in (word, heads[word] - 1) for word in words)
