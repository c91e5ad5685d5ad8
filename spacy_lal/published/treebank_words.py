"""Words in the form that published parsers read: escaped as in treebanks, or as written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from spacy.tokens import Doc

from ..batching.sentences import Sentence
from ..trees.brackets import STRAIGHT_QUOTES, UNBRACKETS

DASHES = {"–": "--", "—": "--"}
"""Typographic dashes and their treebank forms."""
PLAIN = UNBRACKETS | STRAIGHT_QUOTES | DASHES | {"``": '"', "''": '"', "`": "'"}
"""Words and the forms in which the LAL parser's transformer reads them."""
OF_BENEPAR = STRAIGHT_QUOTES | {"`": "'", "—": "--"}
"""Tokens that benepar's spaCy plug-in replaces."""
INSIDE = {"\\/": "/", "\\*": "*", **UNBRACKETS, "``": '"', "`": "'", "''": '"'}
"""Escapes within words that benepar replaces, in this order."""

OPENING = ("-LRB-", "-LCB-", "-LSB-", "``", "`", "$", "#")
"""Ends of words without a space after them."""
CLOSING = ("-RRB-", "-RCB-", "-RSB-", "''", *"%.,!?:;")
"""Beginnings of words without a space before them."""
NO_HYPHENS = (*UNBRACKETS, "--")
"""Beginnings and ends that contain a dash and belong to no word."""
CLITICS = frozenset(["'", "'s", "'ll", "'re", "'d", "'m", "'ve", "n't"])
"""Words without a space before them."""


class Text(NamedTuple):
    """Words of a sentence [n], whether a space follows each [n], and tags, "" for none."""

    words: Sequence[str]
    spaces: Sequence[bool] = ()
    tags: Sequence[str] = ()


def text_of(doc: Doc, sentence: Sentence) -> Text:
    """Return a sentence; its whitespace tokens become spaces after words."""
    tokens = [doc[int(i)] for i in sentence.words]
    return Text(
        [token.text for token in tokens],
        [
            bool(token.whitespace_) or (token.i + 1 < len(doc) and doc[token.i + 1].is_space)
            for token in tokens
        ],
        [token.tag_ for token in tokens],
    )


def benepar_text(text: Text, *, escaped: bool) -> Text:
    """Return a sentence as benepar reads it; escaped: in treebank form, so spaces are guessed."""
    if escaped:
        return Text(unescaped(text.words), guessed_spaces(text.words), text.tags)
    return text._replace(words=replaced(text.words, OF_BENEPAR))


def lal_words(words: Sequence[str]) -> list[str]:
    """Return words as the LAL parser's transformer reads them, such as "do", "n't" as "don",
    "'t"."""
    read = replaced(words, PLAIN)
    for k in range(1, len(read)):
        if read[k] == "n't":
            read[k - 1 : k + 1] = [read[k - 1] + "n", "'t"]
    return read


def replaced(words: Sequence[str], table: Mapping[str, str]) -> list[str]:
    """Return the words with the table's replacements."""
    return [table.get(word, word) for word in words]


def unescaped(words: Sequence[str]) -> list[str]:
    """Return words without a treebank's escapes (benepar's rules)."""
    written = []
    for word in replaced(words, STRAIGHT_QUOTES | DASHES):
        for escape, character in INSIDE.items():
            word = word.replace(escape, character)
        written.append(word)
    return written


def guessed_spaces(words: Sequence[str]) -> list[bool]:
    """Return whether a space follows each of these escaped English words (benepar's rules)."""
    after = [
        not word.endswith(OPENING) and (not word.endswith("-") or word.endswith(NO_HYPHENS))
        for word in words
    ]
    for k in range(1, len(words)):
        word, both = words[k].lower(), (words[k - 1].lower(), words[k].lower())
        hyphen = word.startswith("-") and not words[k].startswith(NO_HYPHENS)
        if hyphen or words[k].startswith(CLOSING) or word in CLITICS or both == ("can", "not"):
            after[k - 1] = False
    return after
