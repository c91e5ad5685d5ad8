"""Trees for LaTeX and Graphviz."""

import re

from spacy_lal.trees.tree import ConstituentTree
from spacy_lal.visualize import to_forest, to_graphviz

TREE = ConstituentTree.from_string("(S (NP (PRP$ My) (NN R&D)) (VP (VBD grew) (QP (CD 5) (NN %))))")


def test_forest():
    assert to_forest(TREE) == (
        "\\begin{forest}\n"
        "for tree={parent anchor=south, child anchor=north}\n"
        "[{S}\n"
        "  [{NP}\n"
        "    [{PRP\\$} [{My}, tier=word]]\n"
        "    [{NN} [{R\\&D}, tier=word]]]\n"
        "  [{VP}\n"
        "    [{VBD} [{grew}, tier=word]]\n"
        "    [{QP}\n"
        "      [{CD} [{5}, tier=word]]\n"
        "      [{NN} [{\\%}, tier=word]]]]]\n"
        "\\end{forest}\n"
    )


def test_latex_commands_stay_text():
    hostile = ConstituentTree("X", word="\\input{a}[b]^_~#\n")
    said = to_forest(hostile)
    assert "\\input" not in said
    # brackets and commas are safe within braces
    assert "{\\textbackslash{}input\\{a\\}[b]\\textasciicircum{}\\_\\textasciitilde{}\\# }" in said


def test_graphviz():
    said = to_graphviz(TREE)
    labels = dict(re.findall(r'n(\d+) \[label="(.*)"\]', said))
    edges = [(labels[a], labels[b]) for a, b in re.findall(r"n(\d+) -> n(\d+)", said)]
    assert edges == [
        ("S", "NP"), ("NP", "PRP$"), ("PRP$", "My"), ("NP", "NN"), ("NN", "R&D"),
        ("S", "VP"), ("VP", "VBD"), ("VBD", "grew"), ("VP", "QP"), ("QP", "CD"), ("CD", "5"),
        ("QP", "NN"), ("NN", "%"),
    ]  # fmt: skip
    same = re.search("rank=same; (.*) }", said)[1].split("; ")
    assert [labels[name[1:]] for name in same] == TREE.leaves


def test_graphviz_strings_stay_strings():
    said = to_graphviz(ConstituentTree("X", word='"]; a -> b; \\'))
    assert 'label="\\"]; a -> b; \\\\"' in said
