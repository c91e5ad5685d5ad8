"""Spaces between words say nothing of sentences, however wide they are."""

from __future__ import annotations

import pytest
import spacy


@pytest.mark.parametrize("name", ["en_lal_bio_sm", "en_lal_md", "en_lal_sm"])
def test_wide_spaces_end_no_sentence(name: str) -> None:
    pytest.importorskip(name, reason=f"pip install ./packages/{name}")
    nlp = spacy.load(name)
    for text in ("She  gave him a book.", "The old   man walked  slowly to  the station."):
        assert len(list(nlp(text).sents)) == 1
    doc = nlp("He left early.  She stayed   until ten.")
    assert [sentence.text.strip() for sentence in doc.sents] == [
        "He left early.",
        "She stayed   until ten.",
    ]
