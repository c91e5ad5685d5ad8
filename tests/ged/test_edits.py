"""Edits of words as labels, by hand; GECToR's tags (Omelianchuk et al. 2020)."""

from __future__ import annotations

from random import Random

import pytest

from spacy_lal.ged.edits import edited, edits_of


@pytest.mark.parametrize(
    ("words", "type", "correction", "edits"),
    [
        ("carrys", "R:VERB:SVA", "carries", ["-2+ies"]),
        ("go", "R:VERB:SVA", "goes", ["-0+es"]),
        ("is", "R:VERB:SVA", "are", ["=are"]),
        ("went", "R:VERB:FORM", "go", ["=go"]),
        ("their", "R:DET", "the", ["=the"]),
        ("dog", "M:DET", "the", ["+the"]),
        ("Dog", "M:DET", "The", ["+the"]),
        ("very", "U:ADV", "", [""]),
        ("monday", "R:ORTH", "Monday", ["^"]),
        ("alot", "R:ORTH", "a lot", ["=a lot"]),
        ("some body", "R:ORTH", "somebody", ["><", "><"]),
        ("be still", "R:WO", "still be", ["<>", "<>"]),
        ("to going", "R:VERB:FORM", "go", ["", ""]),
        ("has went", "R:VERB:TENSE", "have gone", ["=have", "=gone"]),
        ("beautifull", "R:SPELL", "beautiful", [""]),
        ("informations", "R:NOUN:NUM", "information", ["-1+"]),
    ],
)
def test_edits_by_hand(words: str, type: str, correction: str, edits: list[str]) -> None:
    assert edits_of(words.split(), type, correction) == edits
    assert edits_of(words.split(), type, None) == [None] * len(words.split())


def test_an_edit_makes_the_correction() -> None:
    rng = Random(1)
    letters = "abcde"
    for _ in range(2000):
        word, right = ("".join(rng.choices(letters, k=rng.randint(1, 9))) for _ in range(2))
        right = rng.choice([right, word[: rng.randint(1, 9)] + right[:3]])
        if word == right:
            continue
        for old, new in ((word, right), (word.capitalize(), right.capitalize())):
            (edit,) = edits_of([old], "R:OTHER", new)
            assert edit
            assert edited(old, edit) == new


def test_edits_that_can_not_be_made() -> None:
    assert edited("go", "-2+x") is None
    assert edited("the", "=the") is None
    assert edited("be", "<>") is None
    assert edited("THEIR", "=the") == "THE"
    assert edited("CARRYS", "-2+ies") == "CARRIES"
