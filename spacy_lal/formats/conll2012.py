"""CoNLL-2012, the column files of OntoNotes 5 (`*_gold_conll`).

A row is a token, a blank line ends a sentence, and `#begin document (…); part …` and `#end
document` enclose a document. Columns between any whitespace: document, part, word number, word,
tag, parse bit, predicate lemma, frameset, word sense, speaker, named entities, one column for each
predicate, coreference.
https://conll.cemantix.org/2012/data.html
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from ..trees.brackets import ptb_unescape
from ..trees.tree import LabelledSpan
from .files import FormatError, read_text
from .props import NO_PREDICATE, check_columns, column_rows, sentence_frames, tree_phrases
from .treebank_format import Drop, Files, Lang, Losses, Pattern, with_drops
from .treebank_sentence import TreebankSentence

_DOCUMENT = re.compile(r"^#(?:begin|end) document.*$", re.MULTILINE)
_FIXED = 12
_ROLES = 11
_NO_PARSE = {"-", "_"}


@dataclass(frozen=True, kw_only=True)
class Conll2012(Files):
    """CoNLL-2012, the column files of OntoNotes."""

    lang: Lang = "en"
    pattern: Pattern = "*gold_conll"
    ptb_escapes: Annotated[bool, "Undo the treebank's escapes in words: -LRB-, /. etc."] = False

    def read(self, path: Path, losses: Losses) -> Iterator[TreebankSentence]:
        unescape = ontonotes_unescape if self.ptb_escapes else str
        return with_drops(read_conll2012(path, unescape=unescape), losses)


def parse_conll2012(
    text: str, *, source: str = "<string>", unescape: Callable[[str], str] = str
) -> Iterator[tuple[TreebankSentence, list[Drop]]]:
    """Yield the sentences of a document, each with its unreadable frames.

    A sentence with an unreadable frame has no frames; constituents are None if the parse is
    missing. Roles are unchanged, rolesets are "give.01". A predicate is a row with a frameset, as a
    lemma alone comes with a word sense. Ids are "document.part.number", numbers from 0 within the
    part.
    unescape: function applied to words. Raises FormatError.
    """
    previous, number = "", -1
    for line, rows in column_rows(_DOCUMENT.sub("", text)):
        framesets = [row[7] if len(row) > 7 else NO_PREDICATE for row in rows]
        predicates = len(rows) - framesets.count(NO_PREDICATE)
        check_columns(rows, _FIXED, predicates, source=source, line=line)
        for i, row in enumerate(rows):
            if row[2] != str(i):
                raise FormatError(f"expected word {i}, found {row[2]!r}", source, line + i)
        part = f"{rows[0][0]}.{rows[0][1]}"
        previous, number = part, number + 1 if part == previous else 0
        frames, left_out = sentence_frames(
            [row[_ROLES:-1] for row in rows],
            [
                "" if frameset == NO_PREDICATE else f"{row[6]}.{frameset}"
                for row, frameset in zip(rows, framesets, strict=True)
            ],
            source=source,
            line=line,
        )
        yield (
            TreebankSentence(
                words=[unescape(row[3]) for row in rows],
                tags=[row[4] for row in rows],
                constituents=_constituents([row[5] for row in rows], source, line),
                frames=frames,
                id=f"{part}.{number}",
            ),
            left_out,
        )


def read_conll2012(
    path: str | Path, *, unescape: Callable[[str], str] = str
) -> Iterator[tuple[TreebankSentence, list[Drop]]]:
    """Yield the sentences of a file, plain or compressed."""
    return parse_conll2012(read_text(path), source=str(path), unescape=unescape)


def ontonotes_unescape(word: str) -> str:
    """Undo the Penn Treebank's escapes, and `/.` and `/?` for a full stop and a question mark."""
    return word[1:] if word in ("/.", "/?") else ptb_unescape(word)


def _constituents(bits: list[str], source: str, line: int) -> list[LabelledSpan] | None:
    if _NO_PARSE.issuperset(bits):
        return None
    return tree_phrases(bits, source=source, line=line)
