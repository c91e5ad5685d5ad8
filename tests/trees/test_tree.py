"""Trees against hand-worked bracketings, spans and drawings, and by property."""

import contextlib
import copy
import pickle
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_lal.scoring import evalb
from spacy_lal.trees.brackets import FormatError, escape, ptb_unescape, unescape_brackets
from spacy_lal.trees.nest import crossing
from spacy_lal.trees.tree import ConstituentTree, parse_brackets

CAT = "(TOP (S (NP (DT The) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (NNS mats)))) (. .)))"


def leaf(tag, word):
    return ConstituentTree(tag, word=word)


def read(text, **options):
    return ConstituentTree.from_string(text, **options)


# Values


def test_parts():
    tree = read(CAT)
    assert tree.label == "TOP"
    assert tree.leaves == ["The", "cat", "sat", "on", "mats", "."]
    assert tree.tagged[2] == ("sat", "VBD")
    assert [node.label for node in tree.preorder()][:5] == ["TOP", "S", "NP", "DT", "NN"]
    assert tree.word is None
    assert tree.children[0].children[2].word == "."


def test_spans_are_preorder_without_preterminals():
    tree = read(CAT)
    inner = [(0, 6, "S"), (0, 2, "NP"), (2, 5, "VP"), (3, 5, "PP"), (4, 5, "NP")]
    assert tree.spans() == [(0, 6, "TOP"), *inner]
    assert tree.spans(include_root=False) == inner


def test_spans_of_small_trees():
    assert leaf("UH", "Oh").spans() == []
    assert read("(TOP (UH Oh))").spans(include_root=False) == []
    assert read("(TOP (NP (NP (NN tea))))").spans(False) == [(0, 1, "NP"), (0, 1, "NP")]
    assert ConstituentTree("TOP", [ConstituentTree("X"), leaf("A", "a")]).spans() == [(0, 1, "TOP")]


def test_trees_do_not_change():
    tree = read(CAT)
    with pytest.raises(AttributeError):
        tree.label = "S"
    with pytest.raises(AttributeError):
        del tree.children
    with pytest.raises((AttributeError, TypeError)):  # TypeError: Python 3.11's frozen slots
        tree.other = 1
    assert copy.copy(tree) == tree


def test_equality_and_hash_are_by_content():
    assert read(CAT) == read(CAT)
    assert hash(read(CAT)) == hash(read(CAT))
    assert len({read(CAT), read(CAT), read("(TOP (S (NN cat)))")}) == 2
    # the same symbols in preorder, but nested differently
    assert read("(A (B (C c)) (D d))") != read("(A (B (C c) (D d)))")
    assert ConstituentTree("A") != leaf("A", "")
    assert read("(A (B b))") != "(A (B b))"


def test_log_prob_is_no_part_of_a_value():
    parts = ["cat"], ["NN"], [(0, 1, "NP")]
    tree = ConstituentTree.from_spans(*parts, log_prob=-0.5)
    other = ConstituentTree.from_spans(*parts)
    assert (tree.log_prob, other.log_prob) == (-0.5, None)
    assert tree == other
    assert hash(tree) == hash(other)
    assert str(tree) == str(other) == "(TOP (NP (NN cat)))"
    assert repr(tree) == repr(other)
    # of the whole tree, not of what is in it
    assert tree.children[0].log_prob is None
    with pytest.raises(AttributeError):
        tree.log_prob = 0.0


def test_log_prob_goes_along():
    tree = ConstituentTree("S", [leaf("NN", "a")], log_prob=-0.5)
    assert tree.rooted().log_prob == -0.5
    assert ConstituentTree("ROOT", tree.children, log_prob=-0.5).rooted().log_prob == -0.5
    for carried in (pickle.loads(pickle.dumps(tree)), copy.copy(tree), copy.deepcopy(tree)):
        assert carried == tree
        assert carried.log_prob == -0.5
    assert pickle.loads(pickle.dumps(ConstituentTree("TOP", log_prob=0.0))).log_prob == 0.0
    assert pickle.loads(pickle.dumps(leaf("NN", "a"))).log_prob is None
    word = ConstituentTree("NN", word="a", log_prob=-1.0)
    assert pickle.loads(pickle.dumps(word)).log_prob == -1.0


def test_a_word_has_no_children():
    with pytest.raises(ValueError, match="both"):
        ConstituentTree("NN", [leaf("NN", "cat")], word="cat")


def test_repr_evaluates_to_the_tree():
    tree = read(CAT)
    assert eval(repr(tree)) == tree


def test_pickle_keeps_what_brackets_cannot():
    tree = ConstituentTree("TOP", [leaf("", "New York"), leaf("N(x)", "-LRB-")])
    assert pickle.loads(pickle.dumps(tree)) == tree
    error = FormatError("odd", source="some.mrg", line=3, column=4)
    assert str(pickle.loads(pickle.dumps(error))) == "some.mrg:3:4: odd"


# Spans


def test_from_spans():
    tree = read(CAT)
    tags = [tag for _, tag in tree.tagged]
    assert ConstituentTree.from_spans(tree.leaves, tags, tree.spans(False)) == tree
    assert ConstituentTree.from_spans(tree.leaves, tags, tree.spans(), root=None) == tree


def test_from_spans_keeps_unary_chains_in_order():
    tree = ConstituentTree.from_spans(["Go"], ["VB"], [(0, 1, "S"), (0, 1, "VP"), (0, 1, "VP")])
    assert str(tree) == "(TOP (S (VP (VP (VB Go)))))"


def test_from_spans_without_spans_or_words():
    assert str(ConstituentTree.from_spans(["a", "b"], ["A", "B"], [])) == "(TOP (A a) (B b))"
    assert ConstituentTree.from_spans([], [], []) == ConstituentTree("TOP")


def test_from_spans_with_several_children_of_the_root():
    tree = ConstituentTree.from_spans("abcd", "ABCD", [(0, 1, "X"), (2, 4, "Y")])
    assert str(tree) == "(TOP (X (A a)) (B b) (Y (C c) (D d)))"


@pytest.mark.parametrize(
    ("first", "second"),
    [((0, 2, "X"), (1, 3, "Y")), ((2, 3, "X"), (0, 1, "Y")), ((0, 1, "X"), (0, 2, "Y"))],
)
def test_from_spans_names_the_pair_that_crosses(first, second):
    with pytest.raises(ValueError, match="cross") as caught:
        ConstituentTree.from_spans("abc", "ABC", [(0, 3, "S"), first, second])
    assert str(first) in str(caught.value)
    assert str(second) in str(caught.value)


@pytest.mark.parametrize("span", [(1, 1, "X"), (2, 1, "X"), (0, 4, "X"), (-1, 2, "X")])
def test_from_spans_rejects_spans_that_are_empty_or_outside(span):
    with pytest.raises(ValueError, match="empty or outside"):
        ConstituentTree.from_spans("abc", "ABC", [span])


def test_from_spans_needs_a_root():
    with pytest.raises(ValueError, match="root is None"):
        ConstituentTree.from_spans("abc", "ABC", [(0, 2, "X")], root=None)
    with pytest.raises(ValueError, match="3 words need as many tags, not 2"):
        ConstituentTree.from_spans("abc", "AB", [])


@pytest.mark.parametrize(
    ("spans", "found"),
    [
        ([], None),
        ([(0, 4, "S"), (0, 4, "S"), (0, 1, "NP"), (1, 4, "VP"), (2, 4, "NP")], None),
        ([(0, 2, "A"), (1, 3, "B")], ((0, 2, "A"), (1, 3, "B"))),
        ([(0, 4, "S"), (0, 2, "A"), (2, 3, "B"), (2, 5, "C")], ((2, 3, "B"), (2, 5, "C"))),
    ],
)
def test_crossing_spans_are_named(spans, found):
    assert crossing(spans) == found


# Reading


def test_many_lines_and_several_trees_on_a_line():
    text = "(TOP\n  (NN a)\n) (TOP (NN b))(TOP\t(NN c))\r\n"
    assert [tree.leaves for tree in parse_brackets(text)] == [["a"], ["b"], ["c"]]


def test_empty_labels_stay_and_can_be_renamed():
    (tree,) = parse_brackets("( (S (NN a)) (S (NN b)) )")
    assert tree.label == ""
    assert [child.label for child in tree.children] == ["S", "S"]
    assert str(tree.rooted()) == "(TOP (S (NN a)) (S (NN b)))"
    assert read("((S (NN a)))") == read("( (S (NN a)))")
    assert read("( a)") == leaf("", "a")
    assert read("( NP (NN a))").label == "NP"
    assert read("()") == ConstituentTree("")


def test_rooted():
    assert str(read("(S (NN a))").rooted()) == "(TOP (S (NN a)))"
    assert str(read("(ROOT (S (NN a)))").rooted()) == "(TOP (S (NN a)))"
    assert str(leaf("", "a").rooted()) == "(TOP ( a))"
    assert str(leaf("TOP", "a").rooted()) == "(TOP (TOP a))"
    tree = read("(TOP (S (NN a)))")
    assert tree.rooted() is tree


def test_brackets_are_unescaped_on_request():
    text = "(TOP (-LRB- -LRB-) (NN a-RRB-) (SYM -LSB-) (NN x-LSB-))"
    assert read(text).leaves == ["(", "a)", "[", "x-LSB-"]
    assert read(text).children[0].label == "-LRB-"
    assert read(text, unescape=str).leaves == ["-LRB-", "a-RRB-", "-LSB-", "x-LSB-"]
    assert str(read(text)) == text


def test_backslashes_are_characters():
    tree = read(r"(TOP (X (NFP \\) (NFP //)))")
    assert tree.leaves == [r"\\", "//"]


def test_words_may_have_no_break_spaces():
    assert read("(TOP (CD 10\u00a0000))").leaves == ["10\u00a0000"]


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("(TOP\n  (S (NN a))\n", 1, 1, "never closed"),
        ("(TOP (NN a)))", 1, 13, "without an opening"),
        ("(TOP (NN a))\ncat", 2, 1, "outside any bracket"),
        ("(TOP\n (NN a) cat)", 2, 9, "without a tag"),
        ("(NP the cat)", 1, 9, "second word"),
        ("(NP the (NN cat))", 1, 9, "after a word"),
    ],
)
def test_malformed_brackets_are_located(text, line, column, message):
    with pytest.raises(FormatError, match=message) as caught:
        list(parse_brackets(text, source="some.mrg"))
    error = caught.value
    assert (error.source, error.line, error.column) == ("some.mrg", line, column)
    assert str(error).startswith(f"some.mrg:{line}:{column}: ")


@pytest.mark.parametrize("text", ["", "(A (B b)) (A (B b))"])
def test_from_string_wants_one_tree(text):
    with pytest.raises(FormatError, match="expected one tree"):
        read(text)


# Escapes


@pytest.mark.parametrize(
    ("word", "escaped"),
    [
        ("(", "-LRB-"),
        ("}", "-RCB-"),
        (":-)", ":--RRB-"),
        ("(a)", "-LRB-a-RRB-"),
        ("[sic]", "[sic]"),
        ("and/or", "and/or"),
    ],
)
def test_escapes_of_brackets(word, escaped):
    assert escape(word) == escaped
    assert unescape_brackets(escaped) == word


@pytest.mark.parametrize(
    ("word", "escaped"),
    [("and/or", r"and\/or"), ("***", r"\*\*\*"), ('"', "``"), ("(", "-LRB-"), ("cat", "cat")],
)
def test_escapes_of_the_penn_treebank(word, escaped):
    assert ptb_unescape(escaped) == word


def test_whitespace_cannot_break_brackets():
    tree = ConstituentTree("TOP", [leaf("N N", "New\tYork\u00a0City"), leaf("X", "")])
    assert str(tree) == "(TOP (N_N New_York_City) (X _))"


def test_brackets_in_labels_cannot_break_brackets():
    assert str(ConstituentTree("TOP", [leaf("$(", "-")])) == "(TOP ($-LRB- -))"


# Formats


def test_formats():
    tree = read('(TOP (S (`` ") (NP (NN tea)) (VP (VBZ is/was) (JJ nice)) (: ") (`` ")))')
    assert f"{tree}" == str(tree)
    assert f"{tree:indent}".splitlines() == [
        "(TOP",
        "  (S",
        '    (`` ")',
        "    (NP (NN tea))",
        "    (VP (VBZ is/was) (JJ nice))",
        '    (: ")',
        '    (`` ")))',
    ]
    assert read(f"{tree:indent}") == tree
    assert tree.pretty(5) == f"{tree:indent}"
    with pytest.raises(ValueError, match="unknown format 'svg'"):
        f"{tree:svg}"


def test_drawing():
    assert read(CAT).pretty(26).splitlines() == [
        "             TOP",
        "              │",
        "              S",
        "   ┌──────────┼──────────┐",
        "   │          VP         │",
        "   │       ┌──┴──┐       │",
        "   │       │     PP      │",
        "   │       │   ┌─┴──┐    │",
        "   NP      │   │    NP   │",
        " ┌─┴──┐    │   │    │    │",
        " DT   NN  VBD  IN  NNS   .",
        " │    │    │   │    │    │",
        "The  cat  sat  on  mats  .",
    ]


def test_drawing_that_is_too_wide_becomes_brackets():
    tree = read(CAT)
    widest = max(map(len, tree.pretty(80).splitlines()))
    assert tree.pretty(widest).startswith(" ")
    assert tree.pretty(widest - 1) == f"{tree:indent}"


def test_drawing_of_labels_wider_than_their_words():
    assert read("(X (LONGLABEL (N a)) (N b))").pretty(80).splitlines() == [
        "       X",
        "    ┌──┴───┐",
        "LONGLABEL  │",
        "    │      │",
        "    N      N",
        "    │      │",
        "    a      b",
    ]


def test_drawing_counts_columns_not_characters():
    assert read("(X (N 上海) (N e\u0301a) (N d))").pretty(80).splitlines() == [
        "     X",
        " ┌───┴┬───┐",
        " N    N   N",
        " │    │   │",
        "上海  e\u0301a  d",
    ]


def test_drawing_of_next_to_nothing():
    assert ConstituentTree("TOP").pretty(80) == "TOP"
    assert leaf("A", "a").pretty(80) == "A\n│\na"


def test_to_nltk():
    nltk = pytest.importorskip("nltk")
    tree = read("(TOP (S (NP (NN tea)) (VP (VBZ is) (ADJP (JJ nice)))))")
    assert tree.to_nltk() == nltk.Tree.fromstring(str(tree))
    assert leaf("NN", "tea").to_nltk() == nltk.Tree("NN", ["tea"])


def test_from_nltk():
    """Words with and without tags, escapes as in NLTK's corpora, phrases over nothing."""
    nltk = pytest.importorskip("nltk")
    text = "(S (NP (DT the) tea) (-LRB- -LRB-) (VP (VBZ is) (ADJP)))"
    tree = ConstituentTree.from_nltk(nltk.Tree.fromstring(text))
    assert tree.tagged == [("the", "DT"), ("tea", ""), ("(", "-LRB-"), ("is", "VBZ")]
    assert tree.spans() == [(0, 4, "S"), (0, 2, "NP"), (3, 4, "VP")]
    assert tree.children[2].children[1] == ConstituentTree("ADJP")
    raw = ConstituentTree.from_nltk(nltk.Tree("NN", ["-LRB-"]), unescape=str)
    assert raw == leaf("NN", "-LRB-")


WORDS = st.text(st.sampled_from("()[]{}\\/*ab'`-<&;%$\u200b\u00e9"), min_size=1, max_size=6)


@given(st.lists(WORDS, min_size=1, max_size=5))
@settings(max_examples=200, deadline=None)
def test_any_words_come_back(words):
    """NLTK, which knows no escapes of its own, prints and reads the same leaves as `str()` has."""
    nltk = pytest.importorskip("nltk")
    tree = ConstituentTree.from_spans(words, ["X"] * len(words), [(0, len(words), "NP")])
    assert read(str(tree)) == tree
    assert read(f"{tree:indent}") == tree
    escaped = list(map(escape, words))
    assert list(map(unescape_brackets, escaped)) == words
    assert nltk.Tree.fromstring(str(tree)).leaves() == escaped
    converted = tree.to_nltk()
    assert nltk.Tree.fromstring(str(converted)) == converted
    assert converted.leaves() == escaped
    assert read(str(converted)) == tree
    assert ConstituentTree.from_nltk(converted) == tree
    assert read(converted.pformat(margin=5)) == tree
    line = evalb.Bracketing.from_string(str(tree), evalb.EvalbParameters.load("new"))
    assert (line.words, line.tags, line.balanced) == (escaped, ["X"] * len(words), True)


@pytest.mark.parametrize(
    ("word", "escaped"),
    [
        ("C:\\", "C:-BACKSLASH-"),
        ("\\", "-BACKSLASH-"),
        ("a\\\\", "a\\-BACKSLASH-"),
        ("(\\", "-LRB--BACKSLASH-"),
        ("\\)", "\\-RRB-"),
        ("\\a", "\\a"),
        ("(", "-LRB-"),
        ("[", "-LSB-"),
        (":)", ":-RRB-"),
    ],
)
def test_what_nltk_gets(word, escaped):
    assert leaf("NN", word).to_nltk() == leaf("NN", escaped).to_nltk()
    assert leaf("NN", word).to_nltk()[0] == escaped
    assert read(f"(NN {escaped})") == leaf("NN", word)
    assert ptb_unescape(escaped) == word


def test_nltk_keeps_words_without_a_tag():
    nltk = pytest.importorskip("nltk")
    printed = str(ConstituentTree("NP", [leaf("", "tea"), leaf("a(b", "c")]).to_nltk())
    assert nltk.Tree.fromstring(printed).leaves() == ["tea", "c"]
    assert ConstituentTree("NP").to_nltk() == nltk.Tree("NP", [])


def test_to_nltk_without_nltk(monkeypatch):
    monkeypatch.setitem(sys.modules, "nltk.tree", None)
    with pytest.raises(ImportError, match="pip install nltk"):
        read(CAT).to_nltk()


# Depth


@pytest.mark.parametrize("step", ["(X ", "(X (A a) "], ids=["unary", "branching"])
def test_nothing_recurses(step):
    depth = 5000
    assert depth > sys.getrecursionlimit()
    text = step.strip() + f" {step}".rstrip() * (depth - 1) + " (B b)" + ")" * depth
    tree, again = read(text), read(text)
    assert tree == again
    assert tree is not again
    assert hash(tree) == hash(again)
    assert str(tree) == text
    assert text in repr(tree)
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert copy.deepcopy(tree) == tree
    assert len(tree.spans()) == depth
    tags = [tag for _, tag in tree.tagged]
    assert ConstituentTree.from_spans(tree.leaves, tags, tree.spans(), root=None) == tree
    assert read(f"{tree:indent}") == tree
    assert tree.pretty(80)
    assert tree.rooted().children == (tree,)
    pytest.importorskip("nltk")
    assert tree.to_nltk().label() == "X"
    assert ConstituentTree.from_nltk(tree.to_nltk()) == tree
    with pytest.raises(FormatError, match="never closed"):
        read(text[:-1])


# Properties

# Whatever isn't whitespace; words that hold a literal -LRB- can't be told from escaped ones.
WORDS = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=6).filter(
    lambda word: "RB" not in word and "SB" not in word and "CB" not in word
)
LABELS = st.text("ABPSX-|+#$.,`'", min_size=1, max_size=4)
LEAVES = st.builds(leaf, LABELS, WORDS)
TREES = st.recursive(
    LEAVES,
    lambda below: st.builds(
        ConstituentTree, LABELS | st.just(""), st.lists(below, min_size=1, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=80, deadline=None)
@given(TREES)
def test_writing_and_reading_give_the_same_tree(tree):
    assert read(str(tree)) == tree
    assert read(f"{tree:indent}") == tree
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert hash(read(str(tree))) == hash(tree)


@settings(max_examples=80, deadline=None)
@given(TREES)
def test_spans_hold_the_whole_tree(tree):
    tree = ConstituentTree("TOP", [tree])
    tags = [tag for _, tag in tree.tagged]
    assert ConstituentTree.from_spans(tree.leaves, tags, tree.spans(False)) == tree


@settings(max_examples=40, deadline=None)
@given(TREES)
def test_drawings_have_the_words_in_order_at_their_foot(tree):
    *_, foot = tree.pretty(10_000).splitlines()
    assert foot.split() == tree.leaves


@settings(max_examples=80, deadline=None)
@given(st.text())
def test_any_text_is_read_or_refused(text):
    with contextlib.suppress(FormatError):
        assert all(isinstance(tree, ConstituentTree) for tree in parse_brackets(text))


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=10))
def test_any_word_can_be_written(word):
    tree = ConstituentTree("TOP", [leaf(word, word), leaf("B", "b")])
    assert len(read(str(tree)).leaves) == 2
    assert tree.pretty(80)
