"""Trees for LaTeX and Graphviz."""

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


@given(st.lists(st.text(st.characters(blacklist_categories=["C", "Z"]), max_size=8), min_size=1))
@pytest.mark.parametrize("first", ["&amp;", "&#38;lt;", "C:\\", "AT&T", "[a]", "\\{"])
def test_any_words_come_back(first, words):
    """Graphviz undoes HTML's entities and backslashes in strings, LaTeX its commands."""
    words = [first, *words]
    tree = ConstituentTree("S", [ConstituentTree("X", word=word) for word in words])
    strings = re.findall(r'label="((?:[^"\\]|\\.)*)"\];', to_graphviz(tree))
    read = [re.sub(r"\\(.)", r"\1", said) for said in strings]
    entity = re.compile(r"&#?\w+;")
    assert [entity.sub(lambda m: html.unescape(m[0]), said) for said in read[2::2]] == words
    leaves = re.findall(r"\[\{X\} \[\{(.*)\}, tier=word\]\]", to_forest(tree))
    names = {"backslash": "\\", "asciitilde": "~", "asciicircum": "^", "less": "<"}
    names |= {"greater": ">", "bar": "|", "quotedbl": '"'}
    latex = re.compile(r"\\text(\w+)\{\}|\\(.)")
    assert [latex.sub(lambda m: names[m[1]] if m[1] else m[2], leaf) for leaf in leaves] == words
