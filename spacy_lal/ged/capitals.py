"""English words with a small letter where a capital must stand, or with a capital that is wrong."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from spacy.tokens import Doc, Token

from ..batching.sentences import sentence_starts

FINAL = {".", "?", "!"}
"""Tokens that end a sentence."""
LEAST = 4
"""A sentence with more words than that must begin with a capital."""
CALL = re.compile(r"[^\W\d]\w*\((?!e?s\))[^()\s]*\)")
"""A call of a program's function, as "range(i)"; no "error(s)"."""
_NAMES = """
monday tuesday wednesday thursday friday saturday sunday january february april june july september
october november december christmas africa african america american americans arabic asia asian
australia australian austria brazil brazilian britain british bulgarian canada canadian czech danish
dutch egypt egyptian england english europe european finnish france french german germany greece
greek hungarian iceland icelandic india indian indonesia indonesian iran iraq ireland irish israel
italian italy japan japanese korea korean london malaysia mexican mexico moscow norway norwegian
paris poland portugal portuguese romanian russia russian russians scotland scottish spain spanish
sweden swedish swiss switzerland taiwan thai thailand ukraine ukrainian vietnam vietnamese facebook
"""
NAMES = frozenset(_NAMES.split())
"""Names, and words made of names, that are no other words: no "turkey", "march" or "polish"."""
_SMALL = "the they it this these he she we you if when because there is are was were and but that"
SMALL = frozenset(_SMALL.split())
"""Words that have a capital only at a start or in a title."""


def with_right_capitals(doc: Doc) -> dict[int, str]:
    """Return what should stand in the place of tokens: a capital at the start of a sentence that
    ends as one, and of names; a small letter in plain words between small ones."""
    words = [token for token in doc if not token.is_space]
    found = {token.i: token.text.capitalize() for token in _small_starts(doc, words)}
    found |= {token.i: token.text.capitalize() for token in words if token.text in NAMES}
    for last, token, following in zip(words, words[1:], words[2:], strict=False):
        between = (_is_small(last) or last.text == ",") and _is_small(following)
        if between and token.is_title and token.lower_ in SMALL:
            found[token.i] = token.lower_
    return found


def _small_starts(doc: Doc, words: Sequence[Token]) -> Iterator[Token]:
    """Yield first words in small letters."""
    starts = set(sentence_starts(doc, "split"))
    # the rule that finds sentences looks for a capital
    starts |= {b.i for a, b in pairwise(words) if a.text == "." and a.whitespace_}
    at = [k for k, token in enumerate(words) if token.i in starts]
    for begin, end in pairwise([*at, len(words)]):
        first, *rest = words[begin:end]
        before = words[begin - 1] if begin else None
        whole = len(rest) >= LEAST and rest[-1].text in FINAL
        whole = whole and (before is None or before.text in FINAL)
        # no item of a list, no "van Gogh", no name of a program
        plain = whole and _is_small(first) and first.is_stop
        plain = plain and (_is_small(rest[0]) or rest[0].text == "I")
        if plain and not CALL.search(doc[first.i : rest[-1].i + 1].text):
            yield first


def _is_small(token: Token) -> bool:
    return bool(token.is_lower and token.is_alpha)
