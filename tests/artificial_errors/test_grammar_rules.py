"""Places of errors by tags and heads, in sentences annotated by hand."""

from __future__ import annotations

import pytest
import spacy
from spacy.tokens import Doc

from spacy_lal.annotations.grammar_errors import get_errors
from spacy_lal.artificial_errors.corrupt import corrupt_doc
from spacy_lal.artificial_errors.error_model import ErrorModel
from spacy_lal.artificial_errors.grammar_rules import GrammarRules

WORDS = frozenset({"walk", "walks", "walked", "walking", "visit", "visits", "visited", "visiting"})
RULES = GrammarRules(WORDS)
# word/tag/head/relation, heads from 1; what may be written, and for which words
SENTENCES = {
    "The/DT/2/det price/NN/6/nsubj of/IN/4/case tickets/NNS/2/nmod was/VBD/6/cop high/JJ/0/root": {
        ("was", "were", "VERB:SVA"),
        ("was", "", "VERB"),
    },
    "She/PRP/3/nsubj has/VBZ/3/aux gone/VBN/0/root": {
        ("gone", "went", "VERB:FORM"),
        ("gone", "go", "VERB:FORM"),
        ("has", "have", "VERB:SVA"),
    },
    "They/PRP/4/nsubj did/VBD/4/aux not/RB/4/advmod go/VB/0/root": {("go", "went", "VERB:FORM")},
    "I/PRP/2/nsubj enjoy/VBP/0/root walking/VBG/2/xcomp": {("walking", "to walk", "VERB:FORM")},
    "We/PRP/2/nsubj visited/VBD/0/root it/PRP/2/obj": {("it", "to it", "PREP")},
    "Where/WRB/4/advmod is/VBZ/4/aux she/PRP/4/nsubj going/VBG/0/root ?/./4/punct": {
        ("is she", "she is", "WO"),
        ("is", "are", "VERB:SVA"),
    },
    "He/PRP/2/nsubj left/VBD/0/root as/IN/6/mark he/PRP/6/nsubj was/VBD/6/cop ill/JJ/2/advcl": {
        ("was", "were", "VERB:SVA"),
    },
    # no other number: the subject's isn't plain, and a subjunctive
    "The/DT/2/det police/NN/4/nsubj were/VBD/4/aux walking/VBG/0/root": {
        ("were", "", "VERB:TENSE")
    },
    "If/IN/4/mark he/PRP/4/nsubj were/VBD/4/cop ill/JJ/0/root": {
        ("were", "", "VERB"),
        ("he", "", "PRON"),
    },
}


def parsed(rows: str) -> Doc:
    cells = [row.rsplit("/", 3) for row in rows.split(" ")]
    words, tags, heads, deps = zip(*cells, strict=True)
    places = [int(head) - 1 if head != "0" else at for at, head in enumerate(heads)]
    nlp = spacy.blank("en")
    return Doc(nlp.vocab, words=words, tags=tags, heads=places, deps=deps)


@pytest.mark.parametrize("rows", SENTENCES)
def test_places(rows: str) -> None:
    doc = parsed(rows)
    found = {
        (doc[site.start : site.end].text, new, site.kind)
        for site in RULES.sites(doc[:])
        for new in site.choice[0]
    }
    assert found == SENTENCES[rows]


def test_kinds_are_labels() -> None:
    doc = parsed("We/PRP/2/nsubj visited/VBD/0/root it/PRP/2/obj ././2/punct")
    model = ErrorModel("en", {}, {}, WORDS)
    found = {
        tuple(zip((t.text for t in wrong), get_errors(wrong), strict=True))
        for seed in range(30)
        for wrong in [corrupt_doc(doc, doc.vocab, model, 0.5, seed=seed, types=True, rules=RULES)]
        if any(get_errors(wrong))
    }
    assert found == {(("We", ""), ("visited", ""), ("to", "U:PREP"), ("it", ""), (".", ""))}
    bare = Doc(doc.vocab, words=[token.text for token in doc])
    assert RULES.sites(bare[:]) == []
