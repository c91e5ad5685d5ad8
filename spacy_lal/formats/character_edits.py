"""Texts with edits by character, the JSON lines of BEA-2019: W&I+LOCNESS and FCE v2.1.

Each line is a text:

    {"text": "He go.", "edits": [[0, [[3, 5, "goes", "R:VERB:SVA"]]]]}

Each annotator has a number and edits in text order: start, end, correction (or null), maybe a type.
https://www.cl.cam.ac.uk/research/nl/bea2019st/
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc, Token

from .files import FormatError, read_text
from .m2 import Corrections, Edit, M2Sentence
from .treebank_format import Pattern


@dataclass(frozen=True, kw_only=True)
class CharacterEdits(Corrections):
    """Texts with edits by character, JSON lines as in BEA-2019; --lang finds their words."""

    pattern: Pattern = "*.json"

    def edited(self, path: Path) -> Iterator[M2Sentence]:
        return read_character_edits(path, rule_based(self.lang))


@cache
def rule_based(lang: str) -> Language:
    """Return a pipeline that splits texts into tokens and sentences by rule."""
    nlp = spacy.blank(lang)
    nlp.add_pipe("sentencizer")
    return nlp


def read_character_edits(path: str | Path, nlp: Language) -> Iterator[M2Sentence]:
    """Yield the sentences of a file, plain or compressed."""
    return parse_character_edits(read_text(path), nlp, source=str(path))


def parse_character_edits(
    text: str, nlp: Language, *, source: str = "<string>"
) -> Iterator[M2Sentence]:
    """Yield the sentences of the texts, with edits between words and the line of their text.

    nlp: a pipeline that finds tokens and sentences. Every sentence ends at a line's end at the
    latest. Whitespace isn't a word; a text without words is one empty sentence.
    Raises FormatError for a malformed line, or edits that are out of order or outside of the text.
    """
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            written, edits, annotators = _checked(json.loads(line))
            doc = nlp(
                written
            )  # raises ValueError for half a surrogate pair and for texts of a million characters
        except json.JSONDecodeError as error:
            message = f"not JSON: {error.msg} at character {error.pos + 1}"
            raise FormatError(message, source, number) from None
        except RecursionError:
            raise FormatError("too many lists within lists", source, number) from None
        except ValueError as error:
            raise FormatError(str(error), source, number) from None
        words = [token for token in doc if not token.is_space]
        places = [(token.idx, token.idx + len(token)) for token in words]
        edits = token_edits(written, places, edits)
        for start, end, own in _in_sentences(edits, _sentence_starts(doc), len(words)):
            yield M2Sentence(
                words=[token.text for token in words[start:end]],
                edits=own,
                source=source,
                line=number,
                annotators=annotators,
                spaces=[_space_after(token) for token in words[start:end]],
            )


def token_edits(text: str, places: Sequence[tuple[int, int]], edits: Sequence[Edit]) -> list[Edit]:
    """Convert edits between characters to edits between tokens.

    places: start and end of each token in characters.
    An edit covers all tokens that it overlaps; their remaining characters become part of the
    correction. An edit that overlaps no token inserts before the first token at or after its start.
    An edit that only removes whitespace joins two tokens, or is dropped if they don't join.
    """
    starts = [start for start, _ in places]
    ends = [end for _, end in places]
    found = []
    for edit in edits:
        first = bisect_right(ends, edit.start)  # the first token that ends after the edit starts
        end = bisect_left(starts, edit.end)  # the first that doesn't start before the edit ends
        correction = edit.correction
        if first >= end and _is_gap(text, edit) and not (correction or "").strip():
            if not 0 < first < len(places):
                continue
            left, right = places[first - 1], places[first]
            if text[left[1] : edit.start] + (correction or "") + text[edit.end : right[0]]:
                continue  # they stay apart
            joined = text[slice(*left)] + text[slice(*right)]
            found.append(edit._replace(start=first - 1, end=first + 1, correction=joined))
            continue
        if first >= end:
            first = end = bisect_left(starts, edit.start)
        elif correction is not None:
            before = text[starts[first] : edit.start]
            correction = before + correction + text[edit.end : ends[end - 1]]
        found.append(edit._replace(start=first, end=end, correction=correction))
    return found


def _is_gap(text: str, edit: Edit) -> bool:
    return edit.start < edit.end and not text[edit.start : edit.end].strip()


def _checked(record: Any) -> tuple[str, list[Edit], frozenset[int]]:
    """Return the text, edits and annotators of a record. Raises ValueError if malformed."""
    if not isinstance(record, dict) or not isinstance(record.get("text"), str):
        raise ValueError('expected a JSON object with "text", a string')
    if not isinstance(record.get("edits"), list):
        raise ValueError('expected a JSON object with "edits", a list')
    text: str = record["text"]
    edits: list[Edit] = []
    annotators = set()
    for by_one in record["edits"]:
        match by_one:
            case [annotator, list(found)] if type(annotator) is int and annotator >= 0:
                annotators.add(annotator)
                edits += _in_order(text, annotator, found)
            case _:
                expected = "expected the number of an annotator and a list of edits"
                raise ValueError(f"{expected}, found {_short(by_one)}")
    return text, edits, frozenset(annotators)


def _in_order(text: str, annotator: int, found: list[Any]) -> Iterator[Edit]:
    latest = 0
    for edit in found:
        match edit:
            case [start, end, str() | None as correction, *types] if (
                type(start) is type(end) is int  # excludes true and false
                and len(types) < 2
                and all(isinstance(name, str) for name in types)
            ):
                pass
            case _:
                expected = "expected [start, end, correction], perhaps with a type"
                raise ValueError(f"bad edit {_short(edit)}: {expected}")
        if not 0 <= start <= end <= len(text):
            length = f"{len(text)} characters"
            raise ValueError(f"the edit {_short(edit)} lies outside of the text, of {length}")
        if start < latest:
            later = f"comes after one that starts at {latest}"
            raise ValueError(f"the edit {_short(edit)} {later}: edits must be in order")
        latest = start
        "".join(types).encode()  # fails for half a surrogate pair, which spaCy couldn't keep
        yield Edit(start, end, "".join(types), correction, annotator)


def _short(value: Any) -> str:
    return json.dumps(value)[:60]


def _sentence_starts(doc: Doc) -> list[int]:
    """Return the indices of sentence-initial words, not counting whitespace; [0] without words."""
    starts = []
    words = 0
    begins = True
    for token in doc:
        begins |= bool(token.is_sent_start) or "\n" in token.text
        if not token.is_space:
            if begins:
                starts.append(words)
            words += 1
            begins = False
    return starts or [0]


def _in_sentences(
    edits: Sequence[Edit], starts: Sequence[int], length: int
) -> Iterator[tuple[int, int, list[Edit]]]:
    """Yield each sentence's start and end, and its edits, counted from its start. A word missing
    between two sentences is missing before the second, as in the published labels of the FCE. An
    edit of several sentences is one in each, without a correction."""
    own: list[list[Edit]] = [[] for _ in starts]
    ends = [*starts[1:], length]
    for edit in edits:
        first = bisect_right(starts, edit.start) - 1
        last = max(first, bisect_left(starts, edit.end) - 1)
        for i in range(first, last + 1):
            own[i].append(
                edit._replace(
                    start=max(edit.start, starts[i]) - starts[i],
                    end=min(edit.end, ends[i]) - starts[i],
                    correction=edit.correction if first == last else None,
                )
            )
    yield from zip(starts, ends, own, strict=True)


def _space_after(token: Token) -> bool:
    return bool(token.whitespace_) or (token.i + 1 < len(token.doc) and token.nbor().is_space)
