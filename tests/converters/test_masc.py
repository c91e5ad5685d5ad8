"""PropBank's columns with words, with invented sentences."""

import json

import pytest
from english import Masc, masc_sentence, read_documents
from propbank import parse_propbank

from spacy_lal.annotations import FrameSpans, get_frames, sentence_trees
from spacy_lal.formats.files import FormatError

from .running import read, run

TEXT = """\
talk 0 0 <TURN> CODE (TOP(S*     -  -       *       *
talk 0 1 Well   UH   (INTJ*)     -  -       *       (ARGM-DIS*)
talk 0 2 she    PRP  (NP-SBJ*)   -  -       *       (ARG0*)
talk 0 3 wants  VBZ  (VP*        want want.01 (V*)  *
talk 0 4 to     TO   (S(VP*      -  -       (ARG1*  *
talk 0 5 walk   VB   (VP*        walk walk.01 *     (V*)
talk 0 6 to     TO   (PP*        -  -       *       (ARG4*
talk 0 7 -LSB-  -LSB- (NP=1*     -  -       *       *
talk 0 8 town   NN   *))))))     -  -       *)      *)
talk 0 9 /      SU   *))         -  -       *       *

talk 1 0 <TURN> CODE (TOP*) - -

talk 2 0 Go VB (TOP(S(VP* go go.01 (V(X*) *))

letter 0 0 No UH (TOP(INTJ*)) - -

"""


def parsed(text):
    return parse_propbank(text, source="x", broken_trees=True)


@pytest.fixture
def sentences():
    found = parsed(TEXT.replace("(V(X*) *))", "(V*)"))
    return {(s.document, s.number): (masc_sentence(s), s.left_out) for s in found}


def test_marks_are_no_words(sentences):
    sentence, _ = sentences["talk", "0"]
    assert sentence.words == ["Well", "she", "wants", "to", "walk", "to", "[", "town"]
    assert sentence.tags == ["UH", "PRP", "VBZ", "TO", "VB", "TO", "-LRB-", "NN"]
    assert sentence.constituents == [
        (0, 8, "S"),
        (0, 1, "INTJ"),
        (1, 2, "NP"),
        (2, 8, "VP"),
        (3, 8, "S"),
        (3, 8, "VP"),
        (4, 8, "VP"),
        (5, 8, "PP"),
        (6, 8, "NP"),
    ]
    assert sentence.frames == [
        FrameSpans(2, "want.01", [(2, 3, "V"), (3, 8, "ARG1")]),
        FrameSpans(4, "walk.01", [(0, 1, "ARGM-DIS"), (1, 2, "ARG0"), (4, 5, "V"), (5, 8, "ARG4")]),
    ]
    assert sentence.heads is None
    assert sentences["talk", "1"][0] is None  # nothing is left of it


def test_what_cannot_be_read_is_missing(sentences):
    """A tree whose bits don't match, and all frames of a sentence with one that won't do."""
    broken, left_out = sentences["talk", "2"]
    assert broken.constituents is None
    assert broken.frames == [FrameSpans(0, "go.01", [(0, 1, "V")])]
    assert left_out[0][1].startswith("tree: phrase VP never ends")
    (nested,) = map(masc_sentence, parsed("a 0 0 Go VB (TOP*) go go.01 (V(X*))\n"))
    assert nested.constituents == []
    assert nested.frames is None
    assert sentences["letter", "0"][0].frames == []


def test_frames_of_marks_go_with_them():
    text = "a 0 0 a CODE (S(X*) a a.01 (V*) *\na 0 1 b VB *) b b.01 * (V*)\n"
    (kept,) = map(masc_sentence, parsed(text))
    assert kept.constituents == [(0, 1, "S")]
    assert kept.frames == [FrameSpans(0, "b.01", [(0, 1, "V")])]


def test_bad_rows_are_named(tmp_path):
    with pytest.raises(FormatError, match=r"x:2: expected 8 columns and one for each of 1"):
        list(parsed("\na 0 0 Go VB * go go.01\n"))
    (tmp_path / "a.gold_conll").write_text("a one 0 Go VB * - -\n")
    result = run(Masc, tmp_path / "a.gold_conll", tmp_path / "out.spacy")
    assert "a.gold_conll:1: bad sentence number 'one'" in result.stderr


@pytest.fixture
def convert(tmp_path):
    (tmp_path / "masc.gold_conll").write_text(TEXT.replace("(V(X*) *))", "(V*)"))

    def convert(*options):
        out = tmp_path / "out.spacy"
        result = run(Masc, tmp_path / "masc.gold_conll", out, *options)
        return result, read(out) if out.exists() else []

    return convert


def test_convert(convert, tmp_path):
    result, docs = convert("--no-tags", "-LRB- UH", "--report", tmp_path / "r.json")
    assert result.exit_code == 0, result.output
    assert [doc[0].text for doc in docs] == ["Well", "Go", "No"]
    first, broken, _ = docs
    assert not first.has_annotation("DEP")
    assert [token.tag_ for token in first] == ["", "PRP", "VBZ", "TO", "VB", "IN", "", "NN"]
    assert len(get_frames(first)) == 2
    assert str(sentence_trees(first)[0]).startswith("(TOP (S (INTJ ")
    assert set(broken.spans) == {"srl"}
    report = json.loads((tmp_path / "r.json").read_text())["out.spacy"]
    assert (report["sentences"], report["words"], len(report["left out"])) == (3, 10, 1)


def test_a_document_is_a_paragraph(convert):
    _, docs = convert()
    assert [doc.user_data["paragraph"] for doc in docs] == ["talk", "talk", "letter"]


def test_lists_of_documents(convert, tmp_path):
    listed = tmp_path / "list.txt"
    listed.write_text("# some\n\ntalk 1 2  # the end\n")
    for option, words in (("--documents", ["Go"]), ("--without", ["Well", "No"])):
        _, docs = convert(option, listed)
        assert [doc[0].text for doc in docs] == words
    listed.write_text("talk\nsong\n")
    result, _ = convert("--documents", listed)
    assert result.exit_code == 1
    assert "no document 'song' in the input" in result.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\na\n", ":2: document a twice"),
        ("a 1\n", "expected `name`"),
        ("a 5 2\n", "expected `name"),
        ("a b c\n", "`name first"),
    ],
)
def test_bad_lists(tmp_path, text, message):
    path = tmp_path / "list.txt"
    path.write_text(text)
    with pytest.raises(FormatError, match=message):
        read_documents(path)
