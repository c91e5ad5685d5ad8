"""The words of a sentence as the pretrained encoder is to read them, and the spaces between."""

from __future__ import annotations

from typing import NamedTuple

from spacy.tokens import Doc

from ...batching.sentences import Sentence
from ...trees.brackets import STRAIGHT_QUOTES
from .escaped import guessed_spaces, unescaped

PLAIN = STRAIGHT_QUOTES | {"`": "'", "—": "--"}
"""Tokens that benepar's spaCy plug-in puts others in place of: pieces as treebanks have them."""


class Text(NamedTuple):
    """The words of a sentence [n], and whether a space stands behind each [n]."""

    words: list[str]
    spaces: list[bool]


def text_of(doc: Doc, sentence: Sentence, *, escaped: bool) -> Text:
    """A sentence's words. Whitespace tokens are no words; a word before one has a space behind."""
    tokens = [doc[int(i)] for i in sentence.words]
    if escaped:
        words = [token.text for token in tokens]
        return Text(unescaped(words), guessed_spaces(words))
    return Text(
        [PLAIN.get(token.text, token.text) for token in tokens],
        [
            bool(token.whitespace_) or (token.i + 1 < len(doc) and doc[token.i + 1].is_space)
            for token in tokens
        ],
    )
