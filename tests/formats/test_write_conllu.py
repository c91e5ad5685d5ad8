"""Docs as CoNLL-U: rows worked out by hand."""

from __future__ import annotations

import re

import pytest
import spacy
from spacy.tokens import Doc

from spacy_lal.annotations import set_constituents
from spacy_lal.formats.conllu import Conllu, format_conllu, parse_conllu, to_sentence


def test_rows() -> None:
    """Whitespace is no word: what hangs on it hangs on its head, or is the root in its place."""
    doc = Doc(
        spacy.blank("en").vocab,
        words=["Go", "\n", "home", "!", " ", "No", "way"],
        spaces=[False, False, False, True, False, True, False],
        tags=["VB", "_SP", "RB", ".", "_SP", "UH", "NN"],
        heads=[0, 0, 1, 0, 4, 4, 4],
        deps=["ROOT", "dep", "advmod", "punct", "ROOT", "discourse", "dep"],
    )
    set_constituents(doc, [(0, 4, "S"), (5, 7, "NP")])
    assert format_conllu(doc, "a\tb", {"lang": "en"}) == (
        "# newdoc id = a b\n"
        "# lang = en\n"
        "# sent_id = a b-1\n"
        "# text = Go home!\n"
        "# constituency = (TOP (S (VB Go) (RB home) (. !)))\n"
        "1\tGo\t_\t_\tVB\t_\t0\troot\t_\tstart_char=0|end_char=2\n"
        "2\thome\t_\t_\tRB\t_\t1\tadvmod\t_\tSpaceAfter=No|start_char=3|end_char=7\n"
        "3\t!\t_\t_\t.\t_\t1\tpunct\t_\tstart_char=7|end_char=8\n"
        "\n"
        "# sent_id = a b-2\n"
        "# text = No way\n"
        "# constituency = (TOP (NP (UH No) (NN way)))\n"
        "1\tNo\t_\t_\tUH\t_\t0\troot\t_\tstart_char=10|end_char=12\n"
        "2\tway\t_\t_\tNN\t_\t1\tdep\t_\tSpaceAfter=No|start_char=13|end_char=16\n"
        "\n"
    )


def test_without_annotation() -> None:
    doc = spacy.blank("en")("Well, no")
    (sentence,) = parse_conllu(format_conllu(doc))
    assert sentence.words == ["Well", ",", "no"]
    assert sentence.spaces == [False, True, False]
    assert sentence.heads is None
    assert format_conllu(spacy.blank("en")(" ")) == ""


def test_relations_of_a_part() -> None:
    """Words that nobody gave a relation have no head in the file."""
    doc = Doc(
        spacy.blank("en").vocab,
        words=["Go", "home", "No", "way"],
        heads=[0, 0, 2, 3],
        deps=["ROOT", "advmod", "", ""],
        sent_starts=[True, False, True, False],
    )
    written = [line.split("\t")[6:8] for line in format_conllu(doc).splitlines() if "\t" in line]
    assert written == [["0", "root"], ["1", "advmod"], ["_", "_"], ["_", "_"]]


def test_a_space_in_a_tag_is_no_column() -> None:
    doc = Doc(spacy.blank("en").vocab, words=["ice cream"], tags=["N N"], lemmas=["ice cream"])
    (sentence,) = parse_conllu(format_conllu(doc))
    assert (sentence.words, sentence.lemmas) == (["ice cream"], ["ice cream"])
    assert sentence.xpos == ["N_N"]


def test_trees_come_back() -> None:
    vocab = spacy.blank("en").vocab
    doc = Doc(
        vocab, words=["Go", "(", "\n", "home", ")"], tags=["VB", "-LRB-", "_SP", "RB", "-RRB-"]
    )
    set_constituents(doc, [(0, 5, "S"), (0, 5, "VP"), (1, 5, "PRN")])
    doc.user_data["sent_id"] = "weblog-7"
    text = format_conllu(doc)
    (found,) = parse_conllu(text)
    assert found.id == "weblog-7"
    for name, expected in ((None, "weblog-7"), (7, "7-1")):
        doc.user_data["id"] = name
        (found,) = parse_conllu(Conllu().write(doc))
        assert found.id == expected
    assert to_sentence(found)[0].constituents == [(0, 4, "S"), (0, 4, "VP"), (1, 4, "PRN")]
    (without,) = parse_conllu(text.replace("# constituency", "# other"))
    assert to_sentence(without)[0].constituents is None
    for bad, said in (
        ("(S (VB Go)", "this bracket is never closed"),
        ("(S (VB Go))", "expected one tree of 4 words, found 1 of 1"),
        ("(VB Go) (RB home)", "expected one tree of 4 words, found 2 of 2"),
    ):
        lines = [f"# constituency = {bad}" if "constituency" in x else x for x in text.split("\n")]
        (found,) = parse_conllu("\n".join(lines), source="a.conllu")
        with pytest.raises(ValueError, match=re.escape(f"a.conllu:4: # constituency: {said}")):
            to_sentence(found)
