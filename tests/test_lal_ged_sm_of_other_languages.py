"""The shipped detectors of German, Italian and Czech, as a user meets them."""

from __future__ import annotations

from functools import cache

import pytest
import spacy
from spacy.language import Language

WRONG = {"de": [], "it": [], "cs": []}
RIGHT = {"de": [], "it": [], "cs": []}


@cache
def loaded(lang: str) -> Language:
    name = f"{lang}_lal_ged_sm"
    pytest.importorskip(name, reason=f"pip install ./packages/{name}")
    return spacy.load(name)


@pytest.fixture(params=["de", "it", "cs"])
def nlp(request: pytest.FixtureRequest) -> Language:
    return loaded(request.param)


def test_the_wrong_word_is_marked_and_the_most_suspicious(nlp: Language) -> None:
    for text, error in WRONG[nlp.lang]:
        doc = nlp(text)
        assert max(doc, key=lambda token: token._.error_score).text == error
        assert [token.text for token in doc if token._.is_error] == [error]


def test_correct_sentences_stay_unmarked(nlp: Language) -> None:
    assert [doc._.grammar_errors for doc in nlp.pipe(RIGHT[nlp.lang])] == [[]] * 3


def test_sentences_are_read_one_by_one(nlp: Language) -> None:
    """Sentences are found in running text, with the marks that they have alone."""
    texts = [*RIGHT[nlp.lang], *[text for text, _ in WRONG[nlp.lang]]]
    alone = [token._.error_score for doc in nlp.pipe(texts) for token in doc]
    assert [t._.error_score for t in nlp(" ".join(texts))] == pytest.approx(alone, abs=1e-5)


def test_printed_signs_are_read_as_typed_ones(nlp: Language) -> None:
    typed = nlp("- \"L'amico\", c'è 'x'...")
    printed = nlp("– „L’amico“, c’è ‚x’…")
    scores = [token._.error_score for token in typed]
    assert [token._.error_score for token in printed] == pytest.approx(scores, abs=1e-6)


def test_what_is_in_it(nlp: Language) -> None:
    assert nlp.meta["license"] == "CC BY-SA 4.0"
    assert all("MultiGED" in source["name"] for source in nlp.meta["sources"])
    assert "threshold" in nlp.meta["notes"]
    assert nlp.pipe_names == ["gec_detector"]
    assert nlp.vocab.vectors.shape[0] == 0
    component = nlp.config["components"]["gec_detector"]
    assert component["model"]["layers"]["@architectures"] == "spacy-lal.BiLSTMLayers.v1"
    threshold = nlp.get_pipe("gec_detector").cfg["threshold"]
    assert component["threshold"] == pytest.approx(threshold, abs=1e-12)
