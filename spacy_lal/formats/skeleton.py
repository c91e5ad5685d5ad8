"""PropBank skeletons (`.gold_skel`): tags, parse bits and roles, with every word masked.

A row a token, a blank line between sentences; columns between any whitespace: file, sentence,
token, [WORD], tag, parse bit, predicate lemma, roleset, and one column for each predicate.
https://github.com/propbank/propbank-release
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..annotations import FrameSpans
from ..trees.tree import ROOT_LABELS, LabelledSpan
from .files import FormatError
from .props import NO_PREDICATE, Drop, check_columns, column_rows, sentence_frames

_PARSE_BIT = re.compile(r"((?:\([^()*\s]+)*)\*(\)*)")
_FIXED = 8


@dataclass(frozen=True)
class SkeletonSentence:
    """line: where its first token is. spans: phrases in preorder, without the root.

    left_out: frames that a Doc can't hold (see `sentence_frames`). With such a frame, `frames` is
    None: with the others alone, its predicate would be taken for none.
    """

    line: int
    tags: list[str]
    spans: list[LabelledSpan]
    frames: list[FrameSpans] | None
    left_out: list[Drop] = field(default_factory=list)


def parse_skeleton(text: str, *, source: str = "<string>") -> Iterator[SkeletonSentence]:
    """The sentences of a skeleton. Raises FormatError."""
    for line, rows in column_rows(text):
        yield _sentence(rows, source, line)


def _sentence(rows: list[list[str]], source: str, line: int) -> SkeletonSentence:
    predicates = [i for i, row in enumerate(rows) if row[7:8] not in ([], [NO_PREDICATE])]
    check_columns(rows, _FIXED, len(predicates), source=source, line=line)
    spans = tree_phrases([row[5] for row in rows], source=source, line=line)
    frames, left_out = sentence_frames(
        [row[_FIXED:] for row in rows],
        ["" if row[7] == NO_PREDICATE else row[7] for row in rows],
        source=source,
        line=line,
    )
    tags = [row[4] for row in rows]
    return SkeletonSentence(line, tags, spans, None if left_out else frames, left_out)


def phrases(bits: Sequence[str], *, source: str, line: int) -> list[LabelledSpan]:
    """(start, end, label) in preorder from parse bits, `(LABEL…*…)`. Raises FormatError."""
    spans: list[LabelledSpan] = []
    opened: list[int] = []
    for i, bit in enumerate(bits):
        match = _PARSE_BIT.fullmatch(bit)
        if match is None:
            raise FormatError(
                f"bad parse bit {bit!r}: expected one such as (NP* or *)",
                source=source,
                line=line + i,
            )
        for label in match[1].split("(")[1:]:
            opened.append(len(spans))
            spans.append((i, i, label))
        if len(match[2]) > len(opened):
            raise FormatError("parse bits close more than they open", source=source, line=line + i)
        for _ in match[2]:
            start, _, label = spans[opened[-1]]
            spans[opened.pop()] = (start, i + 1, label)
    if opened:
        raise FormatError(
            f"parse bits leave {len(opened)} phrases open", source=source, line=line + len(bits) - 1
        )
    return spans


def tree_phrases(bits: Sequence[str], *, source: str, line: int) -> list[LabelledSpan]:
    """The same without the root."""
    spans = phrases(bits, source=source, line=line)
    if spans and spans[0][:2] == (0, len(bits)) and spans[0][2] in ROOT_LABELS:
        del spans[0]
    return spans
