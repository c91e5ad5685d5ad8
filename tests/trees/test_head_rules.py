"""Heads by rules: the tables' choices on invented sentences."""

import pytest

from spacy_lal.structure.arborescence import is_projective
from spacy_lal.trees.head_rules import heads_by_rules
from spacy_lal.trees.tree import ConstituentTree

SENTENCE = """
(TOP (S
  (NP-SBJ (NP (DT The) (NN cat)) (PP (IN in) (NP (DT the) (NN hat))))
  (VP (MD will) (VP (VB eat) (NP (NNS fish) (CC and) (NNS chips)) (PP-TMP (IN at) (NP (NN noon)))))
  (. .)))
"""


def arcs(text, rules):
    """{dependent: head} by words."""
    tree = ConstituentTree.from_string(text)
    words, heads = tree.leaves, heads_by_rules(tree, rules)
    return {words[i]: words[head] for i, head in enumerate(heads)}


def root(text, rules):
    return next(word for word, head in arcs(text, rules).items() if word == head)


def test_collins():
    assert arcs(SENTENCE.replace("(DT the)", "(DT a)"), "collins") == {
        "The": "cat", "cat": "will", "in": "cat", "a": "hat", "hat": "in",
        "will": "will", "eat": "will", "fish": "eat", "and": "fish", "chips": "fish",
        "at": "eat", "noon": "at", ".": "will",
    }  # fmt: skip


def test_semantic():
    assert arcs(SENTENCE.replace("(DT the)", "(DT a)"), "semantic") == {
        "The": "cat", "cat": "eat", "in": "hat", "a": "hat", "hat": "cat",
        "will": "eat", "eat": "eat", "fish": "eat", "and": "chips", "chips": "fish",
        "at": "noon", "noon": "eat", ".": "eat",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("phrase", "collins", "semantic"),
    [
        ("(NP (NNP Ann) (POS 's))", "'s", "Ann"),
        ("(NP (NP (DT a) (NN cup)) (PP (IN of) (NP (NN tea))))", "cup", "cup"),
        ("(NP (NN coffee) (HYPH -) (NN table) (NNS books))", "books", "books"),
        ("(NP (DT the) (JJ rich))", "rich", "rich"),
        ("(ADJP (RB very) (JJ good))", "good", "good"),
        ("(VP (VBZ is) (ADJP (JJ good)))", "is", "good"),
        ("(VP (VBZ is) (VP (VBG being) (ADJP (JJ good))))", "is", "good"),
        ("(VP (VBZ has) (NP (NN tea)))", "has", "has"),
        ("(VP (VBP ’re) (PP (IN at) (NP (NN home))))", "’re", "home"),
        ("(SQ (VBZ Is) (NP (PRP it)) (NP (NN tea)) (. ?))", "Is", "tea"),
        ("(SBAR (IN that) (S (NP (PRP it)) (VP (VBZ works))))", "that", "works"),
        ("(VP (TO to) (VP (VB go)))", "to", "go"),
        ("(QP ($ $) (CD 5) (CD million))", "$", "$"),
        ("(NP (NNS cats) (, ,) (NNS dogs) (CC and) (NNS mice))", "dogs", "cats"),
        ("(S (CC But) (NP (PRP it)) (VP (VBZ works)))", "works", "works"),
        ("(PP (IN with) (CC and) (IN without))", "with", "with"),
        ("(PRN (, ,) (CC and) (RB not) (NN tea) (, ,))", "and", "not"),
        ("(NP (NAC (NNP Bank) (PP (IN of) (NP (NNP Oz)))) (POS 's))", "'s", "Bank"),
        ("(WHADVP (WRB how) (JJ far))", "how", "far"),
        ("(WHADVP (RB just) (WRB how))", "how", "how"),
        ("(X (FOO a) (BAR b))", "b", "b"),
        ("(ZZZ (FOO a) (BAR b))", "a", "a"),
        ("(NP (. .) (, ,))", ".", "."),
        ("(NP=2 (-NONE- *) (NN tea))", "tea", "tea"),
    ],
)
def test_phrases(phrase, collins, semantic):
    assert root(phrase, "collins") == collins
    assert root(phrase, "semantic") == semantic


def test_ctb():
    text = """
    (IP
      (NP-SBJ (DP (DT 这) (CLP (M 只))) (NP (NN 猫)))
      (VP
        (PP (P 在) (NP (NN 家)))
        (VP (VV 吃) (NP-OBJ (CP (IP (VP (VA 大))) (DEC 的)) (NP (NN 鱼)))))
      (PU 。))
    """
    assert arcs(text, "ctb") == {
        "这": "猫", "只": "这", "猫": "吃", "在": "吃", "家": "在", "吃": "吃",
        "大": "鱼", "的": "大", "鱼": "吃", "。": "吃",
    }  # fmt: skip


def test_semantic_conjunctions():
    assert arcs("(NP (NNS cats) (CC and) (NNS dogs))", "semantic")["and"] == "dogs"
    assert arcs("(S (CC But) (NP (PRP it)) (VP (VBZ works)))", "semantic")["But"] == "works"
    # the comma depends on `cats`, and arcs don't cross
    assert arcs("(NP (NNS cats) (CC and) (, ,) (NNS dogs))", "semantic")["and"] == "cats"


@pytest.mark.parametrize("text", [SENTENCE, "(NP (NNS cats) (CC and) (, ,) (NNS dogs) (CC or))"])
@pytest.mark.parametrize("rules", ["collins", "semantic", "ctb"])
def test_heads_are_one_projective_tree(rules, text):
    heads = heads_by_rules(ConstituentTree.from_string(text), rules)
    assert sum(word == head for word, head in enumerate(heads)) == 1
    assert is_projective([0 if word == head else head + 1 for word, head in enumerate(heads)])


@pytest.mark.parametrize("rules", ["collins", "semantic", "ctb"])
def test_depth_width_and_nothing(rules):
    tree = ConstituentTree("NN", word="tea")
    assert heads_by_rules(tree, rules) == [0]
    for _ in range(5000):
        tree = ConstituentTree("NP", [tree])
    assert heads_by_rules(tree, rules) == [0]
    wide = ConstituentTree("NP", [ConstituentTree("NN", word="tea")] * 5000)
    assert set(heads_by_rules(wide, rules)) == {4999}
    assert heads_by_rules(ConstituentTree.from_string("(TOP (X))"), rules) == []
    assert heads_by_rules(ConstituentTree.from_string("(TOP (X) (NN tea))"), rules) == [0]


def test_unknown_rules():
    with pytest.raises(ValueError, match=r"'magic'.*collins, semantic, ctb"):
        heads_by_rules(ConstituentTree.from_string(SENTENCE), "magic")
