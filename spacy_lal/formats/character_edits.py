"""Texts with edits by character, the JSON lines of BEA-2019: W&I+LOCNESS and FCE v2.1.

Each line is a text:

    {"text": "He go.", "edits": [[0, [[3, 5, "goes", "R:VERB:SVA"]]]]}

Each annotator has a number and edits in text order: start, end, correction (or null), maybe a type.
https://www.cl.cam.ac.uk/research/nl/bea2019st/
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import spacy
from pydantic import BaseModel, ConfigDict, NonNegativeInt, ValidationError
from spacy.language import Language

from ..annotations.words import WordIndex
from .files import FormatError, first_error
from .m2 import Corrections, Edit, M2Sentence
from .treebank_format import Pattern


class _Written(NamedTuple):
    start: int
    end: int
    correction: str | None
    type: str = ""


class _Text(BaseModel):
    model_config = ConfigDict(strict=True)

    text: str
    edits: list[tuple[NonNegativeInt, list[_Written]]]

    def in_order(self) -> Iterator[Edit]:
        """Yield the edits. Raises ValueError if they aren't in order, or not in the text."""
        for annotator, edits in self.edits:
            latest = 0
            for start, end, correction, type in edits:
                if not latest <= start <= end <= len(self.text):
                    raise ValueError(
                        f"the edit from {start} to {end} of annotator {annotator} isn't in order, "
                        f"or not within the text, of {len(self.text)} characters"
                    )
                latest = start
                yield Edit(start, end, type, correction, annotator)


@dataclass(frozen=True, kw_only=True)
class CharacterEdits(Corrections):
    """Texts with edits by character, JSON lines as in BEA-2019; --lang chooses the tokenizer."""

    pattern: Pattern = "*.json"

    def edited(self, text: str, source: str) -> Iterator[M2Sentence]:
        """Yield the sentences of the texts, with edits between words and the line of their text.

        Every sentence ends at a line's end at the latest. Whitespace isn't a word; a text without
        words is one empty sentence. Raises FormatError for a malformed line, or edits that are out
        of order or outside of the text.
        """
        nlp = rule_based(self.lang)
        for number, line in enumerate(text.split("\n"), start=1):
            if not line.strip():
                continue
            try:
                read = _Text.model_validate_json(line)
                edits = list(read.in_order())
                doc = nlp(read.text)  # raises ValueError for texts of a million characters
            except ValidationError as error:
                raise FormatError(first_error(error), source, number) from None
            except ValueError as error:
                raise FormatError(str(error), source, number) from None
            words = [token for token in doc if not token.is_space]
            places = [(word.idx, word.idx + len(word)) for word in words]
            spaces = [read.text[end : end + 1].isspace() for _, end in places]
            edits = token_edits(read.text, places, edits)
            before = WordIndex(doc).before
            begin = {before[t.i] for t in doc if t.is_sent_start or "\n" in t.text} - {len(words)}
            for start, end, own in _in_sentences(edits, sorted(begin) or [0], len(words)):
                yield M2Sentence(
                    words=[word.text for word in words[start:end]],
                    edits=own,
                    line=number,
                    spaces=spaces[start:end],
                )


@cache
def rule_based(lang: str) -> Language:
    """Return a pipeline that splits texts into tokens and sentences by rule."""
    nlp = spacy.blank(lang)
    nlp.add_pipe("sentencizer")
    return nlp


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
        gap = edit.start < edit.end and not text[edit.start : edit.end].strip()
        if first >= end and gap and not (correction or "").strip():
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
