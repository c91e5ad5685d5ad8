"""Propositions in columns: CoNLL-2005's `props` files, which srl-eval.pl compares.

A row is a token, a blank line ends a sentence. Columns between any whitespace: the predicate's
lemma, or `-`, and one column for each predicate, from top to bottom, with its roles where they
begin and end: `(A0*`, `*`, `*)`, `(V*)`.
https://www.cs.upc.edu/~srlconll/spec.html
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from spacy.tokens import Doc

from ..annotations import FRAMES_KEY, PREDICATE, FrameSpans, get_frames
from ..annotations.words import WordIndex
from ..trees.tree import ROOT_LABELS, LabelledSpan
from .files import FormatError
from .treebank_format import Drop, Format

NO_PREDICATE = "-"
"""The first column of a row without a predicate."""

_COLUMN = re.compile(r"[^ \t\r\f\v]+")  # a word may contain a no-break space
_CELL = re.compile(r"((?:\([^()*\s]+)*)\*(\)*)")
_ROLE = re.compile(r"[^()*\s]+")


class NestedRoles(FormatError):
    """Raised where one role of a well-formed column lies inside another; no frame allows this."""


@dataclass(frozen=True)
class PropsSentence:
    """The propositions of one sentence.

    length: number of tokens. frames: in order of their predicates; column 0 gives rolesets; spans
    in text order. line: line of the first row.
    """

    length: int
    frames: Sequence[FrameSpans]
    line: int = 1


@dataclass(frozen=True, kw_only=True)
class Props(Format):
    """Roles in CoNLL-2005's columns: written only, as conll05 reads them beside their words. Every
    sentence is a block of rows, a row for each token other than whitespace; a Doc without sentence
    boundaries is one block."""

    def sources(self, inputs: Sequence[Path]) -> Iterable[Path]:
        raise ValueError(f"{inputs[0]} is no .spacy file: conll05 reads props, beside their words")

    def write(self, doc: Doc) -> str:
        return format_props(doc_props(doc))


def read_props(text: str, *, source: str = "<string>") -> Iterator[PropsSentence]:
    """Yield the sentences of a props file.

    In sentences with predicates but only column 0, as in files of target verbs, frames have no
    spans. A column may lack a V, as in systems' output.
    Raises FormatError for a malformed cell, nested roles, or columns that don't match predicates.
    """
    for line, rows in column_rows(text):
        predicates = [i for i, row in enumerate(rows) if row[0] != NO_PREDICATE]
        if all(len(row) == 1 for row in rows):
            roles: list[list[LabelledSpan]] = [[] for _ in predicates]
        else:
            check_columns(rows, 1, len(predicates), source=source, line=line)
            roles = [
                column_spans(column, source=source, line=line)
                for column in list(zip(*rows, strict=True))[1:]
            ]
        frames = [
            FrameSpans(predicate, rows[predicate][0], spans)
            for predicate, spans in zip(predicates, roles, strict=True)
        ]
        yield PropsSentence(len(rows), frames, line)


def format_props(sentences: Iterable[PropsSentence]) -> str:
    """Return the text of a props file, with aligned columns.

    Raises ValueError, with the sentence (from 1) and the frame, for roles that overlap, two frames
    of one predicate, a lemma that isn't one word or is "-", or a label with brackets, asterisks or
    whitespace.
    """
    blocks = []
    for number, sentence in enumerate(sentences, start=1):
        columns = [[NO_PREDICATE] * sentence.length]
        for frame in sorted(sentence.frames, key=lambda frame: frame.predicate):
            place = f"sentence {number}: frame {frame.roleset!r} at token {frame.predicate}"
            if columns[0][frame.predicate] != NO_PREDICATE:
                raise ValueError(f"{place}: another frame has the same predicate")
            if frame.roleset == NO_PREDICATE or frame.roleset.split() != [frame.roleset]:
                raise ValueError(f"{place}: the roleset {frame.roleset!r} can't stand in column 0")
            columns[0][frame.predicate] = frame.roleset
            columns.append(_cells(frame.spans, sentence.length, place))
        widths = [max(map(len, column), default=0) for column in columns]
        for row in zip(*columns, strict=True):
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            blocks.append("  ".join(cells).rstrip() + "\n")
        blocks.append("\n")
    return "".join(blocks)


def doc_props(doc: Doc, key: str = FRAMES_KEY) -> Iterator[PropsSentence]:
    """Yield each sentence's propositions in `doc.spans[key]`; without boundaries, the Doc's.

    Whitespace tokens have no rows. Column 0 has lemmas: "give" for the roleset "give.01"; without a
    roleset the token's `lemma_`, or else its text in lower case.
    Raises ValueError if the group isn't set, for a frame of several sentences, and for a predicate
    that is whitespace.
    """
    if key not in doc.spans:
        raise ValueError(f"doc.spans[{key!r}] isn't set")
    sentences = list(doc.sents) if doc.has_annotation("SENT_START") else [doc[:]]
    starts = [sentence.start for sentence in sentences]
    word = WordIndex(doc).before
    frames: list[list[FrameSpans]] = [[] for _ in sentences]
    for frame in get_frames(doc, key):
        predicate, spans = frame.predicate, frame.spans
        place = f"frame {frame.roleset!r} at token {predicate.i}"
        if predicate.is_space:
            raise ValueError(f"{place}: its predicate is whitespace")
        i = bisect_right(starts, predicate.i) - 1
        start, end = sentences[i].start, sentences[i].end
        if any(span.start < start or span.end > end for span in spans):
            raise ValueError(f"{place}: it isn't all in one sentence")
        rows = (
            (word[span.start] - word[start], word[span.end] - word[start], span.label_)
            for span in spans
        )
        lemma = frame.lemma or predicate.lower_
        frames[i].append(
            FrameSpans(
                word[predicate.i] - word[start],
                lemma,
                sorted(span for span in rows if span[0] < span[1]),
            )
        )
    for sentence, found in zip(sentences, frames, strict=True):
        if length := word[sentence.end] - word[sentence.start]:
            yield PropsSentence(length, sorted(found, key=lambda frame: frame.predicate))


# Shared by formats with such columns


def column_rows(text: str) -> Iterator[tuple[int, list[list[str]]]]:
    """Yield the first line of each sentence, and its rows of columns between whitespace."""
    rows: list[list[str]] = []
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        if columns := _COLUMN.findall(line):
            rows.append(columns)
        elif rows:
            yield number - len(rows), rows
            rows = []


def check_columns(
    rows: Sequence[Sequence[str]], fixed: int, predicates: int, *, source: str, line: int
) -> None:
    """Raise FormatError unless every row has `fixed` columns and one for each predicate."""
    for i, row in enumerate(rows):
        if len(row) != fixed + predicates:
            columns = "1 column" if fixed == 1 else f"{fixed} columns"
            expected = f"expected {columns} and one for each of {predicates} predicates"
            raise FormatError(f"{expected}, found {len(row)}", source, line + i)


def tree_phrases(bits: Sequence[str], *, source: str, line: int) -> list[LabelledSpan]:
    """Return phrases in preorder, without the root, from parse bits `(LABEL…*…)`. Raises
    FormatError."""
    spans = _bracketed(bits, "phrase", source, line)
    if spans and spans[0][:2] == (0, len(bits)) and spans[0][2] in ROOT_LABELS:
        del spans[0]
    return spans


def column_spans(cells: Sequence[str], *, source: str, line: int) -> list[LabelledSpan]:
    """Return the spans of one predicate's roles in text order. Raises FormatError for a malformed
    column, NestedRoles for a role within a role."""
    return _bracketed(cells, "role", source, line)


def _bracketed(cells: Sequence[str], kind: str, source: str, line: int) -> list[LabelledSpan]:
    """Return the spans in preorder. kind: phrases may be nested, roles may not."""
    spans: list[LabelledSpan] = []
    opened: list[int] = []
    for i, cell in enumerate(cells):
        match = _CELL.fullmatch(cell)
        if match is None:
            message = f"bad {kind} {cell!r}: expected one such as (NP*, * or *)"
            raise FormatError(message, source, line + i)
        for label in match[1].split("(")[1:]:
            if opened and kind == "role":
                raise NestedRoles("a role within a role", source, line + i)
            opened.append(len(spans))
            spans.append((i, i, label))
        for _ in match[2]:
            if not opened:
                raise FormatError(f"a {kind} ends without a beginning", source, line + i)
            start, _, label = spans[opened[-1]]
            spans[opened.pop()] = (start, i + 1, label)
    if opened:
        message = f"{kind} {spans[opened[-1]][2]} never ends"
        raise FormatError(message, source, line + len(cells) - 1)
    return spans


def sentence_frames(
    rows: Sequence[Sequence[str]], rolesets: Sequence[str], *, source: str, line: int
) -> tuple[list[FrameSpans] | None, list[Drop]]:
    """Return the frames, and left-out frames, which a Doc can't hold, with reasons.

    If any is left out, the frames are None; else its predicate would count as no predicate.
    rows: each token's role columns. rolesets: each token's, "" for no predicate.
    Left out are columns with nested roles, without exactly one V, or with a V (or C-V) away from
    their predicate. Raises FormatError for a malformed column.
    """
    frames: list[FrameSpans] = []
    left_out: list[Drop] = []
    predicates = (i for i, roleset in enumerate(rolesets) if roleset)
    for predicate, cells in zip(predicates, zip(*rows, strict=True), strict=True):
        try:
            spans = column_spans(cells, source=source, line=line)
        except NestedRoles as error:
            left_out.append((f"{source}:{error.line}", error.message))
            continue
        if fault := _fault(predicate, spans):
            left_out.append((f"{source}:{line + predicate}", fault))
        else:
            frames.append(FrameSpans(predicate, rolesets[predicate], spans))
    return None if left_out else frames, left_out


def _fault(predicate: int, spans: Sequence[LabelledSpan]) -> str:
    verbs = sum(label == PREDICATE for _, _, label in spans)
    if verbs != 1:
        return f"{verbs} spans labelled {PREDICATE}"
    at = {label for start, end, label in spans if start <= predicate < end}
    return "" if at & {PREDICATE, f"C-{PREDICATE}"} else f"its predicate isn't labelled {PREDICATE}"


def _cells(spans: Sequence[LabelledSpan], length: int, place: str) -> list[str]:
    cells = ["*"] * length
    latest = 0
    for start, end, label in sorted(spans):
        if start < latest:
            raise ValueError(f"{place}: {label} from {start} to {end} overlaps another role")
        if not _ROLE.fullmatch(label):
            raise ValueError(f"{place}: bad role {label!r}: it can't be written in a column")
        cells[start] = f"({label}*"
        cells[end - 1] += ")"
        latest = end
    return cells
