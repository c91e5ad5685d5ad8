"""PropBank skeletons of invented sentences."""

import pytest
from propbank import parse_propbank

from spacy_lal.annotations import FrameSpans
from spacy_lal.formats.files import FormatError
from spacy_lal.formats.props import tree_phrases

# "Ann made him give it up" / "Tea ." / "Go . Now"
TEXT = """
x.xml   0 0 [WORD] NNP (TOP(S(NP*)  -     -       (ARG0*)  *
x.xml   0 1 [WORD] VBD (VP*         make  make.02 (V*)     *
x.xml   0 2 [WORD] PRP (S(NP*)      -     -       (ARG1*   (ARG0*)
x.xml   0 3 [WORD] VB  (VP*         give  give_up.07   *   (V*
x.xml   0 4 [WORD] PRP (NP*)        -     -            *   *)
x.xml   0 5 [WORD] RP  (PRT*))))))  -     -            *)  (ARGM-DIR*)

x.xml   1 0 [WORD] NN  (TOP(NP(NP*))  -   -
x.xml   1 1 [WORD] .   *)             -   -


x.xml   2 0 [WORD] VB  (TOP(S(VP*)  go  go.01 (V*)
x.xml   2 1 [WORD] .   *)           -   -     *
x.xml   2 2 [WORD] RB  (ADVP*))     -   -     *"""


def test_sentences():
    first, second, third = parse_propbank(TEXT)
    assert first.tags == ["NNP", "VBD", "PRP", "VB", "PRP", "RP"]
    assert first.spans == [
        (0, 6, "S"),
        (0, 1, "NP"),
        (1, 6, "VP"),
        (2, 6, "S"),
        (2, 3, "NP"),
        (3, 6, "VP"),
        (4, 5, "NP"),
        (5, 6, "PRT"),
    ]
    assert first.frames == [
        FrameSpans(1, "make.02", [(0, 1, "ARG0"), (1, 2, "V"), (2, 6, "ARG1")]),
        FrameSpans(3, "give_up.07", [(2, 3, "ARG0"), (3, 5, "V"), (5, 6, "ARGM-DIR")]),
    ]
    assert second.spans == [(0, 1, "NP"), (0, 1, "NP")]
    assert second.frames == []
    assert third.spans == [(0, 2, "S"), (0, 1, "VP"), (2, 3, "ADVP")]  # two phrases under TOP
    assert [sentence.line for sentence in (first, second, third)] == [2, 9, 13]


def test_the_roleset_may_stand_on_a_later_piece():
    text = (
        "x 0 0 [WORD] JJ (TOP(VP*  -    -       (V*)\nx 0 1 [WORD] NN *))       xray xray.01 (C-V*)"
    )
    (sentence,) = parse_propbank(text)
    assert sentence.frames == [FrameSpans(1, "xray.01", [(0, 1, "V"), (1, 2, "C-V")])]


@pytest.mark.parametrize(
    ("bits", "line", "message"),
    [
        (["(TOP*", "x*)"], 8, "bad phrase 'x\\*\\)'"),
        (["(TOP*)", "*)"], 8, "a phrase ends without a beginning"),
        (["(TOP(S*", "*)"], 8, "phrase TOP never ends"),
        (["((S*", "*)"], 7, "bad phrase"),
    ],
)
def test_bad_parse_bits_are_located(bits, line, message):
    with pytest.raises(FormatError, match=message) as caught:
        tree_phrases(bits, source="x", line=7)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("cells", "line", "message"),
    [
        (["(V*", "(A*)", "*)"], 14, "a role within a role"),
        (["(A*)", "*", "*"], 13, "0 spans labelled V"),
        (["*", "(V*)", "*"], 13, "its predicate isn't labelled V"),
    ],
)
def test_frames_that_are_left_out(cells, line, message):
    rows = zip(TEXT.split("\n")[-3:], cells, strict=True)
    text = "\n" * 12 + "\n".join(f"{row.rsplit(maxsplit=1)[0]} {cell}" for row, cell in rows)
    (sentence,) = parse_propbank(text, source="x")
    assert sentence.frames is None
    assert sentence.left_out == [(f"x:{line}", message)]


@pytest.mark.parametrize(
    ("cell", "message"), [("ARG0", "bad role 'ARG0'"), ("*)", "ends without a beginning")]
)
def test_bad_roles_are_located(cell, message):
    with pytest.raises(FormatError, match=message) as caught:
        list(parse_propbank(TEXT.rsplit(maxsplit=1)[0] + f" {cell}", source="x"))
    assert caught.value.line == 15


def test_bad_columns_are_located():
    with pytest.raises(
        FormatError,
        match=r"x.gold_skel:2: expected 8 columns and one for each of 0 predicates, found 3",
    ):
        list(parse_propbank("\nx 0 0\n", source="x.gold_skel"))
    text = TEXT.replace("go.01 (V*)", "go.01")
    with pytest.raises(FormatError, match=r"<string>:13: expected 8 columns and one for each of 1"):
        list(parse_propbank(text))
