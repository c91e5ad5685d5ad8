"""`lal_list_items`: sentence starts at items of lists, at headings, at lines of quoted mail and, in
English, behind abbreviations. A component that finds sentences behind it keeps them."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy
from spacy.attrs import SENT_START
from spacy.language import Language
from spacy.tokens import Doc

from .abbreviations import sentence_starts_behind

_MARKERS = {
    "quote": r"(?:>\s?)*>(?=\s|[^\W\d_])",
    "heading": r"#{2,6}(?=\s)|#(?=\s+[^\Wa-zß-ÿ_])",
    "bullet": r"[•‣▪▸►◦●○■□☐☑☒✓✔✗✘➢➤❖⁃∙]",
    "box": r"\[[ xX✓]?\](?=\s)",
    "dash": r"[-–—](?=\s|[^\W\d])",
    "star": r"[*+·](?=\s)",
    "number": r"\(?(?P<number>\d{1,3})(?:[.)\]]|:(?=\s))(?=\s|[^\W\d])",
    "section": r"\d{1,2}(?:\.\d{1,2}){1,3}\.?(?=\s+[A-Z])",
    "letter": r"\(?(?P<letter>[A-Za-z])[.)](?=\s)",
    "roman": r"\(?(?P<roman>[ivx]{1,5}|[IVX]{1,5})[.)](?=\s)",
}
_MARKER = {kind: re.compile(rf"(?:{rule})(?=\s*\S)") for kind, rule in _MARKERS.items()}
_ALONE = {"quote", "heading", "bullet"}
"""Kinds of markers that need no second one."""
_ROMAN = ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv"]
_OPEN = frozenset({"a", "an", "is", "than", "that", "the", "their", "this", "to", "was", "were"})
"""Words that no sentence ends with, but an item may begin with."""
_JOINS = _OPEN | {
    *("and", "as", "at", "but", "by", "for", "from", "in", "into", "of", "on", "or"),
    *("which", "who", "with"),
}
"""Words that join two lines of one sentence, if the first ends or the second begins with one."""
_MOST_WORDS = 8
_NEAR = 6
"""Lines between two items of one list without numbers, at most."""
_WIDE = 25
"""Characters of a line that prose may be wrapped after."""
_NARROWEST = 16
"""Characters of a line below which nobody wraps prose."""


class _Line(NamedTuple):
    """A line of a text with a word in it.

    text: without whitespace around it. words: indices of its tokens that aren't whitespace. blank:
    whether a blank line is before it.
    """

    text: str
    words: list[int]
    blank: bool

    @property
    def ends(self) -> bool:
        """Whether a sentence may end with the line."""
        return self.text[-1] not in ",;-–—&/(" and self._word(-1).lower() not in _JOINS

    @property
    def begins(self) -> bool:
        """Whether a sentence may begin with the line."""
        first = self.text.lstrip("\"'“‘([*_")[:1]
        joins = self._word(0).lower() in _JOINS - _OPEN
        return (first.isupper() or first.isdecimal()) and not joins

    @property
    def closed(self) -> bool:
        """Whether the line ends with a mark that ends a sentence."""
        return self.text.rstrip("\"'”’)]*_")[-1:] in {".", "!", "?", "…"}

    @property
    def short(self) -> bool:
        return len(self.text.split()) <= _MOST_WORDS

    def _word(self, at: int) -> str:
        return self.text.split()[at]


@dataclass(frozen=True)
class _Item:
    """The marker that a line begins with: its kind, its length, its place in a sequence or None."""

    kind: str
    length: int
    place: int | None = None


def set_list_items(doc: Doc) -> Doc:
    """Set a sentence start at each item of a list, each heading, each line of quoted mail and, in
    English, where a sentence ends with an abbreviation. Returns the Doc.

    Markers such as "-" or "2." stay with their items. Elsewhere nothing is set: what finds
    sentences behind it, such as spaCy's `senter`, decides there, and also whether an item has two
    sentences. Lines without markers count as items only if they are short and can't be wrapped
    prose. A Doc with sentence boundaries stays as it is.
    """
    if doc.has_annotation("SENT_START"):
        return doc
    values: Any = numpy.zeros(len(doc), dtype="int64")
    lines = _lines(doc)
    if len(lines) > 1:
        _start_items(doc, values, lines)
    if doc.lang_ == "en":
        starts = set(sentence_starts_behind(doc.text))
        for token in doc if starts else ():
            if token.idx in starts and not token.is_space and not values[token.i]:
                _start(doc, values, token.i)
    if values.any():
        doc.from_array([SENT_START], values.view("uint64"))
    return doc


def _start_items(doc: Doc, values: numpy.ndarray, lines: Sequence[_Line]) -> None:
    """Let a sentence start at each item, heading and line of quoted mail."""
    items = _items(lines)
    for number in sorted({*_starts(lines, items), *_plain_items(lines, items)}):
        _start(doc, values, lines[number].words[0])
    for line, item in zip(lines, items, strict=True):
        if item is not None:  # the marker's other tokens, and its first word
            end = doc[line.words[0]].idx + item.length
            inside = [i for i in line.words[1:] if doc[i].idx < end]
            values[inside] = -1
            values[line.words[len(inside) + 1 :][:1]] = -1


def _start(doc: Doc, values: numpy.ndarray, at: int) -> None:
    """Let a sentence start at a token; whitespace before it belongs to the sentence before."""
    before = at
    while before and doc[before - 1].is_space:
        before -= 1
        values[before] = -1
    if before:
        values[at] = 1
    else:
        values[: at + 1] = [1, *[-1] * at]  # a Doc's first sentence has its whitespace


def _lines(doc: Doc) -> list[_Line]:
    """Return the lines of a Doc that have words."""
    whole = doc.text
    lines: list[_Line] = []
    words: list[int] = []
    breaks = 0
    for token in doc:
        if not token.is_space:
            words.append(token.i)
        if token.i + 1 == len(doc) or (token.is_space and _breaks(token.text)):
            if words:
                text = whole[doc[words[0]].idx : doc[words[-1]].idx + len(doc[words[-1]])]
                lines.append(_Line(text, words, breaks > 1))
                words, breaks = [], 0
            breaks += _breaks(token.text) if token.is_space else 0
    return lines


def _breaks(text: str) -> int:
    return len(text.replace("\r\n", "\n").replace("\r", "\n").split("\n")) - 1


def _items(lines: Sequence[_Line]) -> list[_Item | None]:
    """Return the marker of each line, or None for a line without one. Prose may be wrapped before a
    hyphen or a number. These count only if another line has the like, or as a heading."""
    read = [list(_read_markers(line.text)) for line in lines]
    items: list[_Item | None] = [None] * len(lines)
    for kind in _MARKERS:
        found = [
            (k, item)
            for k, each in enumerate(read)
            for item in each
            if item.kind == kind and items[k] is None and not _wrapped(lines, k, item)
        ]
        for at, (k, item) in enumerate(found):
            others = [found[n] for n in (at - 1, at + 1) if 0 <= n < len(found)]
            if kind in _ALONE or any(_alike(item, o, abs(k - n)) for n, o in others):
                items[k] = item
    for k, line in enumerate(lines):
        alone = (k == 0 or line.blank) and (k + 1 == len(lines) or lines[k + 1].blank)
        if items[k] is None and read[k] and alone and line.short:
            items[k] = read[k][0]  # a numbered heading
    return items


def _wrapped(lines: Sequence[_Line], k: int, item: _Item) -> bool:
    """Whether a hyphen or ">" at the beginning of a line is rather one within a sentence."""
    line, before, around = lines[k], lines[k - 1], [*lines[k - 1 : k], *lines[k + 1 : k + 2]]
    if k == 0 or line.blank or before.closed or before.text.endswith(":"):
        return False
    if item.kind == "quote":
        return not any(other.text[0] == ">" for other in around)
    if item.kind not in {"dash", "star"} or any(_read_markers(before.text)):
        return False
    if not line.text[item.length].isspace():
        return not any(other.text[0] == line.text[0] for other in around)
    small = line.text[item.length :].lstrip()[0].islower()
    return small and (len(before.text) >= _WIDE or line.text[0] in "–—")


def _read_markers(text: str) -> Iterator[_Item]:
    """Yield the readings of a line's first characters as a marker."""
    for kind, marker in _MARKER.items():
        match = marker.match(text)
        if match is None:
            continue
        place = None
        if kind == "number":
            place = int(match["number"])
        elif kind == "letter":
            place = ord(match["letter"])
        elif kind == "roman":
            roman = match["roman"].lower()
            place = _ROMAN.index(roman) if roman in _ROMAN else -9
        yield _Item(kind, match.end(), place)


def _alike(item: _Item, other: _Item, apart: int) -> bool:
    """Whether two markers are of one list: near each other, or numbers one after the other."""
    if item.place is None or other.place is None:
        return apart <= _NEAR
    return abs(item.place - other.place) == 1


def _starts(lines: Sequence[_Line], items: Sequence[_Item | None]) -> Iterator[int]:
    """Yield the lines with markers, those after headings, quotes and one-line paragraphs."""
    for k, (line, item) in enumerate(zip(lines, items, strict=True)):
        if item is not None:
            yield k
        elif k:
            marked = items[k - 1]
            behind = marked is not None and marked.kind in {"quote", "heading"}
            if behind or (line.blank and line.begins and _is_heading(lines, k - 1, marked)):
                yield k


def _is_heading(lines: Sequence[_Line], k: int, marked: _Item | None) -> bool:
    """Whether a paragraph is one short line, in no text that has a blank line after each line."""
    line, rest = lines[k], lines[k + 2 : k + 3]
    spaced = any(other.blank and other.text[0].islower() for other in rest)
    alone = k == 0 or line.blank
    begins = marked is not None or (alone and line.begins)
    return line.short and line.ends and begins and not spaced


def _plain_items(lines: Sequence[_Line], items: Sequence[_Item | None]) -> Iterator[int]:
    """Yield lines of lists without markers: runs of short lines that aren't wrapped prose."""
    run: list[int] = []
    for k in range(len(lines) + 1):
        colon = bool(run) and lines[run[-1]].text.endswith(":")
        if k == len(lines) or lines[k].blank or items[k] is not None or colon:
            if _is_list([lines[n] for n in run], after_colon=_after_colon(lines, run)):
                yield from run
            run = []
        if k < len(lines) and items[k] is None:
            run.append(k)


def _after_colon(lines: Sequence[_Line], run: Sequence[int]) -> bool:
    return bool(run) and run[0] > 0 and lines[run[0] - 1].text.endswith(":")


def _is_list(lines: Sequence[_Line], *, after_colon: bool) -> bool:
    """Whether neighbouring lines are items: none that a sentence runs over, and none that a word of
    the next line would have fitted into, as in wrapped prose."""
    if len(lines) < (2 if after_colon else 3) or not all(line.short for line in lines):
        return False
    if not all(line.ends for line in lines[:-1]):
        return False
    widest = max(len(line.text) for line in lines)
    room = any(
        len(line.text) + 1 + len(other.text.split()[0]) <= widest for line, other in pairwise(lines)
    )
    if widest >= _NARROWEST and not room:
        return False
    if all(line.begins for line in lines):
        return True
    return all(
        len(line.text.split()) <= 3
        and not line.closed
        and line.text[0].isalnum()
        and line.text.split()[0].lower() not in _JOINS
        for line in lines
    )


@Language.factory("lal_list_items", assigns=["token.is_sent_start"], retokenizes=False)
def make_list_items(nlp: Language, name: str) -> Callable[[Doc], Doc]:
    """The component `lal_list_items`, to be put before a component that finds sentences."""
    return set_list_items
