"""Propositions in columns: CoNLL-2005's `props` files, which srl-eval.pl compares.

A row is a token, a blank line ends a sentence. Columns between any whitespace: the predicate's
lemma, or `-`, and one column for each predicate, from top to bottom, with its roles where they
begin and end: `(A0*`, `*`, `*)`, `(V*)`.
https://www.cs.upc.edu/~srlconll/spec.html
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from spacy.tokens import Doc, Span

from ..annotations.frames import FRAMES_KEY, PREDICATE, Frame, FrameSpans, get_frames
from ..trees.tree import ROOT_LABELS, LabelledSpan
from .files import FormatError, blocks
from .treebank_format import Drop, Format

NO_PREDICATE = "-"
"""The first column of a row without a predicate."""

_COLUMN = re.compile(r"[^ \t\r\f\v]+")  # a word may contain a no-break space
_CELL = re.compile(r"((?:\([^()*\s]+)*)\*(\)*)")
_ROLE = re.compile(r"[^()*\s]+")


Rows = list[list[str]]


class Columns(NamedTuple):
    """Columns of a sentence, and the place of its first row."""

    source: str
    line: int
    rows: Rows


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
        return format_props(doc)


def read_props(text: str, *, source: str = "<string>") -> Iterator[PropsSentence]:
    """Yield the sentences of a props file.

    In sentences with predicates but only column 0, as in files of target verbs, frames have no
    spans. A column may lack a V, as in systems' output.
    Raises FormatError for a malformed cell, nested roles, or columns that don't match predicates.
    """
    for columns in column_rows(text, source):
        _, line, rows = columns
        predicates = [i for i, row in enumerate(rows) if row[0] != NO_PREDICATE]
        if all(len(row) == 1 for row in rows):
            roles: list[list[LabelledSpan]] = [[] for _ in predicates]
        else:
            check_columns(columns, 1, len(predicates))
            roles = [
                column_spans(column, source=source, line=line)
                for column in list(zip(*rows, strict=True))[1:]
            ]
        frames = [
            FrameSpans(predicate, rows[predicate][0], spans)
            for predicate, spans in zip(predicates, roles, strict=True)
        ]
        yield PropsSentence(len(rows), frames, line)


def format_props(doc: Doc, key: str = FRAMES_KEY) -> str:
    """Return the propositions in `doc.spans[key]` as a props file, with aligned columns: a block
    for each sentence; without boundaries, for the Doc.

    Whitespace tokens have no rows. Column 0 has lemmas: "give" for the roleset "give.01"; without a
    roleset the token's `lemma_`, or else its text in lower case.
    Raises ValueError if the group isn't set, and for a frame that the format can't express: of
    several sentences, with overlapping roles, a predicate that is whitespace or another frame's, or
    a lemma or label that can't stand in a column.
    """
    if key not in doc.spans:
        raise ValueError(f"doc.spans[{key!r}] isn't set")
    left: dict[int, Frame] = {}
    for frame in get_frames(doc, key):
        if frame.predicate.is_space or frame.predicate.i in left:
            raise _fault_of(frame, "its predicate is whitespace, or another frame's")
        left[frame.predicate.i] = frame
    blocks = []
    for sentence in doc.sents if doc.has_annotation("SENT_START") else [doc[:]]:
        words = [token.i for token in sentence if not token.is_space]
        lemmas = [NO_PREDICATE] * len(words)
        columns = [lemmas]
        for at, word in enumerate(words):
            if found := left.get(word):
                lemma = lemmas[at] = found.lemma or found.predicate.lower_
                if lemma == NO_PREDICATE or lemma.split() != [lemma]:
                    raise _fault_of(found, f"the lemma {lemma!r} can't stand in column 0")
                columns.append(_cells(found, sentence, words))
        widths = [max(map(len, column), default=0) for column in columns]
        for row in zip(*columns, strict=True):
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            blocks.append("  ".join(cells).rstrip() + "\n")
        blocks += ["\n"] if words else []
    return "".join(blocks)


def _cells(frame: Frame, sentence: Span, words: list[int]) -> list[str]:
    cells = ["*"] * len(words)
    latest = 0
    for span in frame.spans:
        start, end = bisect_left(words, span.start), bisect_left(words, span.end)
        if span.start < sentence.start or span.end > sentence.end:
            raise _fault_of(frame, "it isn't all in one sentence")
        if start < end:
            if start < latest:
                raise _fault_of(frame, f"{span.label_} overlaps another role")
            if not _ROLE.fullmatch(span.label_):
                raise _fault_of(frame, f"bad role {span.label_!r}: it can't stand in a column")
            cells[start] = f"({span.label_}*"
            cells[end - 1] += ")"
            latest = end
    return cells


def _fault_of(frame: Frame, fault: str) -> ValueError:
    return ValueError(f"frame {frame.roleset!r} at token {frame.predicate.i}: {fault}")


# Shared by formats with such columns


def column_rows(text: str, source: str = "<string>") -> Iterator[Columns]:
    """Yield each sentence's rows of columns between whitespace."""
    for block in blocks(text):
        yield Columns(source, block[0][0], [_COLUMN.findall(line) for _, line in block])


def check_columns(columns: Columns, fixed: int, predicates: int) -> None:
    """Raise FormatError unless every row has `fixed` columns and one for each predicate."""
    for i, row in enumerate(columns.rows):
        if len(row) != fixed + predicates:
            first = "1 column" if fixed == 1 else f"{fixed} columns"
            message = f"expected {first} and one for each of {predicates} predicates"
            raise FormatError(f"{message}, found {len(row)}", columns.source, columns.line + i)


def tree_phrases(bits: Sequence[str], *, source: str, line: int) -> list[LabelledSpan]:
    """Return phrases in preorder, without the root, from parse bits `(LABEL…*…)`. Raises
    FormatError."""
    spans = column_spans(bits, "phrase", source=source, line=line)
    if spans and spans[0][:2] == (0, len(bits)) and spans[0][2] in ROOT_LABELS:
        del spans[0]
    return spans


def column_spans(
    cells: Sequence[str], kind: str = "role", *, source: str, line: int
) -> list[LabelledSpan]:
    """Return in preorder the spans of one predicate's roles, or of phrases. Raises FormatError for
    a malformed column, NestedRoles for a role within a role."""
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
    rows: Sequence[Sequence[str]],
    rolesets: Sequence[str],
    left_out: list[Drop],
    *,
    source: str,
    line: int,
) -> list[FrameSpans] | None:
    """Return the frames; those that a Doc can't hold go to `left_out`.

    With any such frame the result is None, as its predicate would count as none otherwise.
    rows: each token's role columns. rolesets: each token's, "" for no predicate.
    Left out are columns with nested roles, without exactly one V, or with a V (or C-V) away from
    their predicate. Raises FormatError for a malformed column.
    """
    frames: list[FrameSpans] = []
    before = len(left_out)
    predicates = (i for i, roleset in enumerate(rolesets) if roleset)
    for predicate, cells in zip(predicates, zip(*rows, strict=True), strict=True):
        try:
            spans = column_spans(cells, source=source, line=line)
        except NestedRoles as error:
            left_out.append((f"{source}:{error.line}", error.message))
            continue
        if fault := _fault(predicate, spans):
            left_out.append((f"{source}:{line + predicate}", fault))
        frames.append(FrameSpans(predicate, rolesets[predicate], spans))
    return frames if len(left_out) == before else None


def _fault(predicate: int, spans: Sequence[LabelledSpan]) -> str:
    verbs = sum(label == PREDICATE for _, _, label in spans)
    if verbs != 1:
        return f"{verbs} spans labelled {PREDICATE}"
    at = {label for start, end, label in spans if start <= predicate < end}
    return "" if at & {PREDICATE, f"C-{PREDICATE}"} else f"its predicate isn't labelled {PREDICATE}"
