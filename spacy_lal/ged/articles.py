"""English "a" or "an", by the sound with which the next word begins."""

import re
from itertools import pairwise

ARTICLES = {"a", "an"}
VOWEL = re.compile(
    # letters that are read as letters: an NGO, an X-ray, but a NATO member
    r"[FHLMNRSX](?![a-zAEIOU])"
    # consonants in letters of vowels: a one-way street, a union, a UN report, a user
    r"|(?!U[A-Z])(?!(?i:one(?!r)|once|eu|ewe|uni(?![nmd])|us[aeu]|ut[aeio]|ur[aei]n|ubi|ufo|uk))"
    r"(?i:[aeiouàáâäåæèéêëìíîïòóôöøùúûü])"
    r"|(?i:hour|honest|honou?r|heir)"
    r"|8|11(?!\d)|18(?!\d)"
)
"""Matches words that begin with a vowel when they are spoken."""


def with_articles(text: str, after: str = "") -> str:
    """Return the text with the form of every "a" and "an" that suits the word behind it.
    after: the word behind the text, "" for none."""
    words = text.split(" ")
    for i, (word, behind) in enumerate(pairwise([*words, after])):
        if word.lower() in ARTICLES and behind:
            words[i] = word[0] + "n" * bool(VOWEL.match(behind))
    return " ".join(words)
