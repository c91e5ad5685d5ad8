"""Paragraphs whole and taken apart."""

import random
from collections import Counter

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_lal.annotations import set_constituents
from spacy_lal.grammar_errors import get_errors, set_errors
from spacy_lal.training.paragraphs import make_paragraph_splitter


@pytest.fixture
def example():
    nlp = spacy.blank("en")
    words = ["Go", "!", "No", ".", "Oh"]
    doc = Doc(nlp.vocab, words, sent_starts=[True, False, True, False, True])
    set_constituents(doc, [(0, 2, "S"), (2, 4, "INTJ")])
    set_errors(doc, ["c", "c", "R", "c", "c"])
    return nlp, Example(Doc(nlp.vocab, words), doc)


def test_sentences(example):
    parts = list(make_paragraph_splitter(0.0)(*example))
    assert [part.reference.text for part in parts] == ["Go ! ", "No . ", "Oh "]
    assert [part.predicted.text for part in parts] == [part.reference.text for part in parts]
    spans = [
        [(s.start, s.end, s.label_) for s in part.reference.spans["constituents"]] for part in parts
    ]
    assert spans == [[(0, 2, "S")], [(0, 2, "INTJ")], []]
    assert get_errors(parts[1].reference) == ["R", "c"]
    assert not parts[0].predicted.spans


def test_groups_that_are_not_there_stay_away(example):
    nlp, one = example
    del one.reference.spans["constituents"]
    for part in make_paragraph_splitter(0.0)(nlp, one):
        assert set(part.reference.spans) == {"errors"}


def test_share(example):
    random.seed(0)
    splitter = make_paragraph_splitter(0.3)
    sizes = Counter(len(list(splitter(*example))) for _ in range(1000))
    assert set(sizes) == {1, 3}
    assert 240 < sizes[1] < 360
    assert [len(list(make_paragraph_splitter(1.0)(*example))) for _ in range(20)] == [1] * 20
    with pytest.raises(ValueError, match="whole must be from 0 to 1, not 2"):
        make_paragraph_splitter(2)
