"""Other treebanks' trees as the English Web Treebank has them; by hand."""

import pytest
from english import Craft, Gum, like_ewt, spliced

from spacy_lal.annotations import sentence_trees
from spacy_lal.formats.penn_brackets import to_sentence
from spacy_lal.trees.tree import ConstituentTree

from .running import read, run


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


def test_some_of_the_trees(tmp_path):
    trees = tmp_path / "trees.tree"
    trees.write_text("".join(f"( (CAPTION (NP (NN w{k}))))\n" for k in range(1, 9)))
    out = tmp_path / "out.spacy"
    for options, words in (
        (["--every", 3], ["w3", "w6"]),
        (["--skip", "3-7"], ["w1", "w2", "w8"]),
        (["--every", 2, "--skip", "2-3"], ["w4", "w6", "w8"]),
    ):
        assert run(Craft, trees, out, *options).exit_code == 0
        docs = read(out)
        assert [doc[0].text for doc in docs] == words
        assert str(sentence_trees(docs[0])[0]) == f"(TOP (NP (NN {words[0]})))"
    assert "--skip must be FIRST-LAST" in run(Craft, trees, out, "--skip", "3").stderr
    assert "no trees are left of" in run(Craft, trees, out, "--skip", "1-8").stderr
    # trees without words count, as they do in reports
    trees.write_text("( (NP (-NONE- *)))\n( (NP (NN w2)))\n( (NP (NN w3)))\n")
    assert run(Craft, trees, out, "--skip", "2-2").exit_code == 0
    assert [doc[0].text for doc in read(out)] == ["w3"]


TEA = """# newdoc id = email-{document}
# newpar
# sent_id = {document}-1
1\tTea\ttea\tNOUN\tNN\t_\t2\tnsubj\t_\t_
2\tcools\tcool\tVERB\tVBZ\t_\t0\troot\t_\tSpaceAfter=No
3\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_

# sent_id = {document}-2
1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\t_

"""


def test_listed_documents_of_conllu(tmp_path):
    text = "".join(TEA.format(document=document) for document in ("train", "dev"))
    (tmp_path / "a.conllu").write_text(text)
    (tmp_path / "list.txt").write_text("email-dev\n")
    out = tmp_path / "out.spacy"
    options = ("--documents", tmp_path / "list.txt", "--no-tags", ".")
    assert run(Gum, tmp_path / "a.conllu", out, *options).exit_code == 0
    docs = read(out)
    assert [doc.user_data["sent_id"] for doc in docs] == ["dev-1", "dev-2"]
    assert [token.tag_ for token in docs[0]] == ["NN", "VBZ", ""]
    assert len({doc.user_data["paragraph"] for doc in docs}) == 1
