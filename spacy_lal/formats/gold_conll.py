"""PropBank's `.gold_conll`: skeletons whose words are filled in.

A row a token, a blank line between sentences; columns between any whitespace: document, sentence,
token, word, tag, parse bit, predicate lemma, roleset, and one column for each predicate.
https://github.com/propbank/propbank-release
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

from ..annotations import FrameSpans
from ..trees.brackets import ptb_unescape
from ..trees.tree import LabelledSpan
from .brackets import clean_label
from .docs import TreebankSentence
from .files import FormatError, is_number, read_text
from .props import NO_PREDICATE, Drop, check_columns, column_rows, sentence_frames
from .skeleton import tree_phrases

MARKS = frozenset({"CODE", "SU"})
"""Tags of what is no word: markup, and the marks of a transcript's units."""

_TAGS = {f"-{side}{kind}B-": f"-{side}RB-" for side in "LR" for kind in "SC"}
"""Square and curly brackets have the tags of round ones, as in the English Web Treebank."""

_FIXED = 8


@dataclass(frozen=True)
class GoldConllSentence:
    """number: of the sentence in its document. left_out: annotation that could not be read."""

    document: str
    number: int
    sentence: TreebankSentence
    left_out: list[Drop]


def parse_gold_conll(text: str, *, source: str = "<string>") -> Iterator[GoldConllSentence]:
    """The sentences: words unescaped, tags, constituents and frames, without MARKS.

    A sentence whose parse bits don't match has no tree, and one with a frame that a Doc can't hold
    has none at all: the others would say that its predicate is none. Raises FormatError.
    """
    for line, rows in column_rows(text):
        rolesets = [row[7] if len(row) >= _FIXED else NO_PREDICATE for row in rows]
        predicates = len(rows) - rolesets.count(NO_PREDICATE)
        check_columns(rows, _FIXED, predicates, source=source, line=line)
        if not is_number(rows[0][1]):
            raise FormatError(
                f"bad sentence number {rows[0][1]!r} in the second column",
                source=source,
                line=line,
            )
        tree: list[LabelledSpan] | None
        try:
            tree = _tree([row[5] for row in rows], source, line)
            left_out = []
        except FormatError as error:
            tree, left_out = None, [(f"{source}:{error.line}", f"tree: {error.message}")]
        frames, unread = sentence_frames(
            [row[_FIXED:] for row in rows],
            ["" if roleset == NO_PREDICATE else roleset for roleset in rolesets],
            source=source,
            line=line,
        )
        sentence = TreebankSentence(
            words=[ptb_unescape(row[3]) for row in rows],
            tags=[_TAGS.get(row[4], row[4]) for row in rows],
            constituents=tree,
            frames=None if unread else frames,
            id=f"{rows[0][0]}.{rows[0][1]}",
            paragraph=rows[0][0],  # the format knows documents alone
        )
        keep = [row[4] not in MARKS for row in rows]
        if any(keep):
            yield GoldConllSentence(
                rows[0][0], int(rows[0][1]), kept_words(sentence, keep), left_out + unread
            )


def read_gold_conll(path: str | Path) -> Iterator[GoldConllSentence]:
    """The sentences of a file, plain or compressed (see `parse_gold_conll`)."""
    return parse_gold_conll(read_text(path), source=str(path))


def kept_words(sentence: TreebankSentence, keep: list[bool]) -> TreebankSentence:
    """The sentence without some words, and without phrases, roles and predicates that had no
    others. A sentence with heads is refused: ValueError."""
    if all(keep):
        return sentence
    if sentence.heads is not None:
        raise ValueError(f"sentence {sentence.id}: the head of a word is a word that is left out")
    before = list(accumulate(keep, initial=0))

    def kept(spans: list[LabelledSpan]) -> list[LabelledSpan]:
        moved = [(before[start], before[end], label) for start, end, label in spans]
        return [span for span in moved if span[0] < span[1]]

    def chosen(values):  # type: ignore[no-untyped-def]
        return None if values is None else [v for v, k in zip(values, keep, strict=True) if k]

    return replace(
        sentence,
        words=chosen(sentence.words),
        tags=chosen(sentence.tags),
        constituents=None if sentence.constituents is None else kept([*sentence.constituents]),
        frames=None
        if sentence.frames is None
        else [
            FrameSpans(before[frame.predicate], frame.roleset, kept([*frame.spans]))
            for frame in sentence.frames
            if keep[frame.predicate]
        ],
    )


def _tree(bits: list[str], source: str, line: int) -> list[LabelledSpan]:
    spans = tree_phrases(bits, source=source, line=line)
    return [(start, end, clean_label(label)) for start, end, label in spans]
