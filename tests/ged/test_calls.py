"""Words of code in a text, by hand."""

from __future__ import annotations

import spacy

from spacy_lal.ged.calls import words_of_code


def test_words_of_code() -> None:
    doc = spacy.blank("en")("I write for i in range(i) each day, with few error(s) as i see it.")
    # one token or more, as the tokenizer likes
    assert "".join(doc[i].text for i in words_of_code(doc)) == "irange(i)"
