"""Props columns: from text to frames, to Docs, and back."""

from itertools import pairwise

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin
from typer.testing import CliRunner

from spacy_lal.annotations import FrameSpans, set_frames
from spacy_lal.cli.convert import command
from spacy_lal.formats.files import FormatError
from spacy_lal.formats.props import (
    NestedRoles,
    Props,
    PropsSentence,
    column_spans,
    format_props,
    read_props,
    sentence_frames,
)
from spacy_lal.formats.treebank_sentence import TreebankSentence, language_vocab, to_doc

# "Ann , who made him give tea up , left" / "Tea ." / "Go on !"
TEXT = """\
-      (A0*)    *       (A0*
-      *        *       *
-      (R-A0*)  *       *
make   (V*)     *       *
-      (A1*     (A0*)   *
give   *        (V*)    *
-      *        (A1*)   *
-      *)       (C-V*)  *)
-      *        *       *
leave  *        *       (V*)

-
-

go  (V*
-   *)
-   *

"""
FRAMES = [
    [
        FrameSpans(3, "make", [(0, 1, "A0"), (2, 3, "R-A0"), (3, 4, "V"), (4, 8, "A1")]),
        FrameSpans(5, "give", [(4, 5, "A0"), (5, 6, "V"), (6, 7, "A1"), (7, 8, "C-V")]),
        FrameSpans(9, "leave", [(0, 8, "A0"), (9, 10, "V")]),
    ],
    [],
    [FrameSpans(0, "go", [(0, 2, "V")])],
]
WORDS = ["Ann , who made him give tea up , left", "Tea .", "Go on !"]


def docs():
    vocab = language_vocab("en")
    return [
        to_doc(TreebankSentence(words=words.split(), frames=frames), vocab)
        for words, frames in zip(WORDS, FRAMES, strict=True)
    ]


def test_read():
    assert list(read_props(TEXT)) == [
        PropsSentence(10, FRAMES[0], 1),
        PropsSentence(2, FRAMES[1], 12),
        PropsSentence(3, FRAMES[2], 15),
    ]


def test_columns_may_be_between_any_whitespace():
    ragged = "\n\n" + TEXT.replace("  ", "\t").replace("\n\n", "\n \n\t\n").rstrip()
    assert [s.frames for s in read_props(ragged)] == FRAMES
    assert list(read_props("")) == []


def test_target_verbs_have_no_columns():
    assert list(read_props("-\ngo\nmake\n")) == [
        PropsSentence(3, [FrameSpans(1, "go", []), FrameSpans(2, "make", [])])
    ]


def test_a_predicted_column_may_lack_a_verb():
    (sentence,) = read_props("- (A0*)\ngo *\n")
    assert sentence.frames == [FrameSpans(1, "go", [(0, 1, "A0")])]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- *\ngo (V*)\n- *\n\n- *\ngo V*\n", "x.props:6: bad role 'V\\*'"),
        ("go (V*)\n- * *\n", "x.props:2: expected 1 column and one for each of 1 predicates, f"),
        (
            "\n-\ngo (V*)\n",
            "x.props:2: expected 1 column and one for each of 1 predicates, found 1",
        ),
        ("- (V*)\n", "x.props:1: expected 1 column and one for each of 0 predicates, found 2"),
        ("go (V*\n- (A1*)\n- *)\n", "x.props:2: a role within a role"),
        ("go (V(A1*\n- *)\n", "x.props:1: a role within a role"),
        ("go (V*))\n", "x.props:1: a role ends without a beginning"),
        ("go (V*)\n- *)\n", "x.props:2: a role ends without a beginning"),
        ("go (V*)\n- (A1*\n- *\n", "x.props:3: role A1 never ends"),
        ("go (*)\n", r"x.props:1: bad role '\(\*\)'"),
    ],
)
def test_bad_text_is_located(text, message):
    with pytest.raises(FormatError, match=message):
        list(read_props(text, source="x.props"))


VOCAB = language_vocab("en")


def doc_of(length, frames):
    doc = to_doc(TreebankSentence(words=[f"w{i}" for i in range(length)]), VOCAB)
    set_frames(doc, frames)
    return doc


def test_format():
    assert "".join(map(format_props, docs())) == TEXT
    # Columns are in order of predicates, whatever order frames have.
    assert format_props(doc_of(10, FRAMES[0][::-1])) == TEXT[: TEXT.index("\n\n") + 2]


@st.composite
def sentences(draw):
    length = draw(st.integers(1, 9))
    predicates = draw(st.sets(st.integers(0, length - 1), max_size=3))
    frames = []
    for predicate in sorted(predicates):
        borders = sorted(draw(st.sets(st.integers(0, length), max_size=6)))
        pieces = list(pairwise(borders))
        labels = draw(st.lists(st.sampled_from(["", "A0", "R-A1", "C-V"]), min_size=6))
        spans = [(*p, label) for p, label in zip(pieces, labels, strict=False) if label]
        spans = sorted(
            [*(s for s in spans if not s[0] <= predicate < s[1]), (predicate, predicate + 1, "V")]
        )
        frames.append(FrameSpans(predicate, draw(st.sampled_from(["go", "x.y", "-x"])), spans))
    return PropsSentence(length, frames)


@settings(max_examples=40, deadline=None)
@given(st.lists(sentences(), max_size=3))
def test_what_is_written_is_read(written):
    text = "".join(format_props(doc_of(s.length, s.frames)) for s in written)
    read = list(read_props(text))
    assert [(s.length, s.frames) for s in read] == [(s.length, s.frames) for s in written]


@pytest.mark.parametrize(
    ("frames", "message"),
    [
        (
            [FrameSpans(0, "go", [(0, 2, "V"), (1, 3, "A1")])],
            "frame 'go' at token 0: A1 overlaps another role",
        ),
        (
            [FrameSpans(0, "a", [(0, 1, "V")]), FrameSpans(0, "b", [(0, 1, "V")])],
            "'b' at token 0: its predicate is whitespace, or another frame's",
        ),
        ([FrameSpans(0, "-", [(0, 1, "V")])], "'-' can't stand in column 0"),
        ([FrameSpans(0, "go on", [(0, 1, "V")])], "'go on' can't stand in column 0"),
        ([FrameSpans(0, "go", [(0, 1, "V"), (1, 2, "A*")])], r"bad role 'A\*'"),
        ([FrameSpans(0, "go", [(0, 1, "V"), (1, 2, "")])], "bad role ''"),
    ],
)
def test_what_columns_cannot_say(frames, message):
    with pytest.raises(ValueError, match=message):
        format_props(doc_of(4, frames))


def test_a_doc_of_several_sentences():
    together = Doc.from_docs(docs())
    assert format_props(together) == TEXT
    for token in together[1:]:
        token.is_sent_start = None
    together[0].is_sent_start = None
    (whole,) = read_props(format_props(together))
    assert whole.length == 15
    assert [frame.predicate for frame in whole.frames] == [3, 5, 9, 12]


def test_rolesets_become_lemmas():
    doc = docs()[0]
    verbs = [(3, "make.02"), (5, "give.LV"), (6, ""), (7, "p.m"), (9, "leave_off.101")]
    set_frames(doc, [FrameSpans(i, roleset, [(i, i + 1, "V")]) for i, roleset in verbs])
    doc[6].lemma_ = "Tea"
    (sentence,) = read_props(format_props(doc))
    assert [f.roleset for f in sentence.frames] == ["make", "give", "Tea", "p.m", "leave_off"]
    set_frames(doc, [FrameSpans(0, "", [(0, 1, "V")])])
    (sentence,) = read_props(format_props(doc))
    assert sentence.frames == [FrameSpans(0, "ann", [(0, 1, "V")])]


def test_whitespace_has_no_rows():
    vocab = language_vocab("en")
    doc = Doc(
        vocab,
        words=["\n", "Tea", "  ", "cools", " ", "\n", "Go"],
        sent_starts=[1, 0, 0, 0, 0, 1, 0],
    )
    set_frames(
        doc,
        [
            FrameSpans(3, "cool.01", [(0, 3, "ARG1"), (3, 5, "V"), (2, 3, "ARGM-TMP")]),
            FrameSpans(6, "go.01", [(6, 7, "V")]),
        ],
    )
    assert format_props(doc) == "-     (ARG1*)\ncool  (V*)\n\ngo  (V*)\n\n"
    set_frames(doc, [FrameSpans(2, "x.01", [(1, 3, "V")])])
    with pytest.raises(ValueError, match=r"frame 'x.01' at token 2: its predicate is white"):
        format_props(doc)
    nothing = Doc(vocab)
    set_frames(nothing, [])
    assert format_props(nothing) == ""


def test_docs_without_frames_and_frames_across_sentences():
    doc = Doc.from_docs(docs())
    set_frames(doc, [FrameSpans(9, "leave.01", [(9, 10, "V"), (10, 11, "A1")])])
    with pytest.raises(ValueError, match=r"frame 'leave.01' at token 9: it isn't all in one sent"):
        format_props(doc)
    del doc.spans["srl"]
    with pytest.raises(ValueError, match=r"doc.spans\['srl'\] isn't set"):
        format_props(doc)


# What the formats share


def test_nested_roles_are_told_from_malformed_ones():
    for cells in (["(A1*", "(V*)", "*)"], ["(A1(V*)", "*)"]):
        with pytest.raises(NestedRoles):
            column_spans(cells, source="x", line=1)
    with pytest.raises(FormatError) as caught:
        column_spans(["A1*"], source="x", line=1)
    assert not isinstance(caught.value, NestedRoles)


def frames_of(rows, rolesets):
    left_out = []
    return sentence_frames(rows, rolesets, left_out, source="x", line=5), left_out


def test_frames_that_docs_cannot_hold_are_left_out_with_their_reason():
    columns = [
        ["(V*)", "(A1*)", "*", "*"],
        ["(A0*)", "*", "*", "*"],  # no V
        ["(A0*", "(V*)", "(V*)", "*)"],  # nested
        ["(V*)", "*", "*", "(V*)"],  # twice
    ]
    rows = list(zip(*columns, strict=True))
    frames, left_out = frames_of(rows, ["a.01", "b.01", "c.01", "d.01"])
    assert frames is None  # with one alone, the other predicates would be taken for none
    assert left_out == [
        ("x:6", "0 spans labelled V"),
        ("x:6", "a role within a role"),
        ("x:8", "2 spans labelled V"),
    ]
    # The predicate may be the second piece of its verb, not something else.
    rows = [["(V*)"], ["(C-V*)"], ["*"]]
    frames, left_out = frames_of(rows, ["", "x.01", ""])
    assert frames == [FrameSpans(1, "x.01", [(0, 1, "V"), (1, 2, "C-V")])]
    rows = [["(V*)"], ["*"], ["(A1*)"]]
    _, left_out = frames_of(rows, ["", "", "y.01"])
    assert left_out == [("x:7", "its predicate isn't labelled V")]
    with pytest.raises(FormatError, match="x:6: bad role 'A1'"):
        frames_of([["(V*)"], ["A1"]], ["x.01", ""])


# The command


@pytest.fixture
def run():
    app = typer.Typer()
    app.command()(command(Props))
    return lambda *arguments: CliRunner().invoke(app, [str(a) for a in arguments])


def test_write(run, tmp_path):
    path, out = tmp_path / "tea.spacy", tmp_path / "new" / "tea.props"
    DocBin(docs=docs()).to_disk(path)
    result = run(path, out)
    assert result.exit_code == 0
    assert result.output == "3 Docs\n"
    assert out.read_text() == TEXT


def test_writing_names_what_is_wrong(run, tmp_path):
    path, out = tmp_path / "tea.spacy", tmp_path / "tea.props"
    tea, _, go = docs()
    set_frames(go, [FrameSpans(0, "go.01", [(0, 2, "V"), (1, 3, "A1")])])
    DocBin(docs=[tea, go]).to_disk(path)
    result = run(path, out)
    assert result.exit_code == 1
    said = f"{path}: Doc 2: frame 'go.01' at token 0: A1 overlaps"
    assert said in result.output
    del go.spans["srl"]
    DocBin(docs=[tea, go]).to_disk(path)
    result = run(path, out)
    assert result.exit_code == 1
    assert f"{path}: Doc 2: doc.spans['srl'] isn't set" in result.output
    path.write_text("no Docs")
    result = run(path, out)
    assert result.exit_code == 1
    assert f"can't read {path} as a .spacy file" in result.output
    path = tmp_path / "tea.txt"
    path.write_text("- (A0*)\n")
    assert "conll05 reads props, beside their words" in run(path, out).output
    assert not out.exists()
