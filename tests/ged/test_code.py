"""Words of code in a text, by hand."""

from __future__ import annotations

import spacy

from spacy_lal.ged.code import words_of_code


def test_words_of_code() -> None:
    doc = spacy.blank("en")("I write for i in range(i) each day, with few error(s) as i see it.")
    # one token or more, as the tokenizer likes
    assert "".join(doc[i].text for i in words_of_code(doc)) == "irange(i)"


def test_words_between_backticks() -> None:
    nlp = spacy.blank("en")
    doc = nlp("Run `pip instal x`, not `yes' or ``no'', ` a ' or ` b '.")
    assert "".join(doc[i].text for i in words_of_code(doc)) == "`pipinstalx`"
