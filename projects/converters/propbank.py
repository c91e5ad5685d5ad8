"""PropBank's columns: skeletons (`.gold_skel`), whose words are masked, and `.gold_conll`.

A row a token, a blank line between sentences; columns between any whitespace: file or document,
sentence, token, word or [WORD], tag, parse bit, predicate lemma, roleset, and one column for each
predicate.
https://github.com/propbank/propbank-release
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from spacy_lal.annotations import FrameSpans
from spacy_lal.formats.files import FormatError
from spacy_lal.formats.props import (
    NO_PREDICATE,
    check_columns,
    column_rows,
    sentence_frames,
    tree_phrases,
)
from spacy_lal.formats.treebank_format import Drop
from spacy_lal.trees.tree import LabelledSpan

_FIXED = 8


@dataclass(frozen=True)
class PropbankSentence:
    """document, number: its first two columns. line: where its first token is. spans: phrases in
    preorder, without the root, None if the parse bits don't match. frames: None if a Doc can't hold
    one of them (see `sentence_frames`). left_out: such trees and frames."""

    document: str
    number: str
    line: int
    words: list[str]
    tags: list[str]
    spans: list[LabelledSpan] | None
    frames: list[FrameSpans] | None
    left_out: list[Drop] = field(default_factory=list)


def parse_propbank(
    text: str, *, source: str = "<string>", broken_trees: bool = False
) -> Iterator[PropbankSentence]:
    """The sentences of a file. Raises FormatError.

    broken_trees: leave out trees whose parse bits don't match; otherwise they are errors, too.
    """
    for line, rows in column_rows(text):
        rolesets = ["" if row[7:8] in ([], [NO_PREDICATE]) else row[7] for row in rows]
        check_columns(rows, _FIXED, sum(map(bool, rolesets)), source=source, line=line)
        spans, left_out = None, []
        try:
            spans = tree_phrases([row[5] for row in rows], source=source, line=line)
        except FormatError as error:
            if not broken_trees:
                raise
            left_out.append((f"{source}:{error.line}", f"tree: {error.message}"))
        roles = [row[_FIXED:] for row in rows]
        frames, unread = sentence_frames(roles, rolesets, source=source, line=line)
        words, tags = ([row[column] for row in rows] for column in (3, 4))
        document, number = rows[0][:2]
        yield PropbankSentence(
            document, number, line, words, tags, spans, frames, left_out + unread
        )
