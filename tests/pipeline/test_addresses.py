"""Addresses are ADD where a treebank has that tag."""

from __future__ import annotations

import numpy
import pytest
import spacy
from spacy.tokens import Doc

from spacy_lal.annotations.addresses import is_address
from spacy_lal.batching.sentences import Sentence
from spacy_lal.pipeline.writers import SentenceParse, write_tags

ADDRESSES = [
    "http://tea.example/cup?a=1",
    "mailto:ann@tea.example",
    "www.tea.example",
    "WWW.TEA.COM",
    "ann.lee@tea.example",
    "Lee@OFFICE",
    "tea.co.uk",
    "tea-cups.org/green",
]
OTHERS = [
    "tea",
    "tea.txt",
    "report.pdf",
    "rec.food.tea",
    "@ann",
    "a@b",
    "3.5",
    "U.S.",
    "e.g.",
    ":)",
]


@pytest.mark.parametrize(("words", "expected"), [(ADDRESSES, True), (OTHERS, False)])
def test_what_an_address_is(words: list[str], expected: bool) -> None:
    assert [word for word in words if is_address(word) is not expected] == []


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["NN", "VB", "ADD"], ["VB", "ADD", "NNP"]),
        (["NN", "VB", "SYM"], ["VB", "NN", "NNP"]),
    ],
)
def test_only_words_without_a_tag(names: list[str], expected: list[str]) -> None:
    """The tag that was there stays, and a treebank without ADD gets none."""
    doc = Doc(spacy.blank("en").vocab, words=["See", "tea.com", "www.cup.com"])
    doc[2].tag_ = "NNP"
    sentence = Sentence(0, 0, 3, numpy.arange(3))
    parse = SentenceParse(numpy.array([1, 0, 0]))
    write_tags([doc], ([sentence], {0: parse}), names, overwrite=[False])
    assert [token.tag_ for token in doc] == expected
