"""Articles against hand-written pairs."""

import pytest
import spacy

from spacy_lal.ged.articles import article_forms, with_articles

AN = """apple interesting unimportant uninvited unidentified umbrella usher utter urgent urban
onerous hour honest honour heir hourly éclair Ügly old old-fashioned NGO MP FBI LCD X-ray x-ray F
EU 8 18 11 80s 1850 HR"""
A = """house European one once one-way union university unique unanimous user useful usual utopia UN
UK U.S. U-turn US UFO Ugandan Uruguayan Ukrainian uranium ubiquitous horse Man Monday few 1 180 110
euro ewe"""
UNSURE = ["NATO", "SUV", "HIV", "FRIEND", "STORY", '"', "(", "'"]


@pytest.mark.parametrize("word", AN.split())
def test_an(word):
    assert with_articles("a", word) == "an"
    assert with_articles("An", word) == "An"
    assert with_articles(f"A {word}", "b") == f"An {word}"


@pytest.mark.parametrize("word", A.split())
def test_a(word):
    assert with_articles("an", word) == "a"


@pytest.mark.parametrize("word", UNSURE)
def test_unsure(word):
    assert with_articles("a", word) == "a"
    assert with_articles("an", word) == "an"


def test_what_is_no_article():
    assert with_articles("the", "apple") == "the"
    assert with_articles("a", "") == "a"
    assert with_articles("", "apple") == ""
    assert with_articles("many a apple", "a") == "many an apple"
    assert with_articles("AN", "apple") == "AN"


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("I ate a apple and an hour later a pear", {2: "an", 5: "an", 8: "a"}),
        ("A honest man met An user", {0: "An"}),
        ("Vitamin A is good, a A grade is better", {5: "an"}),
        ("let a be as a in b and a a result", {9: "a"}),
        ('He said a "egg" and a-ha a', {}),
        ("a F 16, an NATO member", {0: "an"}),
    ],
)
def test_forms_in_a_text(text, forms):
    assert article_forms(spacy.blank("en")(text)) == forms
