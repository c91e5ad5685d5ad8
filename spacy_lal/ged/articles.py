"""English "a" or "an", by the sound with which the next word begins."""

import re
from itertools import pairwise

from spacy.tokens import Doc

ARTICLES = {"a", "an"}
"""Forms of the article whose choice depends on the next word."""
VOWEL = re.compile(
    # letters that are read one by one: an NGO, an X-ray, an EU member
    r"[FHLMNRSX](?![A-Za-z])|[FHLMNRSX][B-DF-HJ-NP-TV-Z][A-Z]?(?![A-Za-z])|x-|EU\b"
    # no vowels: a one-way street, a union, a UN report, a user
    r"|(?!U(?![a-z])[A-Z.-]{1,3}(?!\w)|(?i:one(?!r)|once|eu|ewe|una[nm]im|uni(?![nmd])|us[aeu]"
    r"|ut[aeio]|ur[aei]n|uru|ubi|uf|ug[ao]n|uk|uy)|U(?!\w))"
    r"(?i:[aeiouàáâäåæèéêëìíîïòóôöøùúûü])"
    r"|(?i:hour|honest|honou?r|heir)"
    r"|8|1[18](?!\d)|18\d\d(?!\d)"
)
"""Matches words that begin with a vowel when they are spoken."""
UNSURE = re.compile(r"[^\w]|[FHLMNRSX][A-Z]+\b")
"""Matches where it isn't clear: signs; a NATO member, but an SUV; a MAN, but an MP."""


def begins_with_vowel(word: str) -> bool | None:
    """Whether a word begins with a vowel when it is spoken; None if that isn't clear."""
    vowel = VOWEL.match(word) is not None
    return None if not vowel and UNSURE.match(word) else vowel


def with_articles(text: str, after: str) -> str:
    """Return the text with the form of every "a" and "an" that suits the word behind it, if that is
    clear. after: the word behind the text, "" for none."""
    words = text.split(" ")
    for i, (word, behind) in enumerate(pairwise([*words, after])):
        if word.lower() in ARTICLES and behind:
            vowel = begins_with_vowel(behind)
            if vowel is not None:
                end = ("N" if word == "AN" else "n") if vowel else ""
                words[i] = word[0] + end
    return " ".join(words)


def article_forms(doc: Doc) -> dict[int, str]:
    """Return the right form of every "a" and "an" before a word for which it is clear."""
    forms: dict[int, str] = {}
    for token in doc[:-1]:
        # no "vitamin A is", no names of variables, no "a a"
        begins = token.i == 0 or token.is_sent_start or token.is_lower
        if begins and token.lower_ in ARTICLES and token.whitespace_:
            behind = token.nbor().text
            if (behind.isupper() or len(behind) > 2) and begins_with_vowel(behind) is not None:
                forms[token.i] = with_articles(token.text, behind)
    return forms
