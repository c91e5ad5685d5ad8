"""The shipped detectors, as a user meets them."""

from __future__ import annotations

from functools import cache

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_lal.bridge.shim import torch_shims

PACKAGES = ("en_lal_ged_md",)
WRONG = [
    ("She have been to Paris twice .", "have"),
    ("He go to school every day .", "go"),
    ("There are many informations in this graph .", "informations"),
    ("The number of people were growed in 2010 .", "growed"),
]


@cache
def loaded(package: str) -> Language:
    pytest.importorskip(package, reason=f"pip install ./packages/{package}")
    return spacy.load(package)


@pytest.fixture(scope="module", params=PACKAGES)
def nlp(request: pytest.FixtureRequest) -> Language:
    return loaded(request.param)


@pytest.mark.parametrize(("text", "error"), WRONG)
def test_the_wrong_word_is_the_most_suspicious(nlp: Language, text: str, error: str) -> None:
    doc = nlp(text)
    assert max(doc, key=lambda token: token._.error_score).text == error


@pytest.mark.parametrize(("text", "error"), [*WRONG, ("I am agree with you .", "am")])
def test_en_lal_ged_md_marks_the_wrong_word(text: str, error: str) -> None:
    doc = loaded("en_lal_ged_md")(text)
    assert max(doc, key=lambda token: token._.error_score).text == error
    assert next(token for token in doc if token.text == error)._.is_error


def test_en_lal_ged_md_knows_the_words_of_its_training_text() -> None:
    """Version 0.1.0 knew those of a hundred sentences."""
    model = loaded("en_lal_ged_md").get_pipe("gec_detector").model
    known = [(shim.header or {}).get("vocabulary") for _, shim in torch_shims(model)]
    (tables,) = (tables for tables in known if isinstance(tables, list))
    assert len(tables[0]) > 20_000
    assert {"although", "restaurant", "yesterday"} <= set(tables[0])


def test_correct_sentences_stay_unmarked(nlp: Language) -> None:
    texts = [
        "The old bridge was closed last year.",
        "She has been to Paris twice, and she wants to go there again.",
        "We don't know what happened yet.",
    ]
    assert [doc._.grammar_errors for doc in nlp.pipe(texts)] == [[], [], []]


def test_sentences_are_read_one_by_one(nlp: Language) -> None:
    """With and without boundaries given; a full stop within a text isn't suspicious."""
    sentences = [
        "We went to the museum.",
        "It was closed.",
        "The guide said that the old bridge opens tomorrow.",
        "He go to school every day.",
    ]
    alone = [token._.error_score for doc in nlp.pipe(sentences) for token in doc]
    text = nlp(" ".join(sentences))
    assert [token._.error_score for token in text] == pytest.approx(alone, abs=1e-5)
    assert not any(token._.is_error for token in text if token.text == ".")
    bounded = Doc(
        nlp.vocab,
        words=[token.text for token in text],
        sent_starts=[token.i == 0 or text[token.i - 1].text == "." for token in text],
    )
    scores = [token._.error_score for token in nlp(bounded)]
    assert scores == pytest.approx(alone, abs=1e-5)


def test_any_text(nlp: Language) -> None:
    docs = list(nlp.pipe(["", " \n", "😀", "lol idk http://x.yz", "word " * 3000]))
    assert [doc._.grammar_errors for doc in docs[:2]] == [[], []]
    assert all(0 <= token._.error_score <= 1 for doc in docs for token in doc)


def test_it_works_in_another_pipeline(nlp: Language) -> None:
    other = spacy.blank("en")
    other.add_pipe("gec_detector", source=nlp)
    assert nlp.vocab.vectors.shape[0] == 0
    text = "She have been to Paris twice ."
    scores = [[token._.error_score for token in pipeline(text)] for pipeline in (nlp, other)]
    assert scores[0] == scores[1]


def test_config_and_threshold_agree(nlp: Language) -> None:
    config = nlp.config["components"]["gec_detector"]
    threshold = nlp.get_pipe("gec_detector").cfg["threshold"]
    assert config["threshold"] == pytest.approx(threshold, abs=1e-12)


def test_sources_are_told(nlp: Language) -> None:
    assert nlp.meta["license"] == "CC BY-SA 4.0"
    assert any("REALEC" in source["name"] for source in nlp.meta["sources"])
    assert not any("FCE" in source["name"] for source in nlp.meta["sources"])
    assert nlp.meta["performance"]["ged_f05"] > 0
