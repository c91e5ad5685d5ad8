"""Articles against hand-written pairs."""

import pytest

from spacy_lal.ged.articles import with_articles

AN = "apple interesting 8 unimportant uninvited umbrella hour honest honour heir hourly NGO MP "
AN += "X-ray 18 11 onerous utter usher urgent urban Ügly F FBI éclair old old-fashioned LCD 80s"
A = "house European one once one-way union university unique user useful usual utopia UN UK UFO "
A += "uranium NATO RAM horse 1 180 110 Man Monday few"


@pytest.mark.parametrize("word", AN.split())
def test_an(word):
    assert with_articles("a", word) == "an"
    assert with_articles("An", word) == "An"
    assert with_articles(f"A {word}", "b") == f"An {word}"


@pytest.mark.parametrize("word", A.split())
def test_a(word):
    assert with_articles("an", word) == "a"


def test_what_is_no_article():
    assert with_articles("the", "apple") == "the"
    assert with_articles("a", "") == "a"
    assert with_articles("", "apple") == ""
    assert with_articles("many a apple", "a") == "many an apple"
