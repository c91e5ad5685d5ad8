"""Spans of sentences, by hand."""

import random
from itertools import pairwise

import numpy
from spacy.tokens import Doc, SpanGroup
from spacy.vocab import Vocab

from spacy_lal.batching.sentences import Sentence, places_of, within


def test_constituents_of_a_sentence_are_counted_in_its_words() -> None:
    """In a group in any order; of spans that cross its ends, or are whitespace, there are none."""
    source = random.Random(2)
    doc = Doc(Vocab(), words=[" " if k % 5 == 3 else f"w{k}" for k in range(40)])
    ends = [0, 7, 8, 20, 40]
    for _ in range(20):
        spans = [sorted(source.sample(range(41), 2)) for _ in range(60)]
        group = SpanGroup(doc, spans=[doc[i:j] for i, j in spans])
        for start, end in pairwise(ends):
            words = numpy.array([k for k in range(start, end) if k % 5 != 3])
            sentence = Sentence(0, start, end, words)
            expected = sorted(
                (sum(words < i), sum(words < j))
                for i, j in spans
                if start <= i and j <= end and any(i <= word < j for word in words.tolist())
            )
            assert sorted(map(tuple, within(places_of(group), sentence).tolist())) == expected
