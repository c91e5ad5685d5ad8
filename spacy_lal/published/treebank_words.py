"""Words as published parsers read them: with brackets as treebanks escape them, or as written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from spacy.tokens import Doc

from ..batching.sentences import Sentence
from ..trees.brackets import STRAIGHT_QUOTES, UNBRACKETS

DASHES = {"–": "--", "—": "--"}
"""Dashes of typesetters, as treebanks have them."""
PLAIN = UNBRACKETS | STRAIGHT_QUOTES | DASHES | {"``": '"', "''": '"', "`": "'"}
"""Words as the transformer of the LAL parser knows them."""
OF_BENEPAR = STRAIGHT_QUOTES | {"`": "'", "—": "--"}
"""Tokens in whose place benepar's spaCy plug-in puts others."""
INSIDE = {"\\/": "/", "\\*": "*", **UNBRACKETS, "``": '"', "`": "'", "''": '"'}
"""Escapes within words, which benepar replaces in this order."""

OPENING = ("-LRB-", "-LCB-", "-LSB-", "``", "`", "$", "#")
"""Ends of words that no space follows."""
CLOSING = ("-RRB-", "-RCB-", "-RSB-", "''", *"%.,!?:;")
"""Beginnings of words that no space precedes."""
NO_HYPHENS = (*UNBRACKETS, "--")
"""Beginnings and ends that have a dash and are no part of a word."""
CLITICS = frozenset(["'", "'s", "'ll", "'re", "'d", "'m", "'ve", "n't"])
"""Words that no space precedes."""


class Text(NamedTuple):
    """The words of a sentence [n], whether a space stands behind each [n], and their tags, "" for
    none."""

    words: Sequence[str]
    spaces: Sequence[bool] = ()
    tags: Sequence[str] = ()


def text_of(doc: Doc, sentence: Sentence) -> Text:
    """A sentence as it is. Whitespace tokens are no words; a word before one has a space behind."""
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
    """A sentence as benepar reads it. escaped: tokens are written as treebanks write them ("-LRB-",
    "``"), and spaces between them are guessed."""
    if escaped:
        return Text(unescaped(text.words), guessed_spaces(text.words), text.tags)
    return text._replace(words=replaced(text.words, OF_BENEPAR))


def lal_words(words: Sequence[str]) -> list[str]:
    """Words as the released LAL parser gives them to its transformer; "n't" is "n", which belongs
    to the word before, and "'t"."""
    read = replaced(words, PLAIN)
    for k in range(1, len(read)):
        if read[k] == "n't":
            read[k - 1 : k + 1] = [read[k - 1] + "n", "'t"]
    return read


def replaced(words: Sequence[str], table: Mapping[str, str]) -> list[str]:
    """The words, or what the table has in their place."""
    return [table.get(word, word) for word in words]


def unescaped(words: Sequence[str]) -> list[str]:
    """The words as they were written before a treebank escaped them (benepar's rules)."""
    written = []
    for word in replaced(words, STRAIGHT_QUOTES | DASHES):
        for escape, character in INSIDE.items():
            word = word.replace(escape, character)
        written.append(word)
    return written


def guessed_spaces(words: Sequence[str]) -> list[bool]:
    """Whether a space stood behind each of these words of English, escaped as in treebanks
    (benepar's rules)."""
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
