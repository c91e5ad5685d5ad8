"""Bracketed treebanks: traces, functions, features and wrappers, on invented sentences."""

import lzma

import pytest

from spacy_lal.annotations import constituent_tree
from spacy_lal.formats.files import FormatError
from spacy_lal.formats.penn_brackets import (
    Brackets,
    clean_label,
    clean_sentences,
    clean_tree,
    parse_sentences,
    parse_treebank,
    to_sentence,
)
from spacy_lal.formats.penn_treebanks import ChineseTreebank, PennTreebank
from spacy_lal.formats.treebank_format import Losses
from spacy_lal.formats.treebank_sentence import language_vocab, to_doc
from spacy_lal.trees.brackets import ptb_unescape
from spacy_lal.trees.tree import ConstituentTree

PTB = """
( (S
    (NP-SBJ-1 (DT The) (NN cat))
    (VP (VBD wanted)
      (S
        (NP-SBJ (-NONE- *-1))
        (VP (TO to) (VP (VB sleep)))))
    (. .)) )
( (FRAG (NP=2 (NN tea)) (-RRB- -RRB-)) (X (-NONE- *)) )
"""


def test_penn_treebank():
    first, second = parse_treebank(PTB)
    assert str(clean_tree(first)) == (
        "( (S (NP (DT The) (NN cat)) (VP (VBD wanted) (S (VP (TO to) (VP (VB sleep))))) (. .)))"
    )
    assert str(clean_tree(second)) == "( (FRAG (NP (NN tea)) (-RRB- -RRB-)))"


def test_functions_kept():
    _, second = parse_treebank(PTB)
    assert str(clean_tree(second, functions=True)).startswith("( (FRAG (NP=2 ")


def test_a_tree_of_traces_has_nothing_left():
    assert clean_tree(ConstituentTree.from_string("( (NP (-NONE- *)))")) is None
    assert clean_tree(ConstituentTree.from_string("(TOP (X))")) is None


@pytest.mark.parametrize(
    ("label", "bare"),
    [
        ("NP-SBJ-1", "NP"),
        ("NP=2", "NP"),
        ("NP-PN-SBJ", "NP"),
        ("N-H", "N"),
        ("PRP$", "PRP$"),
        ("ADVP|PRT", "ADVP|PRT"),
        ("-LRB-", "-LRB-"),
        ("-NONE-", "-NONE-"),
        ("=", "="),
        ("NP##case=nom|nb=sg##", "NP"),
        ("NN-SB##case=nom##", "NN"),
        ("NP##case=nom##-SB", "NP"),
        ("", ""),
    ],
)
def test_clean_label(label, bare):
    assert clean_label(label) == bare


def test_clean_label_keeps_what_is_asked_for():
    assert clean_label("NP-SB##case=nom##", functions=True) == "NP-SB"


def test_sgml_lines_are_skipped_and_places_stay_right():
    text = "<DOC>\n<DATE> 2001 </DATE>\n<S ID=1>\n((IP (NN 茶)))\n</S>\n<S ID=2>\n((IP (NN 水))\n"
    trees = parse_treebank(text, source="chtb.fid")
    assert str(next(trees)) == "( (IP (NN 茶)))"
    with pytest.raises(FormatError, match=r"chtb.fid:7:1: .*never closed"):
        next(trees)


def test_sentences():
    tree = clean_tree(next(parse_treebank(PTB)))
    sentence = to_sentence(tree)
    assert sentence.words == ("The", "cat", "wanted", "to", "sleep", ".")
    assert sentence.tags == ("DT", "NN", "VBD", "TO", "VB", ".")
    assert sentence.constituents == [
        (0, 6, "S"),
        (0, 2, "NP"),
        (2, 5, "VP"),
        (3, 5, "S"),
        (3, 5, "VP"),
        (4, 5, "VP"),
    ]
    doc = to_doc(sentence, language_vocab("xx"))
    assert doc.text == "The cat wanted to sleep ."
    assert constituent_tree(doc[:]) == tree.rooted()
    assert not doc.has_annotation("DEP")


def test_sentences_without_spaces_or_root():
    sentence = to_sentence(ConstituentTree.from_string("(IP (NN 茶) (VA 好))"), spaces=False)
    assert sentence.constituents == [(0, 2, "IP")]
    assert to_doc(sentence, language_vocab("xx")).text == "茶好"


def test_files(tmp_path):
    path = tmp_path / "a.mrg.xz"
    path.write_bytes(lzma.compress(PTB.replace("\n", "\r\n").encode()))
    sentences = list(Brackets().read(path, Losses()))
    assert sentences == list(Brackets().parse(PTB, "a.mrg", Losses()))
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ValueError, match=r"a.mrg.xz: damaged"):
        list(Brackets().read(path, Losses()))
    path = tmp_path / "b.mrg"
    path.write_bytes("((IP\n (NN 茶)))".encode("gb18030"))
    (sentence,) = Brackets(encoding="gb18030").read(path, Losses())
    assert (sentence.words, sentence.tags) == (("茶",), ("NN",))
    with pytest.raises(FormatError, match=r"b.mrg:2: not utf-8"):
        list(Brackets().read(path, Losses()))


def test_quotes_and_slashes(tmp_path):
    text = r"(TOP (`` ``) (CD 1\/2) ('' '') (-LRB- -LRB-))"
    assert next(parse_treebank(text)).leaves == ["``", r"1\/2", "''", "("]
    assert next(parse_treebank(text, unescape=ptb_unescape)).leaves == ['"', "1/2", '"', "("]


OWN = "(S (NP (DT The) (NN cat)))\n(S (NP (PRP (They)))\n   (VP (VB said)) (Z (.)))\n"


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        (OWN, "2:13", "(They)"),
        ("(S (NP (PRP\n (They ))))", "2:2", "(They)"),
        ("(S (They) (VP (VB said)))", "1:4", "(They)"),
        ("(They)", "1:1", "(They)"),
        ("( (S (NP (NN tea)) (X)))", "1:20", "(X)"),
    ],
)
@pytest.mark.parametrize("format", [Brackets(), PennTreebank()])
def test_a_word_in_brackets_of_its_own_is_an_error(format, text, place, said):
    with pytest.raises(FormatError, match="neither words nor phrases") as caught:
        list(format.parse(text, "own.mrg", Losses()))
    assert str(caught.value) == f"own.mrg:{place}: neither words nor phrases in {said}"


def test_own_brackets_in_other_treebanks(tmp_path):
    (tmp_path / "chtb_1.fid").write_text("<S ID=1>\n((IP (NN (茶))))\n</S>")
    with pytest.raises(FormatError, match=r"fid:2:10: neither words nor phrases in \(茶\)"):
        list(ChineseTreebank().read(tmp_path / "chtb_1.fid", Losses()))
    with pytest.raises(FormatError, match=r"x:2:5: neither words nor phrases in \(thé\)"):
        list(clean_sentences(parse_sentences("( (SENT\n(NC (thé))))", source="x"), Losses()))


OLD = """*x*x*x* Copyright (C) 1999 *x*
%% Sent 1
( (METADATA (AUTHOR JOHN DOE)
            (PURPOSE x)))
  ; a note, (with brackets
( (IP-MAT (CODE <P_1>) (NP-SBJ (CODE a b (c d) e) (PRO I)) (VBD saw)
     (NP-OB1 *T*-1) (NP (CODE-2 x)) (NUM 0) (. .)) (ID CMX,1.12))
(CODE {TEXT:y})
( (IP-MAT (VBP See)) (ID CMX,1.13))
"""


def test_nodes_and_lines_are_left_out():
    """The trees by hand; a node goes with its words, and never another word with it."""
    losses = Losses()
    options = {"drop": "ID CODE METADATA", "skip_lines": "*x* %% ;", "traces": r"\*.*"}
    first, second = Brackets(**options).parse(OLD, "old.psd", losses)
    assert first.words == ("I", "saw", "0", ".")
    assert first.tags == ("PRO", "VBD", "NUM", ".")
    assert first.constituents == [(0, 4, "IP"), (0, 1, "NP")]
    assert (second.words, second.constituents) == (("See",), [(0, 1, "IP")])
    assert losses.counts["lines left out"] == 3
    counts = {name: n for name, n in losses.counts.items() if name.startswith("nodes")}
    assert counts == {
        "nodes left out: ID": 2,
        "nodes left out: CODE": 4,
        "nodes left out: METADATA": 1,
    }
    assert not losses.left_out["dropped"]
    with pytest.raises(FormatError, match=r"old.psd:1:1: '\*x\*x\*x\*' stands outside any bracket"):
        list(Brackets(drop="ID CODE METADATA").parse(OLD, "old.psd", Losses()))
    broken = OLD + "( (IP-MAT (VBP See see)))"
    with pytest.raises(FormatError, match=r"old.psd:10:20: second word 'see'"):
        list(Brackets(**options).parse(broken, "old.psd", Losses()))


def test_traces_are_a_pattern(tmp_path):
    with pytest.raises(ValueError, match=r"--traces '\*T\*' is no pattern: nothing to repeat"):
        Brackets(traces="*T*").sources([tmp_path])
