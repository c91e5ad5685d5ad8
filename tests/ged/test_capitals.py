"""Capitals by hand."""

from __future__ import annotations

import pytest
import spacy
from spacy.language import Language

from spacy_lal.batching.sentences import sentence_starts
from spacy_lal.ged.capitals import with_right_capitals


@pytest.fixture(scope="module")
def english() -> Language:
    return spacy.blank("en")


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("the people here are nice. when I was a child, it rained.", ["The", "When"]),
        ("We flew to england on monday, as the french do.", ["England", "Monday", "French"]),
        ("However, They went home because It was late.", ["they", "it"]),
        # names, titles, quotes, and what begins no sentence
        ("He asked: “why?” and then he left.", []),
        ("I saw Gone With the Wind, The Sun Also Rises and The Who.", []),
        ("van Gogh was a great painter of his time.", []),
        ("a) the museum that we saw is big.", []),
        ("the red house", []),
        ("in the list, range(i) is what we go through.", []),
        ("In the list, the error(s) are on Sunday.", []),
        ("pip is a program that we use daily.", []),
        ("It costs 5 a piece in may or march.", []),
        ("ALL OF THE PEOPLE LIKE IT.", []),
        ("", []),
        ("Smith et al. have shown that it was late. Apples, pears, etc. are what we eat now.", []),
        ("It was cold . . . and then we left the house. 1. the name of the house.", []),
        ("Dear all,\n\nWe are here.\nThe sea was blue,\nThe sky as well.", []),
        ("He prays that He will guide us. Heat the He atom, or the If statement.", []),
        ("We had french fries, brazil nuts and a dutch oven of plaster of paris in #london.", []),
        ("make is a tool that we use daily. We go to (london).", ["London"]),
    ],
)
def test_capitals(english: Language, text: str, right: list[str]) -> None:
    doc = english(text)
    starts = sentence_starts(doc, "split")
    assert [*with_right_capitals(doc, starts).values()] == right


def test_given_sentences(english: Language) -> None:
    text = "so we left early . the dog , too , was tired of it ."
    words = text.split()
    doc = spacy.tokens.Doc(english.vocab, words=words, sent_starts=[k == 0 for k in range(15)])
    assert with_right_capitals(doc, [0]) == {0: "So", 5: "The"}
