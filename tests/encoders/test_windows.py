"""How Docs are cut into windows, worked out by hand."""

import numpy
import spacy
from spacy.tokens import Doc

from spacy_lal.encoders.windows import cut, deepest

VOCAB = spacy.blank("en").vocab


def test_sentences_share_a_window_where_they_fit():
    doc = Doc(VOCAB, words=list("abcdefghij"), sent_starts=[k in (0, 3, 6, 8) for k in range(10)])
    counts = numpy.ones(10, dtype=int)
    # sentences of 3, 3, 2 and 2 pieces
    assert cut([doc], counts, room=8) == [(0, 8), (8, 10)]
    assert cut([doc], counts, room=6) == [(0, 6), (6, 10)]
    assert cut([doc], counts, room=3) == [(0, 3), (3, 6), (6, 8), (8, 10)]


def test_without_sentences_a_doc_is_cut_at_blank_lines():
    doc = Doc(VOCAB, words=["a", "b", "\n", "c", "\n\n", "d", " \n \n", "\n\n", "e"])
    counts = numpy.array([0 if token.is_space else 1 for token in doc])
    assert cut([doc], counts, room=8) == [(0, 5), (5, 7), (8, 9)]
    # of a second Doc, tokens are counted on; an empty one has none
    other = Doc(VOCAB, words=["f"])
    assert cut([other, Doc(VOCAB), doc], numpy.array([1, *counts]), 8)[:2] == [(0, 1), (1, 6)]


def test_what_is_too_long_is_read_in_windows_that_overlap():
    doc = Doc(VOCAB, words=["a"] * 20)
    windows = cut([doc], numpy.ones(20, dtype=int), room=8)
    # each goes on two pieces, a quarter of the room, before the end of the one before
    assert windows == [(0, 8), (6, 14), (12, 20)]
    # a token belongs to the window in which it is deepest, of two to the first
    assert deepest(windows, 20).tolist() == [0] * 7 + [1] * 6 + [2] * 7
    # words of several pieces stay whole: 3 + 3 pieces fit into 8, and 2 of overlap hold none of 3
    assert cut([Doc(VOCAB, words=["a"] * 4)], numpy.full(4, 3), room=8) == [(0, 2), (2, 4)]


def test_tokens_without_pieces_belong_to_no_window():
    doc = Doc(VOCAB, words=[" ", "  "])
    assert cut([doc], numpy.zeros(2, dtype=int), room=8) == []
    assert deepest([], 2).tolist() == [-1, -1]
