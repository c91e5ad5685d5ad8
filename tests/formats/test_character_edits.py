"""Texts with edits by character, and which words they concern."""

import bz2
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_lal.formats.character_edits import (
    CharacterEdits,
    token_edits,
)
from spacy_lal.formats.files import FormatError
from spacy_lal.formats.m2 import Edit
from spacy_lal.formats.treebank_format import Losses

from .corrections import by, corrected, labels_of

ENGLISH = CharacterEdits(lang="en")


def record(text, *edits, **more):
    """A line; edits as (what is wrong, its correction, …), looked up in the text from the left."""
    found, place = [], 0
    for wrong, *rest in edits:
        place = text.index(wrong, place)
        found.append([place, place + len(wrong), *rest])
    return json.dumps({"text": text, "edits": [[0, found]], **more}) + "\n"


def parse(*lines):
    return list(ENGLISH.edited("".join(lines), "tea.json"))


def errors(sentence):
    return [word for word, label in zip(sentence.words, labels_of(sentence), strict=True) if label]


def test_sentences_words_and_edits():
    text = "Dear Ann,\n\nTeas cools. Is you in  stove?\n"
    line = record(text, ("Teas", "Tea", "AGN"), ("you", "it", "R"), (" stove", " the stove"))
    letter, tea, stove = parse(line)
    assert (letter.words, letter.edits) == (["Dear", "Ann", ","], [])
    assert (tea.words, tea.edits) == (["Teas", "cools", "."], [Edit(0, 1, "AGN", "Tea")])
    assert tea.spaces == [True, False, True]
    assert stove.words == ["Is", "you", "in", "stove", "?"]
    assert stove.spaces == [True, True, True, False, True]
    assert stove.edits == [Edit(1, 2, "R", "it"), Edit(3, 4, "", " the stove")]
    assert corrected(stove.words, stove.edits) == ["Is", "it", "in", "the", "stove", "?"]
    assert {each.line for each in (letter, tea, stove)} == {1}


def insertion(text, place, correction="x"):
    return json.dumps({"text": text, "edits": [[0, [[place, place, correction, "M"]]]]})


@pytest.mark.parametrize(
    ("place", "found"),
    [
        (0, ["Tea"]),
        (3, ["cools"]),  # the end of "Tea": the next word
        (4, ["cools"]),
        (6, ["cools"]),  # within the word
        (9, ["now"]),
        (13, []),  # nothing comes after it
    ],
)
def test_insertions(place, found):
    (sentence,) = parse(insertion("Tea cools now", place))
    assert errors(sentence) == found


def test_insertions_between_sentences():
    for place in (5, 6, 7):
        first, second = parse(insertion("Tea .\n\nYes", place))
        assert (errors(first), errors(second)) == ([], ["Yes"])
        assert second.edits == [Edit(0, 0, "M", "x")]


def test_a_part_of_a_word():
    (sentence,) = parse(record("Tea coools now", ("oo", "o", "S")))
    assert sentence.edits == [Edit(1, 2, "S", "cools")]
    (sentence,) = parse(insertion("Tea cols now", 6, "o"))
    assert sentence.edits == [Edit(1, 2, "M", "cools")]


def test_detected_but_not_corrected():
    (sentence,) = parse(record("Tea cools it", ("cools it", None, "CE")))
    assert sentence.edits == [Edit(1, 3, "CE", None)]
    assert errors(sentence) == ["cools", "it"]
    assert labels_of(sentence, types="full") == ["", "CE", "CE"]
    assert corrected(sentence.words, sentence.edits) == ["Tea", "cools", "it"]


def test_an_edit_of_two_sentences():
    first, second = parse(record("I came. And saw.", (". And", " and", "P")))
    assert first.edits == [Edit(2, 3, "P", None)]
    assert second.edits == [Edit(0, 1, "P", None)]


def test_an_edit_of_whitespace():
    (sentence,) = parse(record("Tea cups here", (" ", "", "RP")))
    assert sentence.edits == [Edit(0, 2, "RP", "Teacups")]
    assert errors(sentence) == ["Tea", "cups"]
    assert corrected(sentence.words, sentence.edits) == ["Teacups", "here"]


def test_an_edit_of_some_of_the_whitespace():
    for text, edit in (("I saw  it.", [5, 6, ""]), ("I saw it. ", [9, 10, ""])):
        (sentence,) = parse(json.dumps({"text": text, "edits": [[0, [edit]]]}))
        assert sentence.edits == []
        assert errors(sentence) == []
    (sentence,) = parse(json.dumps({"text": "Tea cups", "edits": [[0, [[3, 4, " or "]]]]}))
    assert sentence.edits == [Edit(1, 1, "", " or ")]


def test_annotators():
    edits = [[0, [[0, 3, "Teas"]]], [2, [[4, 8, "cools"]]], [3, []]]
    (sentence,) = parse(json.dumps({"text": "Tea cool", "edits": edits}))
    assert labels_of(sentence) == ["ERROR", "ERROR"]
    assert labels_of(by(sentence, 2)) == ["", "ERROR"]
    assert labels_of(by(sentence, 3)) == ["", ""]


@pytest.mark.parametrize("text", ["", " \n"])
def test_no_words(text):
    (sentence,) = parse(json.dumps({"text": text, "edits": [[0, [[0, 0, "Yes"]]]]}))
    assert (sentence.words, sentence.edits) == ([], [Edit(0, 0, "", "Yes")])


def test_file(tmp_path):
    path = tmp_path / "tea.json.bz2"
    path.write_bytes(bz2.compress((record("Tea.") + "\n" + record("Yes.")).encode()))
    read = list(ENGLISH.read(path, Losses()))
    assert [each.words for each in read] == [["Tea", "."], ["Yes", "."]]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "Invalid JSON: EOF"),
        ("[]", "Input should be an object"),
        ('{"text": 3, "edits": []}', "text: Input should be a valid string"),
        ('{"text": "Tea"}', "edits: Field required"),
        ('{"text": "Tea", "edits": [[0]]}', "edits[0][1]: Field required"),
        ('{"text": "Tea", "edits": [[-1, []]]}', "edits[0][0]: Input should be"),
        ('{"text": "Tea", "edits": [[true, []]]}', "edits[0][0]: Input should be"),
        ('{"text": "Tea", "edits": [[0, [[0, 1]]]]}', "edits[0][1][0][2]: Field required"),
        ('{"text": "Tea", "edits": [[0, [[0, 1, 2]]]]}', "edits[0][1][0][2]: Input should be"),
        ('{"text": "Tea", "edits": [[0, [[0, true, "x"]]]]}', "edits[0][1][0][1]: Input should be"),
        ('{"text": "Tea", "edits": [[0, [[0, 1, "x", 2]]]]}', "edits[0][1][0][3]: Input should be"),
        (
            '{"text": "Tea", "edits": [[0, [[0, 1, "x", "R", 1]]]]}',
            "edits[0][1][0]: NamedTuple should have",
        ),
        (
            '{"text": "Tea", "edits": [[0, [[1, 4, "x"]]]]}',
            "the edit from 1 to 4 of annotator 0 isn't in order, or not within the text",
        ),
        ('{"text": "Tea", "edits": [[0, [[2, 1, "x"]]]]}', "the edit from 2 to 1 of annotator 0"),
        (
            '{"text": "Tea", "edits": [[0, [[2, 3, "x"], [1, 2, "y"]]]]}',
            "the edit from 1 to 2 of annotator 0",
        ),
    ],
)
def test_malformed(line, message):
    with pytest.raises(FormatError) as caught:
        parse(record("Tea."), line)
    assert str(caught.value).startswith(f"tea.json:2: {message}")


@given(st.text(alphabet="ab ", max_size=12), st.data())
def test_the_rule_by_brute_force(text, data):
    """Tokens between spaces: each that shares a character with an edit, or the next."""
    places = [
        (i, i + len(word))
        for i, word in ((i, text[i:].split(" ")[0]) for i in range(len(text)))
        if word and (i == 0 or text[i - 1] == " ")
    ]
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    (edit,) = token_edits(text, places, [Edit(start, end, "", "x")])
    shared = [
        i
        for i, (first, last) in enumerate(places)
        if set(range(start, end)) & {*range(first, last)}
    ]
    within = [i for i, (first, last) in enumerate(places) if first < start <= end < last]
    following = [i for i, (first, _) in enumerate(places) if first >= start]
    if shared or within:
        assert list(range(edit.start, edit.end)) == (shared or within)
        # what the edit leaves of the words stays
        whole = text[places[edit.start][0] : places[edit.end - 1][1]]
        left = len(whole) - (end - start)
        assert (
            len(edit.correction) == left + 1
            or start < places[edit.start][0]
            or (end > places[edit.end - 1][1])
        )
    else:
        assert edit.start == edit.end == min(following, default=len(places))
        assert edit.correction == "x"


def test_spaces_are_those_of_the_text(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"text": "He don\'t go.\\n So", "edits": []}')
    first, second = CharacterEdits(lang="en").read(path, Losses())
    assert first.spaces == [True, False, True, False, True]
    assert (second.words, second.spaces, second.errors) == (["So"], [False], [""])
