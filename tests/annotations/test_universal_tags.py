"""Universal tags of words tagged by hand, by the guidelines of Universal Dependencies."""

from __future__ import annotations

import pytest
import spacy
from spacy.parts_of_speech import IDS
from spacy.tokens import Doc

from spacy_lal.annotations.universal_tags import _tables, set_universal_tags, universal_tags

SENTENCES = [
    """That DT nsubj PRON; is VBZ cop AUX; the DT det DET; cup NN root NOUN; that WDT obj PRON;
    I PRP nsubj PRON; broke VBD acl:relcl VERB; when WRB advmod ADV; you PRP nsubj PRON;
    were VBD aux AUX; n't RB advmod PART; here RB advcl ADV; . . punct PUNCT""",
    """If IN mark SCONJ; this DT det DET; dog NN nsubj NOUN; has VBZ aux AUX; to TO mark PART;
    wait VB advcl VERB; for IN case ADP; Anna NNP nmod:poss PROPN; 's POS case PART;
    United NNP amod ADJ; States NNPS compound PROPN; visa NN obl NOUN; , , punct PUNCT;
    it PRP nsubj PRON; has VBZ root VERB; something NN obj PRON; to TO mark PART;
    eat VB acl VERB""",
    """Send VB root VERB; it PRP obj PRON; over RP compound:prt ADP; and CC cc CCONJ;
    20 CD nummod NUM; % NN obj SYM; or CC cc CCONJ; so RB advmod ADV; with IN case ADP; out RB
    goeswith X; oh UH discourse INTJ; :) NFP discourse SYM; There EX expl PRON; 's VBZ root VERB""",
]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_by_tags_and_relations(sentence: str) -> None:
    rows = [row.split() for row in sentence.split(";")]
    words, tags, relations, expected = map(list, zip(*rows, strict=True))
    assert universal_tags(words, tags, relations) == expected
    doc = Doc(
        spacy.blank("en").vocab, words=words, tags=tags, deps=relations, heads=[0] * len(words)
    )
    doc[0].pos_ = "X"
    set_universal_tags(doc)
    assert [token.pos_ for token in doc] == ["X", *expected[1:]]


def test_without_relations() -> None:
    """The most frequent reading of each word."""
    rows = (
        "That DT DET; is VBZ AUX; if IN SCONJ; in IN ADP; has VBZ VERB; nobody NN PRON; not RB PART"
    )
    words, tags, expected = map(list, zip(*map(str.split, rows.split(";")), strict=True))
    assert universal_tags(words, tags) == expected
    assert universal_tags(words, tags, [""] * len(words)) == expected


def test_whitespace_is_space() -> None:
    """Also without a tag, and with the tag of the word before it."""
    words, tags = ["tea", "\n", "  ", "now"], ["NN", "", "NN", ""]
    doc = Doc(spacy.blank("en").vocab, words=words, tags=tags)
    set_universal_tags(doc)
    assert [token.pos_ for token in doc] == ["NOUN", "SPACE", "SPACE", ""]


def test_other_tags() -> None:
    assert universal_tags(["tea", "Tee", " "], ["", "NE", "_SP"]) == ["", "", "SPACE"]
    with pytest.raises(ValueError, match="zip"):
        universal_tags(["tea"], [])


def test_the_table_has_universal_tags() -> None:
    assert {upos for table in _tables() for upos in table.values()} <= IDS.keys()
