"""Learner corpora in two columns, read and written."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.vocab import Vocab

from spacy_lal.annotations import set_errors
from spacy_lal.formats.files import FormatError
from spacy_lal.formats.learner_tsv import (
    LearnerTsv,
    multiged_escape,
    multiged_unescape,
    parse_tsv,
)
from spacy_lal.formats.m2 import ErrorTypes
from spacy_lal.formats.treebank_format import Losses
from spacy_lal.formats.treebank_sentence import TreebankSentence, to_doc

TEA = "Teas\ti\ncool\tc\n.\tc\n\nYes\tc\n\n"


def doc(words, errors=None):
    return to_doc(TreebankSentence(words=words, errors=errors), Vocab())


def read(text, unescape=str, **options):
    return [(list(map(unescape, s.words)), s.errors) for s in parse_tsv(text, **options)]


def test_labels():
    expected = [(["Teas", "cool", "."], ["ERROR", "", ""]), (["Yes"], [""])]
    assert read(TEA) == expected
    assert read(TEA.replace("\tc", "\tc ").replace("\ti", "\t i")) == expected


def test_types():
    assert read("Teas\tR:NOUN\ncool\ti\n") == [(["Teas", "cool"], ["R:NOUN", "ERROR"])]


def test_no_labels():
    assert read("Tea\ncools\n\nYes\n") == [(["Tea", "cools"], None), (["Yes"], None)]


@pytest.mark.parametrize(
    "text",
    [
        TEA.rstrip("\n"),
        TEA.replace("\n\n", "\n\n\n \n"),
        "\n\n" + TEA,
    ],
)
def test_blank_lines(text):
    assert read(text) == read(TEA)
    assert read("\n\n") == read("") == []


def test_line_ends_and_compression(tmp_path):
    path = tmp_path / "tea.tsv.gz"
    path.write_bytes(gzip.compress(TEA.replace("\n", "\r\n").encode("utf-8-sig")))
    assert [(each.words, each.errors) for each in LearnerTsv().read(path, Losses())] == read(TEA)


def test_spaces_are_part_of_tokens():
    assert read("in fact\ti\n\u00a0\tc\n") == [(["in fact", "\u00a0"], ["ERROR", ""])]
    assert read("in fact\n\u00a0\n") == [(["in fact", "\u00a0"], None)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Tea\tc\ncools\n", "2: expected 2 columns, found 1: only tabs separate columns"),
        ("Tea\tc\n\nYes\n", "3: expected 2 columns, found 1: only tabs separate columns"),
        ("Tea\ncools\tc\n", "2: expected 1 column, found 2: only tabs separate columns"),
        ("Tea\tc\tx\n", "1: expected 2 columns, found 3: only tabs separate columns"),
        ("Tea\tc\n\tc\n", "2: expected a token and its label, found '\\tc'"),
        ("Tea\t\n", "1: expected a token and its label, found 'Tea\\t'"),
        (" \tc\n", "1: expected a token and its label, found ' \\tc'"),
        ("Tea c\nis  i\n", "1: expected 2 columns, found 1: only tabs separate columns"),
    ],
)
def test_malformed(text, message):
    with pytest.raises(FormatError) as caught:
        read(text, source="tea.tsv")
    assert str(caught.value) == f"tea.tsv:{message}"


@pytest.mark.parametrize(
    ("word", "once", "twice"),
    [
        ('"', r"\"", r"\\\""),
        ('"tea"-cup', r"\"tea\"-cup", r"\\\"tea\\\"-cup"),
        ("tea", "tea", "tea"),
        ("a\\b", "a\\b", "a\\b"),
    ],
)
def test_escapes(word, once, twice):
    assert multiged_escape(word) == once
    assert multiged_escape(once) == twice
    assert multiged_unescape(once) == multiged_unescape(twice) == multiged_unescape(word) == word
    text = f"{once}\tc\n\n"
    ((words, labels),) = read(text, unescape=multiged_unescape)
    assert words == [word]
    assert LearnerTsv(multiged_escapes=True).write(doc(words, labels)) == text
    assert read(text) == [([once], [""])]


WITH_TYPES = LearnerTsv(types=ErrorTypes.full)


def test_written():
    docs = [doc(["Teas", "cool", "."], ["R:NOUN", "", ""]), doc(["Yes"], [""])]
    assert "".join(map(LearnerTsv().write, docs)) == TEA
    assert "".join(map(WITH_TYPES.write, docs)) == TEA.replace("\ti", "\tR:NOUN")


def test_sentences_and_whitespace_of_a_doc():
    made = doc(["Tea", "cools", "\n", "\u00a0", "Yes"], ["", "", "", "", ""])
    made[3].is_sent_start = True
    set_errors(made, ["", "ERROR", "ERROR", "", ""])
    assert LearnerTsv().write(made) == "Tea\tc\ncools\ti\n\n\u00a0\tc\nYes\tc\n\n"
    for token in made[1:]:
        token.is_sent_start = None
    made[0].is_sent_start = None
    assert LearnerTsv().write(made) == "Tea\tc\ncools\ti\n\u00a0\tc\nYes\tc\n\n"
    assert LearnerTsv().write(doc(["\n"], [""])) == ""


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (doc(["Tea"]), "isn't set"),
        (doc(["Tea\tcup"], [""]), "token 'Tea\\\\tcup'"),
        (doc(["Tea"], ["a\tb"]), "type 'a\\\\tb'"),
        (doc(["Tea"], ["c"]), "type 'c'"),
        (doc(["Tea"], ["i"]), "type 'i'"),
        (doc(["Tea"], [" "]), "type ' '"),
    ],
)
def test_what_cannot_be_written(made, message):
    with pytest.raises(ValueError, match=message):
        WITH_TYPES.write(made)


WORDS = st.text(alphabet='ab" \u00a0é', min_size=1).filter(lambda word: word.strip(" "))
LABELS = st.sampled_from(["", "ERROR", "R:NOUN", "MD"])


@given(st.lists(st.lists(st.tuples(WORDS, LABELS), min_size=1, max_size=5), max_size=4))
def test_what_is_written_is_read(sentences):
    columns = [tuple(map(list, zip(*sentence, strict=True))) for sentence in sentences]
    format = LearnerTsv(types=ErrorTypes.full, multiged_escapes=True)
    text = "".join(format.write(doc(words, labels)) for words, labels in columns)
    assert read(text, unescape=multiged_unescape) == columns
