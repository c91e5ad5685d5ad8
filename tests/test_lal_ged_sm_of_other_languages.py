"""The shipped detectors of other languages than English, as a user meets them."""

from __future__ import annotations

from functools import cache

import pytest
import spacy
from spacy.language import Language

WRONG = {
    "it": [
        ("Perche non vieni con noi?", "Perche"),
        ("Ti scrivo qundo arrivo.", "qundo"),
        ("Ti aspeto a casa mia.", "aspeto"),
        ("Ho bisogno di un lavoro perchè non ho soldi.", "perchè"),
    ],
    "de": [
        ("Ich weiss nicht, wo er wohnt.", "weiss"),
        ("Vielen Dank fur deine Einladung.", "fur"),
    ],
    "cs": [
        ("Mám rad českou literaturu.", "rad"),
        ("Už nevim, kde bydlíš.", "nevim"),
    ],
}
SUSPICIOUS = {
    "it": [("I miei amici abita a Milano.", "abita")],
    "de": [
        ("Ich schreibe dir einen breif.", "breif"),
        ("Ich habe drei jahre in Berlin gewohnt.", "jahre"),
    ],
    "cs": [("Včera jsem byl v kinu.", "kinu"), ("Nevim, kde bydlíš.", "Nevim")],
}
RIGHT = {
    "de": [
        "Wir treffen uns am Freitag vor dem Bahnhof.",
        "Ich lerne seit einem Jahr Deutsch.",
        "Ich freue mich auf deine Antwort.",
        "Das Wetter ist schön.",
    ],
    "cs": [
        "Dobrý den, jmenuji se Petr.",
        "Zítra půjdeme do školy.",
        "Máš dnes čas?",
        "Rád čtu knihy.",
    ],
    "it": [
        "Domani andiamo al mare con i miei amici.",
        "Ti ringrazio per la tua lettera.",
        "Non ho tempo per leggere.",
        "Mi piace molto la musica.",
    ],
}


@cache
def loaded(lang: str) -> Language:
    name = f"{lang}_lal_ged_sm"
    pytest.importorskip(name, reason=f"pip install ./packages/{name}")
    return spacy.load(name)


@pytest.fixture(params=sorted(WRONG))
def nlp(request: pytest.FixtureRequest) -> Language:
    return loaded(request.param)


def test_the_wrong_word_is_marked(nlp: Language) -> None:
    for text, error in WRONG[nlp.lang]:
        assert [token.text for token in nlp(text) if token._.is_error] == [error]


def test_the_wrong_word_is_the_most_suspicious(nlp: Language) -> None:
    for text, error in WRONG[nlp.lang] + SUSPICIOUS[nlp.lang]:
        assert max(nlp(text), key=lambda token: token._.error_score).text == error


def test_correct_sentences_stay_unmarked(nlp: Language) -> None:
    texts = RIGHT[nlp.lang]
    assert [doc._.grammar_errors for doc in nlp.pipe(texts)] == [[] for _ in texts]


def test_sentences_are_read_one_by_one(nlp: Language) -> None:
    texts = [*RIGHT[nlp.lang], *[text for text, _ in WRONG[nlp.lang]]]
    alone = [token._.error_score for doc in nlp.pipe(texts) for token in doc]
    assert [t._.error_score for t in nlp(" ".join(texts))] == pytest.approx(alone, abs=1e-5)


def test_printed_signs_are_read_as_typed_ones(nlp: Language) -> None:
    """The training data has typed ones alone."""
    pairs = {
        "it": ("L'amico di Anna abita a Roma.", "L’amico di Anna abita a Roma."),
        "de": ('Er sagt "ja".', "Er sagt „ja“."),
        "cs": ('Říká "ano".', "Říká „ano“."),
    }
    for typed, printed in [pairs[nlp.lang], ("...", "…")]:
        scores = [token._.error_score for token in nlp(typed)]
        assert [token._.error_score for token in nlp(printed)] == pytest.approx(scores, abs=1e-6)


def test_what_is_in_it(nlp: Language) -> None:
    assert nlp.meta["license"] == "CC BY-SA 4.0"
    names = [source["name"] for source in nlp.meta["sources"]]
    assert "MultiGED" in names[0]
    assert "frequent words" in names.pop()
    assert all("nothing is trained on it" in name or "edited text" in name for name in names[1:])
    assert "threshold" in nlp.meta["notes"]
    assert nlp.pipe_names == ["gec_detector"]
    assert nlp.vocab.vectors.shape[0] == 0
    component = nlp.config["components"]["gec_detector"]
    assert component["model"]["layers"]["@architectures"] == "spacy-lal.BiLSTMLayers.v1"
    threshold = nlp.get_pipe("gec_detector").cfg["threshold"]
    assert component["threshold"] == pytest.approx(threshold, abs=1e-12)
