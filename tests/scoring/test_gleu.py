"""GLEU against numbers printed by the published program (gleu.py of JFLEG) for these sentences."""

from __future__ import annotations

import pytest

from spacy_lal.scoring.gleu import gleu

TEXT = """She go to school every days .
He have went home yesterday .
The informations was useful for I .
Nothing is wrong here .
A"""
OURS = """She goes to school every day .
He has went home yesterday .
The information was useful for I .
Nothing is wrong here .
A"""
FIRST = """She goes to school every day .
He went home yesterday .
The information was useful to me .
Nothing is wrong here .
A"""
SECOND = """She goes to the school every day .
Yesterday he went home .
The information was useful for me .
There is nothing wrong here .
A"""


def words(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_published_program() -> None:
    text, ours, first, second = map(words, (TEXT, OURS, FIRST, SECOND))
    both = zip(text, ours, zip(first, second, strict=True), strict=True)
    assert gleu(both) == pytest.approx(0.428834, abs=1e-6)
    one = zip(text, ours, ([ref] for ref in second), strict=True)
    assert gleu(one) == pytest.approx(0.215939, abs=1e-6)


def test_ends() -> None:
    """The annotator's own words are perfect; without a common word, or without a right n-gram of
    four words, the score is 0."""
    (line,) = words("She goes to school .")
    assert gleu([(["x"], line, [line])]) == pytest.approx(1.0)
    assert gleu([(["x"], ["x"], [line])]) == 0.0
    assert gleu([(line, line, [line]), (["A"], ["A"], [["A"]])]) == pytest.approx(1.0)


def test_annotators_are_as_many_for_each() -> None:
    with pytest.raises(ValueError, match="as many annotators"):
        gleu([(["A"], ["A"], [["A"]]), (["A"], ["A"], [["A"], ["A"]])])
    with pytest.raises(ValueError, match="at least one"):
        gleu([(["A"], ["A"], [])])
