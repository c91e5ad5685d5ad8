"""Long texts in pieces, cut where it hurts least, with what comes before each piece counted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

Record = dict[str, Any]
"""A text and what is known of it: "text", "id", "offset" (its characters that come before), and the
fields that are carried through."""

MAX_CHARS = 100_000
"""Characters (code points) of a piece, some 20,000 words. spaCy itself refuses 1,000,000; a Doc and
what is found in it take kilobytes a word."""

# From the best place to the worst; a cut is behind the match, so that pieces put together are the
# text.
_PLACES = (
    re.compile(r"\n[^\S\n]*\n\s*"),
    re.compile(r"\n\s*"),
    re.compile(r"[.!?…。！？][\"'”’)\]]*(?:\s+|(?<=[。！？]))"),
    re.compile(r"\s+"),
)


def pieces(record: Record, max_chars: int = MAX_CHARS) -> Iterator[Record]:
    """The record, or, if its text is longer than `max_chars`, records of its parts.

    They have all its fields; "offset" is that of the part. Raises ValueError for less than one
    character.
    """
    if max_chars < 1:
        raise ValueError(f"max_chars must be at least 1, got {max_chars}")
    text, offset = record["text"], record.get("offset", 0)
    start = 0
    while len(text) - start > max_chars:
        end = _cut(text, start, max_chars)
        yield {**record, "text": text[start:end], "offset": offset + start}
        start = end
    yield {**record, "text": text[start:], "offset": offset + start}


def _cut(text: str, start: int, max_chars: int) -> int:
    """Behind the last paragraph of the second half of what fits; else the last line, sentence or
    word; else at full length."""
    middle, end = start + (max_chars + 1) // 2, start + max_chars
    for place in _PLACES:
        cut = 0
        for match in place.finditer(text, middle, end):
            cut = match.end()
        if cut:
            return cut
    return end
