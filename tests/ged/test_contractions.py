"""Contractions without their apostrophe, as the tokenizer cuts them and as whole words."""

from __future__ import annotations

import pytest
import spacy
from spacy.tokens import Doc

from spacy_lal.annotations.corrected import corrected_text
from spacy_lal.annotations.grammar_errors import Correction, set_errors
from spacy_lal.ged.contractions import without_apostrophe

NLP = spacy.blank("en")


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("I dont know.", {2: "n't"}),
        ("Im late, youre not.", {1: "'m", 5: "'re"}),
        ("Thats what theyve said", {1: "'s", 4: "'ve"}),
        ("DONT! It wouldnt", {0: "DO N'T", 4: "n't"}),
        ("heres why", {0: "here 's"}),
    ],
)
def test_what_lacks_an_apostrophe(text: str, right: dict[int, str]) -> None:
    doc = NLP(text)
    assert without_apostrophe(doc) == right
    found = {i: [Correction(word, 1.0)] for i, word in right.items()}
    set_errors(doc, ["R:CONTR" if i in found else "" for i in range(len(doc))], corrections=found)
    assert corrected_text(doc).replace("'", "") == text


def test_words_that_are_not_cut() -> None:
    doc = Doc(NLP.vocab, ["im", "sure", "ive", "seen", "what", "cant", "be"])
    assert without_apostrophe(doc) == {0: "I 'm", 2: "I 've", 5: "ca n't"}


@pytest.mark.parametrize(
    "text",
    [
        "I don't know, he's ill; they'll see that I'm well.",
        "The wells were as deep as its shed. What the hell? id = 3",
        "A dent in the tent, he said, and she sat in there.",
    ],
)
def test_words_that_are_right(text: str) -> None:
    assert without_apostrophe(NLP(text)) == {}
