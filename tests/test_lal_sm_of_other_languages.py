"""The shipped parsers of other languages than English, on raw text, in spaCy's tokens."""

from __future__ import annotations

from functools import cache

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_lal.annotations import get_constituents
from tests.robust.invariants import check

TEXTS = {
    "fr": ["Aujourd'hui, le ministre a annoncé son départ. « Je suis fatigué », dit-il.", "Oui."],
    "is": ["Ráðherrann sagði í gær að hann myndi ekki koma. Hún var ánægð með það.", "Já."],
}
# sure phrases, and the sentence's words and tags
PHRASES = {
    "fr": {(2, 4, "NP"), (4, 6, "VN"), (6, 8, "NP")},
    "is": {(0, 1, "NP"), (4, 9, "CP")},
}
TAGS = {
    "fr": {"le": "DET", "ministre": "NC", "annoncé": "VPP", ".": "PONCT"},
    "is": {"Ráðherrann": "no", "sagði": "so", "að": "st", ".": "grm"},
}


@cache
def loaded(lang: str) -> Language:
    name = f"{lang}_lal_sm"
    pytest.importorskip(name, reason=f"pip install ./packages/{name}")
    return spacy.load(name)


@pytest.fixture(params=sorted(TEXTS))
def nlp(request: pytest.FixtureRequest) -> Language:
    return loaded(request.param)


def trees(docs: list[Doc]) -> list[list[str]]:
    return [[str(tree) for tree in doc._.trees] for doc in docs]


def test_raw_text(nlp: Language) -> None:
    doc = nlp(TEXTS[nlp.lang][0])
    check(doc, nlp)
    assert len(list(doc.sents)) == 2
    assert PHRASES[nlp.lang] <= set(get_constituents(doc))
    for token in doc:
        assert token.tag_ == TAGS[nlp.lang].get(token.text, token.tag_)


def test_alone_and_in_batches(nlp: Language) -> None:
    texts = TEXTS[nlp.lang]
    alone = trees([nlp(text) for text in texts])
    assert trees(list(nlp.pipe(texts * 3, batch_size=4))) == alone * 3
    again = spacy.blank(nlp.lang, config=nlp.config).from_bytes(nlp.to_bytes())
    assert trees([again(text) for text in texts]) == alone


def test_heads_of_french() -> None:
    doc = loaded("fr")("Le chat noir dort au soleil.")
    found = {token.text: (token.head.text, token.dep_) for token in doc}
    assert found["chat"] == ("dort", "nsubj")
    assert found["au"] == ("soleil", "case")
    assert found["dort"] == ("dort", "ROOT")
