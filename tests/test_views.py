"""Views of tokens and sentences: a loop reads a span group once, and edits are noticed."""

import gc
import weakref

import pytest
import spacy
from spacy.tokens import Doc, DocBin, Span, SpanGroup

from spacy_lal.annotations import (
    FrameSpans,
    constituent_tree,
    constituents,
    extensions,
    get_frames,
    install_extensions,
    sentence_trees,
    set_constituents,
    set_errors,
    set_frames,
)

NLP = spacy.blank("en")
install_extensions()


def text(sentences: int) -> Doc:
    """Sentences of five words: a frame, two constituents and an error in each."""
    doc = Doc(NLP.vocab, words=["They", "saw", "the", "cats", "."] * sentences)
    for k in range(sentences):
        doc[5 * k].is_sent_start = True
        for i in range(1, 5):
            doc[5 * k + i].is_sent_start = False
    starts = range(0, len(doc), 5)
    roles = ((1, 2, "V"), (0, 1, "ARG0"), (2, 4, "ARG1"))
    set_frames(
        doc, [FrameSpans(s + 1, "see.01", [(s + a, s + b, r) for a, b, r in roles]) for s in starts]
    )
    phrases = [[(start, start + 5, "S"), (start + 2, start + 4, "NP")] for start in starts]
    set_constituents(doc, [phrase for of_sentence in phrases for phrase in of_sentence])
    set_errors(doc, ["", "", "Art", "", ""] * sentences, [0.1, 0.2, 0.9, 0.3, 0.1] * sentences)
    return doc


@pytest.fixture
def reads(monkeypatch):
    """How many spans were made of groups, by whatever reads a whole group."""
    count = {"spans": 0}

    def counted(read):
        def reading(group):
            count["spans"] += len(group)
            return read(group)

        return reading

    for view in (constituents._PHRASES, extensions._FRAMES, extensions._WRONG):
        monkeypatch.setattr(view, "_read", counted(view._read))
    return count


def test_a_loop_reads_a_group_once(reads):
    doc = text(40)
    found = []
    for token in doc:
        if token._.frame is not None:
            found.append(token._.frame)  # asked for again, as in a condition
    assert found == get_frames(doc)
    assert reads["spans"] == len(doc.spans["srl"])
    assert [t.i for t in doc if t._.is_error] == list(range(2, 200, 5))
    assert [t._.error_score for t in doc][:5] == [0.1, 0.2, 0.9, 0.3, 0.1]
    assert reads["spans"] == len(doc.spans["srl"]) + len(doc.spans["errors"])
    assert [sentence._.tree for sentence in doc.sents] == sentence_trees(doc)
    assert reads["spans"] == sum(len(doc.spans[key]) for key in ("srl", "errors", "constituents"))


def test_two_docs_by_turns():
    one, other = text(3), text(2)
    other.spans["srl"] = []
    for token in one:
        assert (token._.frame is None) == (token.i % 5 != 1)
        if token.i < len(other):
            assert other[token.i]._.frame is None


def test_edits_are_noticed():
    doc = text(3)
    token, later = doc[1], doc[6]
    group = doc.spans["srl"]
    assert token._.frame.roleset == "see.01"
    # by index: of the frame that was just read, and of a token that had none
    group[1] = Span(doc, 0, 1, label="ARGM", span_id=group[0].id)
    assert [span.label_ for span in token._.frame.arguments] == ["ARGM", "ARG1"]
    assert doc[3]._.frame is None
    group[8] = Span(doc, 3, 4, label="V", span_id="3:cat.01")
    assert doc[3]._.frame.roleset == "cat.01"
    # its attributes
    assert doc[3]._.frame.verb_score is None
    group.attrs["scores"] = [0.5] * len(group)
    assert doc[3]._.frame.verb_score == 0.5
    # its spans, on the way
    assert later._.frame.roleset == "see.01"
    del group[3]
    assert doc[8]._.frame is None
    group.append(Span(doc, 8, 9, label="V", span_id="8:see.02"))
    assert doc[8]._.frame.roleset == "see.02"
    assert doc[11]._.frame.roleset == "see.01"
    # another group, none
    doc.spans["srl"] = SpanGroup(doc, name="srl", spans=[])
    assert doc[12]._.frame is None
    del doc.spans["srl"]
    assert doc[13]._.frame is None


def test_edits_of_errors_and_trees_are_noticed():
    doc = text(2)
    assert not doc[0]._.is_error
    doc.spans["errors"][0] = doc[0:1]
    assert doc[0]._.is_error
    assert not doc[2]._.is_error
    set_errors(doc, ["X"] * 10, [0.7] * 10)
    assert doc[3]._.is_error
    assert doc[3]._.error_score == 0.7
    first, second = doc.sents
    assert str(first._.tree).startswith("(TOP (S ")
    doc.spans["constituents"][0] = Span(doc, 0, 5, label="FRAG")
    assert str(first._.tree).startswith("(TOP (FRAG ")
    doc.spans["constituents"].attrs["log_probs"] = [[5, 10, -2.0]]
    assert second._.tree.log_prob == -2.0


def test_nothing_is_kept_of_a_doc(tmp_path):
    doc = text(2)
    before = doc.to_bytes()
    for token in doc:
        assert token._.frame or token._.is_error or token.i % 5 not in (1, 2)
    assert all(constituent_tree(sentence) for sentence in doc.sents)
    assert doc.to_bytes() == before
    assert not doc.user_data
    DocBin(docs=[doc]).to_disk(tmp_path / "one.spacy")
    alive = weakref.ref(doc)
    del doc, token
    gc.collect()
    assert alive() is None
    (again,) = DocBin().from_disk(tmp_path / "one.spacy").get_docs(NLP.vocab)
    assert again[1]._.frame.roleset == "see.01"
    assert again[2]._.is_error


def test_frames_whose_ids_point_nowhere():
    doc = Doc(NLP.vocab, words=["a", "b"])
    doc.spans["srl"] = [Span(doc, 1, 2, label="V", span_id="9@0:go.01")]
    assert doc[1]._.frame == get_frames(doc)[0]
