"""Other treebanks' trees as the English Web Treebank has them; by hand."""

import pytest

from spacy_lal.formats.brackets import spliced, to_sentence
from spacy_lal.formats.conventions import like_ewt, without_tags
from spacy_lal.trees.tree import ConstituentTree


def adapted(bracketing):
    sentence = like_ewt(to_sentence(ConstituentTree.from_string(bracketing)))
    return str(ConstituentTree.from_spans(sentence.words, sentence.tags, sentence.constituents))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # the preposition, not the infinitive's mark
        (
            "(TOP (VP (VB go) (PP (TO to) (NP (NN town))) (S (VP (TO to) (VP (VB eat))))))",
            "(TOP (VP (VB go) (PP (IN to) (NP (NN town))) (S (VP (TO to) (VP (VB eat))))))",
        ),
        ("(TOP (QP (CD 6) (TO to) (CD 9)))", "(TOP (QP (CD 6) (IN to) (CD 9)))"),
        # brackets around one phrase, a unary chain, several, none; and a PRN of something else
        (
            "(TOP (NP (NN a) (PRN (-LRB- -LRB-) (NP (NN b) (NN c)) (-RRB- -RRB-))))",
            "(TOP (NP (NN a) (NP (-LRB- -LRB-) (NN b) (NN c) (-RRB- -RRB-))))",
        ),
        (
            "(TOP (NP (NN a) (PRN (-LRB- -LRB-) (S (VP (VB b))) (-RRB- -RRB-))))",
            "(TOP (NP (NN a) (S (-LRB- -LRB-) (VP (VB b)) (-RRB- -RRB-))))",
        ),
        (
            "(TOP (NP (PRN (-LRB- -LRB-) (NP (NN b)) (NP (NN c)) (-RRB- -RRB-)) (NN a)))",
            "(TOP (NP (-LRB- -LRB-) (NP (NN b)) (NP (NN c)) (-RRB- -RRB-) (NN a)))",
        ),
        (
            "(TOP (NP (PRN (-LRB- -LRB-) (NN b) (-RRB- -RRB-)) (NN a)))",
            "(TOP (NP (-LRB- -LRB-) (NN b) (-RRB- -RRB-) (NN a)))",
        ),
        ("(TOP (PRN (, ,) (NP (NN b))))", "(TOP (PRN (, ,) (NP (NN b))))"),
        # one within another
        (
            "(TOP (PRN (-LRB- -LRB-) (NP (NN a) (PRN (-LRB- -LRB-) (NP (NN b)) (-RRB- -RRB-)))"
            " (-RRB- -RRB-)))",
            "(TOP (NP (-LRB- -LRB-) (NN a) (NP (-LRB- -LRB-) (NN b) (-RRB- -RRB-)) (-RRB- -RRB-)))",
        ),
    ],
)
def test_like_ewt(before, after):
    assert adapted(before) == after


def test_phrases_give_way_to_their_parts():
    tree = ConstituentTree.from_string(
        "(CAPTION (CAPTION (NP (NN a) (CIT (NN b) (CAPTION (NP (NN c)))))) (TITLE (CIT (NN d))))"
    )
    found = spliced(tree, frozenset({"CAPTION", "CIT", "TITLE", "NN"}))
    assert str(found) == "(CAPTION (NP (NN a) (NN b) (NP (NN c))) (NN d))"


def test_tags_that_are_not_to_be_learned():
    sentence = to_sentence(ConstituentTree.from_string("(TOP (NN a) (: ;))"))
    assert without_tags(sentence, {":"}).tags == ["NN", ""]
