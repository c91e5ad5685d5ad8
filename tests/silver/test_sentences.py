"""Sentences of a Doc, with what is annotated in them."""

import spacy
from spacy.tokens import Doc

from spacy_lal.annotations.constituents import set_constituents
from spacy_lal.annotations.frames import FrameSpans, get_frames, set_frames
from spacy_lal.silver.certainty import sentence_docs


def test_a_sentence_takes_its_own_spans_along():
    words = ["Go", "!", "No", ".", "Oh"]
    tags = ["VB", ".", "UH", ".", "UH"]
    doc = Doc(spacy.blank("en").vocab, words, tags=tags, sent_starts=[True, False] * 2 + [True])
    (bare, *_) = sentence_docs(doc)
    assert not bare.spans
    # as spaCy's doc_cleaner leaves it
    doc.tensor = None
    set_constituents(doc, [(0, 2, "S"), (2, 4, "INTJ")])
    set_frames(doc, [FrameSpans(2, "no.01", [(2, 3, "V"), (3, 4, "ARG1")])])
    parts = list(sentence_docs(doc))
    assert [part.text for part in parts] == ["Go ! ", "No . ", "Oh "]
    assert [[token.tag_ for token in part] for part in parts] == [tags[:2], tags[2:4], tags[4:]]
    found = [[(s.start, s.end, s.label_) for s in part.spans["constituents"]] for part in parts]
    assert found == [[(0, 2, "S")], [(0, 2, "INTJ")], []]
    assert [[frame.predicate.i for frame in get_frames(part)] for part in parts] == [[], [0], []]
    assert [(s.start, s.end, s.label_) for s in get_frames(parts[1])[0].spans] == [
        (0, 1, "V"),
        (1, 2, "ARG1"),
    ]
