"""Annotation that goes along when sentences become other tokens; all expectations by hand."""

import pytest
import spacy
from spacy.tokens import Doc

from spacy_lal.annotations import (
    FrameSpans,
    get_constituents,
    get_frames,
    set_constituents,
    set_frames,
)
from spacy_lal.annotations.retokenized import (
    Piece,
    as_they_are,
    join_sentences,
    paragraphs,
    rewritten,
)

VOCAB = spacy.blank("en").vocab


def tea(paragraph=""):
    """She e-mails tea ."""
    doc = Doc(
        VOCAB,
        words=["She", "e-mails", "tea", "."],
        spaces=[True, True, False, False],
        tags=["PRP", "VBZ", "NN", "."],
        pos=["PRON", "VERB", "NOUN", "PUNCT"],
        heads=[1, 1, 1, 1],
        deps=["nsubj", "ROOT", "obj", "punct"],
    )
    set_constituents(doc, [(0, 4, "S"), (0, 1, "NP"), (1, 3, "VP"), (2, 3, "NP")])
    set_frames(doc, [FrameSpans(1, "mail.01", [(0, 1, "ARG0"), (1, 2, "V"), (2, 3, "ARG1")])])
    if paragraph:
        doc.user_data["paragraph"] = paragraph
    return doc


def parse(doc):
    return [(t.text, t.tag_, t.head.i, t.dep_) for t in doc]


def test_joined_sentences_keep_everything():
    doc = join_sentences([tea(), tea()], VOCAB)
    assert doc.text == "She e-mails tea. She e-mails tea."
    assert [sent.start for sent in doc.sents] == [0, 4]
    assert [token.head.i for token in doc] == [1, 1, 1, 1, 5, 5, 5, 5]
    assert get_constituents(doc)[4:] == [(4, 8, "S"), (4, 5, "NP"), (5, 7, "VP"), (6, 7, "NP")]
    first, second = get_frames(doc)
    assert (first.predicate.i, second.predicate.i, second.roleset) == (1, 5, "mail.01")
    assert [(s.start, s.end, s.label_) for s in second.arguments] == [
        (4, 5, "ARG0"),
        (6, 7, "ARG1"),
    ]


def test_pieces_of_a_token_and_whitespace():
    pieces = [
        Piece("She", False, range(0, 1)),
        Piece("\n", False, range(0)),
        *(Piece(text, text == "mails", range(1, 2)) for text in ("e", "-", "mails")),
        Piece("tea", False, range(2, 3)),
        Piece(".", False, range(3, 4)),
    ]
    doc = rewritten([tea()], pieces, VOCAB)
    assert doc.text == "She\ne-mails tea."
    assert parse(doc) == [
        ("She", "PRP", 4, "nsubj"),
        ("\n", "", 0, "dep"),
        ("e", "VBZ", 4, "compound"),
        ("-", "HYPH", 4, "punct"),
        ("mails", "VBZ", 4, "ROOT"),
        ("tea", "NN", 4, "obj"),
        (".", ".", 4, "punct"),
    ]
    assert get_constituents(doc) == [(0, 7, "S"), (0, 1, "NP"), (2, 6, "VP"), (5, 6, "NP")]
    (frame,) = get_frames(doc)
    assert (frame.predicate.i, frame.verb.start, frame.verb.end) == (4, 2, 5)


def test_pieces_of_a_mark_are_sisters():
    pieces = as_they_are([tea()])[:3] + [Piece(text, False, range(3, 4)) for text in ".."]
    doc = rewritten([tea()], pieces, VOCAB)
    assert parse(doc)[3:] == [(".", ".", 1, "punct"), (".", ".", 1, "punct")]


def test_tokens_that_are_merged_or_gone():
    doc = rewritten(
        [tea(), tea()],
        [
            Piece("She", True, range(0, 1)),
            Piece("e-mailstea", True, range(1, 3)),
            *as_they_are([tea(), tea()])[4:],
        ],
        VOCAB,
    )
    assert parse(doc)[:3] == [
        ("She", "PRP", 1, "nsubj"),
        ("e-mailstea", "VBZ", 1, "ROOT"),
        ("She", "PRP", 3, "nsubj"),
    ]
    assert [sent.start for sent in doc.sents] == [0, 2]
    assert get_constituents(doc)[:4] == [(0, 2, "S"), (0, 1, "NP"), (1, 2, "VP"), (1, 2, "NP")]
    assert len(get_frames(doc)) == 2


def test_a_sentence_starts_with_what_is_left_of_it():
    doc = rewritten(
        [tea(), tea()], as_they_are([tea(), tea()])[:3] + as_they_are([tea(), tea()])[5:], VOCAB
    )
    assert [sent.text for sent in doc.sents] == ["She e-mails tea", "e-mails tea."]


def test_a_root_can_not_go():
    with pytest.raises(ValueError, match="the root 'e-mails' is gone"):
        rewritten([tea()], [Piece("She", False, range(0, 1))], VOCAB)


def test_what_only_some_sentences_have():
    bare = Doc(VOCAB, words=["Tea", "!"])
    doc = join_sentences([tea(), bare], VOCAB)
    assert not doc.has_annotation("DEP")
    assert not doc.has_annotation("TAG")
    assert "srl" not in doc.spans
    assert doc.spans["constituents"].attrs["unparsed"] == [[4, 6]]
    assert [sent.start for sent in doc.sents] == [0, 4]


def test_paragraphs_are_neighbours_of_one_name():
    docs = [tea(), tea(), tea("a"), tea("a"), tea("b"), tea("a")]
    assert [len(group) for group in paragraphs(docs)] == [1, 1, 2, 1, 1]
