"""`span_doc`: a Doc of a span with its trees, frames and errors, which `Span.as_doc` loses."""

import spacy
from spacy.tokens import Doc

import spacy_lal
from spacy_lal.annotations.frames import FrameSpans


def annotated() -> Doc:
    words = ["Dogs", "sleep", ".", "Cats", "purr", "now", "."]
    doc = Doc(
        spacy.blank("en").vocab,
        words=words,
        tags=["NNS", "VBP", ".", "NNS", "VBP", "RB", "."],
        heads=[1, 1, 1, 4, 4, 4, 4],
        deps=["nsubj", "ROOT", "punct", "nsubj", "ROOT", "advmod", "punct"],
        sent_starts=[True, False, False, True, False, False, False],
    )
    spacy_lal.install_extensions()
    spacy_lal.set_constituents(
        doc,
        [(0, 3, "S"), (0, 1, "NP"), (3, 7, "S"), (3, 4, "NP"), (4, 6, "VP")],
        [0.9, 0.8, 0.7, 0.6, 0.5],
        [(0, 3, -1.0), (3, 7, -2.0)],
    )
    spacy_lal.set_frames(
        doc,
        [
            FrameSpans(1, "sleep.01", [(1, 2, "V"), (0, 1, "ARG0")]),
            FrameSpans(4, "purr.01", [(4, 5, "V"), (3, 4, "ARG0"), (5, 6, "ARGM-TMP")]),
        ],
        [[0.9, 0.8], [0.7, 0.6, 0.5]],
    )
    labels = ["", "", "", "", "ERROR", "ERROR", ""]
    spacy_lal.set_errors(doc, labels, [0.0, 0.1, 0.2, 0.3, 0.9, 0.8, 0.4])
    return doc


def test_a_sentence_keeps_everything():
    doc = annotated()
    _, second = doc.sents
    doc.tensor = None  # as spaCy's doc_cleaner leaves it
    cut = spacy_lal.span_doc(second)
    assert [str(tree) for tree in cut._.trees] == [str(second._.tree)]
    assert cut._.trees[0].log_prob == -2.0
    assert cut._.trees[0].parsed
    assert cut.spans["constituents"].attrs["scores"] == [0.7, 0.6, 0.5]
    (frame,) = cut._.frames
    assert str(frame) == "[ARG0: Cats] [V: purr] [ARGM-TMP: now] ."
    assert (frame.predicate.i, frame.roleset, frame.scores) == (1, "purr.01", (0.6, 0.5))
    (error,) = cut._.grammar_errors
    assert (error.span.text, error.score) == ("purr now", 0.9)
    assert [token._.error_score for token in cut] == [0.3, 0.9, 0.8, 0.4]
    assert [token.dep_ for token in cut] == ["nsubj", "ROOT", "advmod", "punct"]


def test_parts_that_reach_over_the_border():
    cut = spacy_lal.span_doc(annotated()[1:5])  # sleep . Cats purr
    assert spacy_lal.get_constituents(cut) == [(2, 3, "NP")]
    assert [str(frame) for frame in cut._.frames][1].startswith("[ARG0: Cats] [V: purr]")
    assert cut._.frames[0].arguments == ()
    assert spacy_lal.get_errors(cut) == ["", "", "", "ERROR"]


def test_unparsed_sentences_and_absent_layers():
    doc = annotated()
    spacy_lal.set_constituents(doc, [(0, 3, "S")], unparsed=[(3, 7)])
    del doc.spans["srl"], doc.spans["errors"]
    first, second = (spacy_lal.span_doc(sentence) for sentence in doc.sents)
    assert (first._.trees[0].parsed, second._.trees[0].parsed) == (True, False)
    assert {*second.spans} == {"constituents"}
    bare = spacy_lal.span_doc(Doc(doc.vocab, words=["Hi", "there"])[1:])
    assert not bare.spans
