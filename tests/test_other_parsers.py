"""The shipped parsers of other languages and of biomedical English, on raw text."""

from __future__ import annotations

from functools import cache
from typing import cast

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_lal.annotations.constituents import get_constituents
from tests.robust.invariants import check

TEXTS = {
    "en_lal_bio_sm": [
        "Mice lacking the Brca1 gene die before birth. Wild-type mice (n = 12) were kept.",
        "Yes.",
    ],
    "fr_lal_md": [
        "Aujourd'hui, le ministre a annoncé son départ. « Je suis fatigué », dit-il.",
        "Oui.",
    ],
    "id_lal_md": [
        "Presiden mengatakan bahwa ia akan datang besok. Mereka membeli rumah baru di Jakarta.",
        "Ya.",
    ],
    "is_lal_md": ["Ráðherrann sagði í gær að hann myndi ekki koma. Hún var ánægð með það.", "Já."],
}
# sure phrases, and the sentence's words and tags
PHRASES = {
    "en_lal_bio_sm": {(0, 5, "NP"), (2, 5, "NP"), (5, 8, "VP"), (6, 8, "PP"), (9, 18, "NP")},
    "fr_lal_md": {(2, 4, "NP"), (4, 6, "VN"), (6, 8, "NP")},
    "id_lal_md": {(0, 1, "NP"), (2, 7, "CP"), (3, 4, "NP"), (9, 14, "VP"), (10, 12, "NP")},
    "is_lal_md": {(0, 1, "NP"), (4, 9, "CP")},
}
TAGS = {
    "en_lal_bio_sm": {"Mice": "NNS", "lacking": "VBG", "gene": "NN", "die": "VBP", "n": "NN"},
    "fr_lal_md": {"le": "DET", "ministre": "NC", "annoncé": "VPP", ".": "PONCT"},
    "id_lal_md": {"ia": "PRN", "bahwa": "CSN", "akan": "TAME", "membeli": "VBT", ".": "PUN"},
    "is_lal_md": {"Ráðherrann": "no", "sagði": "so", "að": "st", ".": "grm"},
}


@cache
def loaded(name: str) -> Language:
    pytest.importorskip(name, reason=f"pip install ./packages/{name}")
    return spacy.load(name)


@pytest.fixture(params=sorted(TEXTS))
def name(request: pytest.FixtureRequest) -> str:
    return cast(str, request.param)


@pytest.fixture
def nlp(name: str) -> Language:
    return loaded(name)


def trees(docs: list[Doc]) -> list[list[str]]:
    return [[str(tree) for tree in doc._.trees] for doc in docs]


def test_raw_text(nlp: Language, name: str) -> None:
    doc = nlp(TEXTS[name][0])
    check(doc, nlp)
    assert len(list(doc.sents)) == 2
    assert PHRASES[name] <= set(get_constituents(doc))
    for token in doc:
        assert token.tag_ == TAGS[name].get(token.text, token.tag_)


def test_alone_and_in_batches(nlp: Language, name: str) -> None:
    texts = TEXTS[name]
    alone = trees([nlp(text) for text in texts])
    assert trees(list(nlp.pipe(texts * 3, batch_size=4))) == alone * 3
    if name == "is_lal_md":  # the one with the fewest bytes
        again = spacy.blank(nlp.lang, config=nlp.config).from_bytes(nlp.to_bytes())
        assert trees([again(text) for text in texts]) == alone


def test_heads_of_french() -> None:
    doc = loaded("fr_lal_md")("Le chat noir dort au soleil.")
    found = {token.text: (token.head.text, token.dep_) for token in doc}
    assert found["chat"] == ("dort", "nsubj")
    assert found["au"] == ("soleil", "case")
    assert found["dort"] == ("dort", "ROOT")
