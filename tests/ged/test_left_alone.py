"""What is left alone, by hand."""

from __future__ import annotations

import numpy
import pytest

from spacy_lal.ged import spelling
from spacy_lal.ged.left_alone import (
    closing_words,
    fixed_words,
    leave_alone,
    quoted_words,
    right_types,
    right_words,
    unknown_names,
    words_at_names,
)
from spacy_lal.ged.spelling import RightWords
from spacy_lal.ged.suggestions import Suggester


@pytest.mark.parametrize(
    ("text", "types"),
    [
        # British English
        ("The government have left .", [("have", "R:VERB:SVA")]),
        ("The council also want it .", [("also", "R:VERB:SVA"), ("want", "R:VERB:SVA")]),
        (
            "Today NASA have said so .",
            [("have", "R:VERB:SVA"), ("so", "M:PUNCT"), ("so", "R:PUNCT")],
        ),
        # no subject, no plural, a country
        ("Each member of the team have left .", []),
        ("The government has left .", []),
        ("The USA have left .", []),
        # subjunctives
        (
            "They demand that he be .",
            [("he", "R:VERB:SVA"), ("be", "R:VERB:SVA"), ("be", "R:VERB:TENSE"), ("be", "U:VERB")],
        ),
        ("She says that he go .", []),
        # a comma of taste
        ("I left and she came", [("and", "M:PUNCT"), ("and", "R:PUNCT"), ("and", "U:CONJ")]),
        ("firstly I left", [("firstly", "R:MORPH")]),
        ("We met on Tuesday nights .", [("nights", "R:NOUN:NUM")]),
    ],
)
def test_right_types(text: str, types: list[tuple[str, str]]) -> None:
    words = text.split()
    assert [(words[i], type) for i, type in right_types(words, [0])] == types


def test_a_letter() -> None:
    words = ["Dear", "Sir", "or", "Madam", ",", "I", "left", ".", "Yours", "sincerely"]
    found = {words[i] for i, type in right_types(words, [0, 5, 8]) if type == "M:PUNCT"}
    assert found == {"Dear", "Sir", "or", "Madam", ","}
    assert [words[i] for i in closing_words(words)] == ["Yours", "sincerely"]


def test_fixed_phrases() -> None:
    text = "Hardly had I sat when , come what may , he had hardly had 2 hrs . So be"
    words = text.split()
    found = " ".join(words[i] for i in sorted(fixed_words(words)))
    assert found == "Hardly had come what may hardly had hrs"


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("She 's used to getting up .", "'s used to getting"),
        ("I am used to get up .", ""),
        ("Remember to lock it . Remember to locking it .", "Remember to lock"),
        ("I prefer reading to watching TV .", "prefer reading to watching"),
        ("They object to paying .", "object to paying"),
        ("She studies law , and the poor need help .", "studies law the poor need"),
        ("They are all tall . He arrived on time .", "are all tall arrived on time"),
        ("Were he here , he would help . Were he here ?", "Were he here , he would"),
        ("Off we go ! In came the cat .", "Off we go In came the"),
        ("In the corner stood a lamp .", "In the corner stood a"),
    ],
)
def test_right_phrases(text: str, right: str) -> None:
    words = text.split()
    starts = [0, *(i + 1 for i, word in enumerate(words[:-1]) if word in ".!?")]
    assert " ".join(words[i] for i in right_words(words, starts)) == right


def test_quotations() -> None:
    text = 'He said " I goes " and left “ now ” . 6 " wide'
    words = text.split()
    assert [words[i] for i in quoted_words(words)] == ["I", "goes", "now"]


def test_names() -> None:
    words = ["Yesterday", "I", "met", "Zbyszek", "in", "Lodon", ".", "They", "left"]
    at = [words[i] for i in words_at_names(words, [0, 7])]
    assert at == ["met", "Zbyszek", "in", "Lodon", "."]
    known = RightWords(["london", "yesterday", "met"])
    suspected = range(len(words))
    unknown = unknown_names(words, [0, 7], suspected, known)
    assert [words[i] for i in unknown] == ["Zbyszek"]


def test_rare_words_that_are_like_no_frequent_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slip may be another right word ("dram" for "dream"); the label of a word made is left."""
    monkeypatch.setattr(spelling, "FREQUENT", 10)
    listed = ["the", "dream", *(f"q{'x' * k}" for k in range(20)), "abstruse", "dram"]
    suggest = Suggester(["R:DET =a", "R:DET =an", "R:SPELL", "R:SPELL =the"], listed)
    words = ["dram", "abstruse", "teh", "dream", "the"]
    wrong = numpy.full((len(words), 4), 0.2, "f")
    leave_alone(words, [0], wrong, suggest)
    assert [row[2] > 0 for row in wrong] == [True, False, True, True, True]
    assert (wrong[:, 3] > 0).all()


def test_odds_in_quotations_and_at_names() -> None:
    suggest = Suggester(["R:DET =a", "R:DET =an", "R:VERB:SVA", "R:SPELL"], ["us", "cam"])
    words = ["we", '"', "came", '"', "with", "Ann", "."]
    wrong = numpy.full((len(words), 4), 0.2, "f")
    leave_alone(words, [0], wrong, suggest)
    # odds of 4 to 1 become 1 to 1: a quarter
    assert wrong[2] == pytest.approx([0.125] * 4)
    # three labels of 0.6: odds of 1.5 become 0.45; a verb's stay
    third = 0.45 / 1.45 / 3
    assert wrong[4] == pytest.approx([third, third, 0.2, third])
    assert wrong[0] == pytest.approx([0.2] * 4)
