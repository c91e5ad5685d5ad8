"""English words with a small letter where a capital must stand, or with a capital that is wrong."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from spacy.tokens import Doc, Token

from .code import CODE

FINAL = {".", "?", "!"}
"""Tokens that end a sentence."""
LEAST = 4
"""A sentence of more tokens than that must begin with a capital."""
PROGRAMS = {"less", "make", "top"}
"""Stop words of spaCy that are also names of programs."""
_ABBREVIATED = (
    "al approx avg cit dept ed eds eq est etc fig ft govt in incl lbs max min misc no sec vs"
)
ABBREVIATED = frozenset(_ABBREVIATED.split())
"""Words before a dot that needn't end a sentence."""
_NAMES = """
monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays
fridays saturdays sundays january february april june july september october november december
christmas africa african america american americans arabic asia asian australia australian austria
brazil brazilian britain british bulgarian canada canadian czech dutch egypt egyptian england
english europe european finnish france french german germany greece greek hungarian iceland
icelandic india indian indonesia indonesian iran iraq ireland irish israel italian italy japan
japanese korea korean london malaysia mexican mexico moscow norway norwegian paris poland portugal
portuguese romanian russia russian russians scotland scottish spain spanish sweden swedish swiss
switzerland taiwan thai thailand ukraine ukrainian vietnam vietnamese facebook
"""
NAMES = frozenset(_NAMES.split())
"""Names, and words made of names, that are no other words: no "turkey", "march" or "polish"."""
_THINGS = (
    "bread cheese door doors fries horn ink kiss nut nuts numerals oven press toast window windows"
)
THINGS = frozenset(_THINGS.split())
"""Words before which a name may have a small letter: "french fries"."""
_PLAIN = "the they it this these she we because there are was were but that"
SMALL = frozenset(_PLAIN.split())
"""Words that have a capital next to never between small words: "He" may be God, or helium."""


def with_right_capitals(doc: Doc, starts: Sequence[int]) -> dict[int, str]:
    """Return what should stand in the place of tokens: a capital at the start of a sentence that
    ends as one, and of names; a small letter in plain words between small ones. starts: where
    sentences begin."""
    words = [token for token in doc if not token.is_space]
    begins = set(starts)
    found = {token.i: token.text.capitalize() for token in _small_starts(doc, words, begins)}
    found |= {token.i: token.text.capitalize() for token in words if _is_small_name(token)}
    for last, token, following in zip(words, words[1:], words[2:], strict=False):
        between = (_is_small(last) or last.text == ",") and _is_small(following)
        apart = token.i > last.i + 1 or token.i in begins
        if between and token.is_title and token.lower_ in SMALL and not apart:
            found[token.i] = token.lower_
    return found


def _is_small_name(token: Token) -> bool:
    """Whether a name has a small letter, and stands for itself: no "#london", "french fries"."""
    if token.text not in NAMES:
        return False
    before, behind = token.doc[max(0, token.i - 2) : token.i], token.doc[token.i + 1 :][:1]
    joined = before and not before[-1].whitespace_ and not before[-1].is_alpha
    if joined and not (before[-1].is_quote or before[-1].is_bracket or before[-1].is_space):
        return False
    return behind.text not in THINGS and before.text.lower() not in {"plaster of", "gum"}


def _small_starts(doc: Doc, words: Sequence[Token], starts: set[int]) -> Iterator[Token]:
    """Yield first words in small letters."""
    # the rule that finds sentences looks for a capital
    ends = ((a, dot, b) for a, dot, b in zip(words, words[1:], words[2:], strict=False))
    starts = starts | {
        b.i
        for a, dot, b in ends
        if dot.text == "." and dot.whitespace_ and _is_small(a) and a.text not in ABBREVIATED
    }
    at = [k for k, token in enumerate(words) if token.i in starts]
    for begin, end in pairwise([*at, len(words)]):
        first, *rest = words[begin:end]
        before = words[begin - 1] if begin else None
        whole = len(rest) >= LEAST and rest[-1].text in FINAL
        whole = whole and (before is None or before.text in FINAL)
        # no item of a list, no "van Gogh", no name of a program
        plain = whole and _is_small(first) and first.is_stop and first.text not in PROGRAMS
        plain = plain and (_is_small(rest[0]) or rest[0].text == "I")
        if plain and not CODE.search(doc[first.i : rest[-1].i + 1].text):
            yield first


def _is_small(token: Token) -> bool:
    return bool(token.is_lower and token.is_alpha)
