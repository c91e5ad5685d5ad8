"""English sentences that end with an abbreviation, as in "It is 5 p.m. She is here."."""

import re
from collections.abc import Iterator

_LAST = """
[ap]\\.m  [AP]\\.M  U\\.S  U\\.K  U\\.S\\.A  D\\.C  B\\.C  A\\.D  Ph\\.D  [BM]\\.A  M\\.D  [JS]r
Inc  Corp  Co  Ltd  etc  al"""
"""What a sentence may end with, but for the last full stop."""
_FIRST = """
The(?!\\s[A-Z]) This These Those There I You He She It We They My Your His Her Its Our Their
What When Where Who Why How If Please"""
"""Words in capitals that hardly ever stand within a sentence."""
_BOUNDARY = re.compile(
    rf"(?<!\w)(?:{'|'.join(_LAST.split())})\.\s+(?=(?:{'|'.join(_FIRST.split())})\b)"
)


def sentence_starts_behind(text: str) -> Iterator[int]:
    """Yield the places of characters where a sentence starts behind an abbreviation, as is almost
    certain: before "She" and the like. Other words may go on: "the U.S. Senate", "5 p.m. Monday".
    """
    return (match.end() for match in _BOUNDARY.finditer(text))
