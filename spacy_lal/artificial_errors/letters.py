"""Misspellings by letters: one word in, another one out.

A word's first letter stays, as it is seldom the wrong one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from random import Random

from .error_model import DOUBLE, OMIT, SUBSTITUTE, TRANSPOSE, Weights

VOWELS = frozenset("aeiouyäöüáéíóúýěůàèìòùâêîôûœåøæ")
"""Letters, in lower case, behind which writers double a consonant by mistake."""
SHORTEST = 4
"""Letters of the shortest word that is misspelled."""

_VARIANTS = (
    # of "colour" and "favourite", not of "course", "journey" and "four"
    (re.compile(r"(?<=[a-z]{3})our(?=(s|ed|ing|ers?|ful|less|able|ites?|hood|ly)?$)"), "or"),
    (re.compile(r"is(e[sd]?|ers?|ing|ations?|ational)$"), r"iz\1"),
    (re.compile(r"([aeiou][^aeiou]+[ae])ll(ed|ing|ers?)$"), r"\1l\2"),  # not "called"
    (re.compile(r"^(focus)s(e[sd]|ing)$"), r"\1\2"),
    (re.compile(r"wards$"), "ward"),
)


def is_variant(one: str, other: str) -> bool:
    """Whether two English words differ as British and American spelling do, or by "-wards" and
    "-ward": both are right."""
    return _american(one) == _american(other)


def _american(word: str) -> str:
    word = word.lower()
    for pattern, spelling in _VARIANTS:
        word = pattern.sub(spelling, word)
    return word


def misspelled(word: str, how: str, letters: Mapping[str, Weights], rng: Random) -> str | None:
    """`word` with one thing wrong, as `how` of `LETTER_NOISE` says; None if there is no way.

    letters: what replaces what, for SUBSTITUTE.
    """
    if how == SUBSTITUTE:
        return _substituted(word, letters, rng)
    places = range(1, len(word) - (how == TRANSPOSE))
    changed = [other for place in places if (other := _changed(word, how, place)) != word]
    return rng.choice(changed) if changed else None


def _changed(word: str, how: str, place: int) -> str:
    before, letter, rest = word[:place], word[place], word[place + 1 :]
    if how == TRANSPOSE:
        return before + rest[0] + letter + rest[1:]
    if how == OMIT:
        return before + rest
    if how == DOUBLE:
        # that's where languages have double letters, and nobody writes three
        doubles = before[-1:] in VOWELS and letter not in VOWELS and rest[:1] != letter
        return before + letter + letter + rest if doubles else word
    raise ValueError(f"unknown kind of noise of letters: {how!r}")


def _substituted(word: str, letters: Mapping[str, Weights], rng: Random) -> str | None:
    found: list[str] = []
    weights: list[float] = []
    for place in range(1, len(word)):
        for length in (1, 2, 3, 4):
            old = word[place : place + length]
            if len(old) < length or old not in letters:
                continue
            for new, weight in letters[old].items():
                if new != old:
                    found.append(word[:place] + new + word[place + length :])
                    weights.append(weight)
    return rng.choices(found, weights)[0] if sum(weights) > 0 else None
