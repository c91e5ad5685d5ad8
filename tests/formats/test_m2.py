"""M2: sentences, edits, the labels they come to, and the words after them."""

import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.vocab import Vocab

from spacy_lal.annotations.grammar_errors import grammar_errors
from spacy_lal.formats.files import FormatError, read_text
from spacy_lal.formats.m2 import M2, Edit, ErrorTypes, M2Sentence
from spacy_lal.formats.treebank_format import Losses
from spacy_lal.formats.treebank_sentence import to_doc

from .corrections import by, labels_of


def parse_m2(text, source="<string>"):
    return M2().edited(text, source)


TEA = """S The kettles boil on stove hotly in
A 1 2|||R:NOUN:NUM|||kettle|||REQUIRED|||-NONE-|||0
A 2 3|||R:VERB:SVA|||boils|||REQUIRED|||-NONE-|||0
A 4 4|||M:DET|||the|||REQUIRED|||-NONE-|||0
A 5 6|||U:ADV||||||REQUIRED|||-NONE-|||0
A 7 7|||M:PUNCT|||.|||REQUIRED|||-NONE-|||0
A 2 6|||R:OTHER|||are boiling||sing|||REQUIRED|||-NONE-|||1
A 6 7|||UNK|||in|||REQUIRED|||-NONE-|||1
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||2

S Tea cools .

S
A 0 0|||M:OTHER|||Yes|||REQUIRED|||-NONE-|||0
"""


@pytest.fixture
def tea():
    return next(parse_m2(TEA))


def test_sentences_and_edits():
    tea, cools, empty = parse_m2(TEA, source="tea.m2")
    assert tea.words == ["The", "kettles", "boil", "on", "stove", "hotly", "in"]
    assert tea.edits == [
        Edit(1, 2, "R:NOUN:NUM", "kettle"),
        Edit(2, 3, "R:VERB:SVA", "boils"),
        Edit(4, 4, "M:DET", "the"),
        Edit(5, 6, "U:ADV", ""),
        Edit(7, 7, "M:PUNCT", "."),
        Edit(2, 6, "R:OTHER", "are boiling", 1),
        Edit(6, 7, "UNK", None, 1),
    ]
    assert (cools.words, cools.edits) == (["Tea", "cools", "."], [])
    assert (empty.words, empty.edits) == ([], [Edit(0, 0, "M:OTHER", "Yes")])
    assert [each.line for each in (tea, cools, empty)] == [1, 11, 13]


def test_one_annotator_alone():
    """Sentences without edits of his are correct; one without edits in the file is an error."""

    def marked(annotator):
        found = M2(annotator=annotator).parse(TEA, "tea.m2", Losses())
        return [[at for at, label in enumerate(s.errors) if label] for s in found]

    assert marked(None) == [[1, 2, 3, 4, 5, 6], []]
    assert marked(0) == [[1, 2, 4, 5], []]
    assert marked(1) == [[2, 3, 4, 5, 6], []]
    with pytest.raises(ValueError, match=r"tea\.m2: no edits of annotator 3, only of 0, 1"):
        marked(3)


def test_no_blank_lines_and_other_line_ends_and_compression(tmp_path):
    text = "S Tea cools\nA 0 1|||R|||It|||a|||b|||3\nS \u00a0Tea\n"
    path = tmp_path / "tea.m2.xz"
    path.write_bytes(lzma.compress(text.replace("\n", "\r\n").encode("utf-8-sig")))
    first, second = parse_m2(read_text(path), source=str(path))
    assert (first.words, first.edits) == (["Tea", "cools"], [Edit(0, 1, "R", "It", 3)])
    assert (second.words, second.line) == (["\u00a0Tea"], 3)
    assert list(parse_m2("")) == []


@pytest.mark.parametrize(
    ("field", "correction"),
    [("", ""), ("-NONE-", ""), ("a||b", "a"), ("||b", ""), ("a||", "a"), ("a | b", "a | b")],
)
def test_alternatives(field, correction):
    (sentence,) = parse_m2(f"S x y\nA 0 1|||R|||{field}|||REQUIRED|||-NONE-|||0\n")
    assert sentence.edits == [Edit(0, 1, "R", correction, 0)]


def test_labels_are_hand_worked(tea):
    error = "ERROR"
    assert labels_of(by(tea, 0)) == ["", error, error, "", error, error, ""]
    assert labels_of(by(tea, 1)) == ["", "", *[error] * 5]
    assert labels_of(by(tea, 2)) == [""] * 7
    assert labels_of(tea) == ["", *[error] * 6]
    full = ["", "R:NOUN:NUM", "R:VERB:SVA", "", "M:DET", "U:ADV", ""]
    assert labels_of(by(tea, 0), types="full") == full
    assert labels_of(tea, types="full") == [*full[:3], "R:OTHER", *full[4:6], "UNK"]
    assert labels_of(by(tea, 0), types="operations") == ["", "R", "R", "", "M", "U", ""]
    assert labels_of(by(tea, 1), types="operations") == ["", "", *"RRRR", error]


def test_types_of_other_corpora():
    sentence = M2Sentence(["a", "b", "c"], [Edit(0, 1, "Vt", "x"), Edit(1, 2, "", "")])
    assert labels_of(sentence, types="operations") == ["R", "U", ""]
    assert labels_of(sentence, types="full") == ["Vt", "ERROR", ""]


def test_nothing_to_label():
    assert labels_of(M2Sentence([], [Edit(0, 0, "M", "x")])) == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("A 0 3|||R|||x|||a|||b|||0", "an edit from 0 to 3 in a sentence of 2 words"),
        ("A 1 0|||R|||x|||a|||b|||0", "an edit from 1 to 0"),
        ("A -1 -1|||R|||x|||a|||b|||0", "an edit from -1 to -1"),
        ("A 0|||R|||x|||a|||b|||0", "expected A start end|||type"),
        ("A 0 1|||R|||x|||a|||b|||me", "expected A start end|||type"),
        ("A 0 1|||R|||x|||0", "expected A start end|||type"),
        ("A 0 1", "expected A start end|||type"),
        ("B 0 1", "expected a line that begins with S or A, found 'B 0 1'"),
        ("Tea cools", "expected a line that begins with S or A"),
    ],
)
def test_malformed(line, message):
    with pytest.raises(FormatError) as caught:
        list(parse_m2(f"\nS Tea cools\n{line}\n", source="tea.m2"))
    assert str(caught.value).startswith(f"tea.m2:3: {message}")


def test_an_edit_of_nothing():
    with pytest.raises(
        FormatError, match=r"tea\.m2:1: an edit \(line A\) stands before any sentence"
    ):
        list(parse_m2("A 0 1|||R|||x|||a|||b|||0\n", source="tea.m2"))


@st.composite
def edited(draw):
    words = draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=6))
    place = st.integers(0, len(words))
    edits = [
        Edit(*sorted((start, end)), kind, correction)
        for start, end, kind, correction in draw(
            st.lists(
                st.tuples(place, place, st.sampled_from(["R", "M:X"]), st.sampled_from(["", "x"])),
                max_size=5,
            )
        )
    ]
    return M2Sentence(words, edits)


@given(edited(), st.sampled_from(["none", "operations", "full"]))
def test_a_union_of_an_annotator_with_itself(sentence, types):
    again = [edit._replace(annotator=1) for edit in sentence.edits]
    both = M2Sentence(sentence.words, [*sentence.edits, *again])
    labels = labels_of(by(sentence, 0), types=types)
    assert labels_of(both, types=types) == labels
    assert labels_of(by(both, 1), types=types) == labels


@given(edited())
def test_only_words_of_edits_are_errors(sentence):
    labels = labels_of(sentence)
    for i, label in enumerate(labels):
        assert bool(label) == any(
            edit.start <= i < edit.end or (edit.start == edit.end and i == edit.start)
            for edit in sentence.edits
        )


@given(edited())
def test_edits_written_are_read(sentence):
    lines = [
        f"A {e.start} {e.end}|||{e.type}|||{e.correction}|||REQUIRED|||-NONE-|||{e.annotator}\n"
        for e in sentence.edits
    ]
    (read,) = parse_m2(f"S {' '.join(sentence.words)}\n{''.join(lines)}\n")
    assert (read.words, read.edits) == (sentence.words, sentence.edits)


def test_corrections_are_kept_with_types() -> None:
    text = """S He go to school .
A 1 2|||R:VERB:SVA|||goes|||REQUIRED|||-NONE-|||0
A 3 3|||M:DET|||the|||REQUIRED|||-NONE-|||0

S I very like it .
A 1 2|||U:ADV||||||REQUIRED|||-NONE-|||0
A 3 4|||UNK|||it|||REQUIRED|||-NONE-|||0

S He went .
A 1 2|||Vform|||goes|||REQUIRED|||-NONE-|||0
"""
    vocab = Vocab()
    for types, expected in (("full", {"goes", "the", ""}), ("operations", {"goes", "the", ""})):
        found = M2(types=ErrorTypes(types)).parse(text, "a.m2", Losses())
        docs = [to_doc(sentence, vocab) for sentence in found]
        first, second, third = ([list(e.suggestions) for e in grammar_errors(d)] for d in docs)
        assert first == [[("goes", 1.0)], [("the school", 1.0)]]
        assert second == [[("", 1.0)], []]
        # a type that isn't ERRANT's doesn't say whether words are missing before it
        assert third == ([[("goes", 1.0)]] if types == "operations" else [[]])
        assert {
            c for d in docs for c in d.spans["errors"].attrs.get("corrections", ()) if c is not None
        } == expected
    plain = [to_doc(sentence, vocab) for sentence in M2().parse(text, "a.m2", Losses())]
    assert all("corrections" not in doc.spans["errors"].attrs for doc in plain)
