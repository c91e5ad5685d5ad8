"""Text with the suggestions in it, by hand."""

from __future__ import annotations

import pytest
import spacy
from spacy.tokens import Doc

from spacy_lal.annotations.corrected import corrected_text
from spacy_lal.annotations.grammar_errors import Correction, grammar_errors, set_errors


def doc_of(text: str, errors: dict[int, tuple[str, str]], likely: float = 0.9) -> Doc:
    doc = spacy.blank("en")(text)
    labels = ["", *[""] * (len(doc) - 1)]
    for i, (label, _) in errors.items():
        labels[i] = label
    found = {i: [Correction(text, likely)] for i, (_, text) in errors.items()}
    set_errors(doc, labels, begins=found, corrections=found)
    return doc


@pytest.mark.parametrize(
    ("text", "errors", "expected"),
    [
        ("He go home.", {1: ("R:VERB:SVA", "goes")}, "He goes home."),
        ("I like it very.", {3: ("U:ADV", "")}, "I like it."),
        ("I saw dog.", {2: ("M:DET", "the")}, "I saw the dog."),
        ("Dog barks.", {0: ("M:DET", "the")}, "The dog barks."),
        ("The Peter came.", {0: ("U:DET", "")}, "Peter came."),
        ("The dogs came.", {0: ("U:DET", "")}, "Dogs came."),
        ("However he came.", {1: ("M:PUNCT", ",")}, "However, he came."),
        ("me came.", {0: ("R:PRON", "i")}, "i came."),
        ("Me came.", {0: ("R:PRON", "i")}, "I came."),
        ("A apple  and pear", {0: ("R:DET", "an"), 4: ("M:DET", "a")}, "An apple  and a pear"),
        ("Two car.", {1: ("R:NOUN:NUM", "cars")}, "Two cars."),
        ("I go. Is late.", {3: ("M:PRON", "it")}, "I go. It is late."),
        ('He said "The dogs came"', {3: ("U:DET", "")}, 'He said "Dogs came"'),
        ("They don't go.", {2: ("R:ADV", "not")}, "They do not go."),
        ("They don't go.", {1: ("U:VERB", "")}, "They don't go."),
        ("I can't go.", {2: ("R:ADV", "not")}, "I can't go."),
        ("He said, that it is late.", {2: ("U:PUNCT", "")}, "He said that it is late."),
        ("I go . and sing", {2: ("U:PUNCT", "")}, "I go . and sing"),
    ],
)
def test_corrections_by_hand(text: str, errors: dict, expected: str) -> None:
    assert corrected_text(doc_of(text, errors)) == expected


def test_a_space_stays_behind_a_clitic() -> None:
    doc = Doc(spacy.blank("en").vocab, ["I", "'m", "agree"], [False, True, False])
    set_errors(doc, ["", "U:VERB", ""], corrections={1: [Correction("", 1.0)]})
    assert corrected_text(doc) == "I agree"


def test_what_is_unlikely_stays() -> None:
    doc = doc_of("He go home.", {1: ("R:VERB:SVA", "goes")}, 0.3)
    assert corrected_text(doc) == doc.text
    assert corrected_text(doc, likely=0.2) == "He goes home."


def test_suggestions_stand_in_the_place_of_the_span() -> None:
    doc = doc_of("I saw dog.", {2: ("M:DET", "the")})
    (error,) = grammar_errors(doc)
    assert error.suggestions == (("the dog", 0.9),)
    assert doc.spans["errors"].attrs["corrections"] == ["the"]
    again = Doc(doc.vocab).from_bytes(doc.to_bytes())
    assert grammar_errors(again)[0].suggestions == error.suggestions


def test_one_correction_a_span_suffices() -> None:
    doc = spacy.blank("en")("He go home.")
    set_errors(doc, ["", "R:VERB:SVA", "", ""])
    assert grammar_errors(doc)[0].suggestions == ()
    doc.spans["errors"].attrs["corrections"] = ["goes"]
    assert grammar_errors(doc)[0].suggestions == (("goes", 1.0),)
