"""English sentences that end with an abbreviation, as in "It is 5 p.m. She is here."."""

import re
from collections.abc import Iterator

_TIME = "[ap]\\.m  [AP]\\.M"
_LAST = """
U\\.S  U\\.K  U\\.S\\.A  U\\.N  D\\.C  B\\.C  A\\.D  Ph\\.D  [BM]\\.A  M\\.D  [JS]r
Inc  Corp  Co  Ltd  Bros  etc  al  Ave  Blvd  Jan  Feb  Aug  Sept  Oct  Nov  Dec
Calif  Conn  Fla  Ga  Ill  Mass  Mich  Minn  Pa  Tex  Va  Wash  Wis  N\\.C  N\\.H  N\\.J  N\\.Y"""
"""What a sentence may end with, but for the last full stop."""
_FIRST = """
This That These Those There I You He She It We They My Your His Her Its Our Their
What When Where Who Why How If Please"""
"""Words in capitals that hardly ever stand within a sentence."""
_BEFORE_SMALL = """
A An All And As At But By For From In On One Or Many Most No Not So Some To With
After Although Before Because Both During Each Since Then Under While Yet"""
"""The same before a small letter: in a title the next word, too, has a capital."""


def _of(words: str) -> str:
    return f"(?:{'|'.join(words.split())})"


_BEGIN = rf"{_of(_FIRST)}\b|{_of('The ' + _BEFORE_SMALL)}\s[a-z]"
_BOUNDARY = re.compile(
    rf"(?<!\w)(?:{_of(_TIME)}\.\s+(?=[\"“]?(?:{_BEGIN}))|{_of(_LAST)}\.\s+(?=[\"“]?(?:The\b|{_BEGIN})))"
)


def sentence_starts_behind(text: str) -> Iterator[int]:
    """Yield the places of characters where a sentence starts behind an abbreviation, as is almost
    certain: before "She" and the like. Other words may go on: "the U.S. Senate", "5 p.m. Monday",
    "10 a.m. The Times".
    """
    return (match.end() for match in _BOUNDARY.finditer(text))
