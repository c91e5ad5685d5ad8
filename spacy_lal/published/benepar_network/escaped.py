"""Words as treebanks write them: what was written, and where spaces stood (benepar's rules)."""

from __future__ import annotations

from ...trees.brackets import STRAIGHT_QUOTES, UNBRACKETS

WHOLE = STRAIGHT_QUOTES | {"–": "--", "—": "--"}
"""What stands for a word that is one of these."""
INSIDE = {
    **{"\\/": "/", "\\*": "*"},
    **UNBRACKETS,
    **{"``": '"', "`": "'", "''": '"'},
}
"""What stands for these within words, replaced in this order."""

OPENING = ("-LRB-", "-LCB-", "-LSB-", "``", "`", "$", "#")
"""What words end in that no space follows."""
CLOSING = ("-RRB-", "-RCB-", "-RSB-", "''", *"%.,!?:;")
"""What words begin with that no space precedes."""
DASHES = ("-RRB-", "-RCB-", "-RSB-", "-LRB-", "-LCB-", "-LSB-", "--")
"""What begins or ends in a dash and is no part of a word."""
CLITICS = frozenset(["'", "'s", "'ll", "'re", "'d", "'m", "'ve", "n't"])
"""Words that no space precedes."""


def unescaped(words: list[str]) -> list[str]:
    """The words as they were written before a treebank escaped them."""
    written = []
    for word in words:
        word = WHOLE.get(word, word)
        for escape, character in INSIDE.items():
            word = word.replace(escape, character)
        written.append(word)
    return written


def guessed_spaces(words: list[str]) -> list[bool]:
    """Whether a space stood behind each of these words of English, escaped as in treebanks."""
    after = [_is_followed(word) for word in words]
    for k in range(1, len(words)):
        before, word = words[k - 1].lower(), words[k].lower()
        if _leans_back(words[k]) or word in CLITICS or (before, word) == ("can", "not"):
            after[k - 1] = False
    return after


def _is_followed(word: str) -> bool:
    hyphen = word.endswith("-") and not word.endswith(DASHES)
    return not hyphen and not word.endswith(OPENING)


def _leans_back(word: str) -> bool:
    hyphen = word.startswith("-") and not word.startswith(DASHES)
    return hyphen or word.startswith(CLOSING)
