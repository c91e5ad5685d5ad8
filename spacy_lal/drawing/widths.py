"""Widths of drawn text in Helvetica and Arial, which agree; other fonts come close. Where all
characters are known, pictures state the width (`textLength`), which fits other fonts."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

_WIDTHS: dict[str, int] = {}
for _width, _characters in {
    191: "'",
    222: "ijl",
    260: "|",
    278: " !,./:;I[\\]ft",
    333: "()-`r‘’›‹",
    334: "{}",
    355: '"',
    389: "*",
    469: "^",
    500: "Jcksvxyz“”",
    556: "#$0123456789?L_abdeghnopqu–",
    584: "+<=>~",
    611: "FTZ",
    667: "&ABEKPSVXY",
    722: "CDHNRUw",
    778: "GOQ",
    833: "Mm",
    889: "%",
    944: "W",
    1000: "…—",
    1015: "@",
}.items():
    _WIDTHS.update(dict.fromkeys(_characters, _width))
"""Widths in Helvetica and Arial, in thousandths of the font's size."""

BOLD = 1.09
"""Width of bold text, in widths of normal text."""


@lru_cache(maxsize=4096)
def _thousandths(character: str) -> int:
    if character in _WIDTHS:
        return _WIDTHS[character]
    category = unicodedata.category(character)
    if category in ("Mn", "Me", "Cf", "Cc") or unicodedata.combining(character):
        return 0
    base = unicodedata.normalize("NFD", character)[0]
    if base in _WIDTHS:
        return _WIDTHS[base]
    if unicodedata.east_asian_width(character) in "WF":
        return 1250 if category == "So" else 1000  # pictographs are wider than letters
    return 720 if category == "Lu" else 640


def known(text: str) -> bool:
    """Return whether the width of every character is known."""
    return all(character in _WIDTHS for character in text)


def width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of text, in the unit of the font's `size`."""
    total = sum(map(_thousandths, text)) * size / 1000
    return total * BOLD if bold else total


def right_to_left(text: str) -> bool:
    """Return whether most letters are of right-to-left scripts."""
    kinds = [unicodedata.bidirectional(character) for character in text]
    return sum(kind in ("R", "AL") for kind in kinds) > kinds.count("L")


def shortened(word: str, length: int = 40) -> str:
    """Return the word, cut to this number of characters."""
    return word if len(word) <= length else word[: length - 1] + "…"


def columns(text: str) -> int:
    """Return the columns of a terminal for text: East Asian wide characters two, accents none."""
    return len(text) if text.isascii() else sum(map(character_columns, text))


def character_columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Cf", "Me", "Mn"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
