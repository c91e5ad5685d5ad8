"""CoNLL-2005 and CoNLL-2012: words, parses and roles in columns between any whitespace.

A row is a token, a blank line ends a sentence.

CoNLL-2005's release has a folder for each set, and in it a folder for each kind of column:
`words/train.02.words.gz`, `props/…`, `senses/…`, `ne/…`, and parses in `synt.cha/…` or, made from
the Penn Treebank, `synt/…`. A row of an all-in-one file has: word, tag, parse bit, maybe named
entities, maybe the predicate's sense, its lemma, and the roles of each predicate.
https://www.cs.upc.edu/~srlconll/

In OntoNotes 5 (`*_gold_conll`), `#begin document (…); part …` and `#end document` enclose a
document. A row has: document, part, word number, word, tag, parse bit, predicate lemma, frameset,
word sense, speaker, named entities, roles of each predicate, coreference.
https://conll.cemantix.org/2012/data.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Annotated

from ..trees.brackets import ptb_unescape
from ..trees.tree import LabelledSpan
from .files import FormatError, read_text
from .penn_brackets import clean_label
from .props import (
    NO_PREDICATE,
    Columns,
    Rows,
    check_columns,
    column_rows,
    sentence_frames,
    tree_phrases,
)
from .treebank_format import Files, Lang, Losses, Pattern
from .treebank_sentence import TreebankSentence

_DOCUMENT = re.compile(r"^#(?:begin|end) document.*$", re.MULTILINE)
_FIXED = 12
_ROLES = 11
_NO_PARSE = {"-", "_"}


@dataclass(frozen=True, kw_only=True)
class Conll2005(Files):
    """CoNLL-2005: folders of a set, with words/ and props/, or files with all columns in one."""

    lang: Lang = "en"
    synt: Annotated[str, "Folder of parses beside words/, e.g. synt.cha."] = ""
    ptb_escapes: Annotated[bool, "Undo the Penn Treebank's escapes in words."] = False

    def files(self, path: Path) -> list[Path]:
        return [path]

    def sources(self, inputs: Sequence[Path]) -> Iterable[Path]:
        return [file for path in inputs for file in (path, *path.glob("*/*"))]

    def read(self, path: Path, losses: Losses) -> Iterator[TreebankSentence]:
        """Yield the sentences of an all-in-one file or of a set's folder, plain or compressed.

        A sentence with an unreadable frame has no frames. Roles are unchanged (A0, AM-TMP, C-A1,
        R-A0, V); rolesets are "give.01", or "give" where the sense is absent or "-". Tags and
        constituents are None for a folder without `synt`.
        Raises FormatError, and FileNotFoundError where a file of words has no counterpart.
        """
        unescape = ptb_unescape if self.ptb_escapes else str
        found = _of_folder(path, self.synt) if path.is_dir() else _all_in_one(path)
        for words, props, senses, parses in found:
            rolesets = [row[0] for row in props.rows]
            for i, sense in enumerate(senses):
                rolesets[i] += "" if NO_PREDICATE in (sense, rolesets[i]) else f".{sense}"
            tags, constituents = _parses(*parses) if parses else (None, None)
            yield TreebankSentence(
                words=[unescape(word) for word in words],
                tags=tags,
                constituents=constituents,
                frames=sentence_frames(
                    [row[1:] for row in props.rows],
                    ["" if roleset == NO_PREDICATE else roleset for roleset in rolesets],
                    losses.left_out["frames left out"],
                    source=props.source,
                    line=props.line,
                ),
            )


Found = tuple[list[str], Columns, list[str], Columns | None]
"""Words, lemmas with roles, senses, tags with parse bits."""


def _all_in_one(path: Path) -> Iterator[Found]:
    for columns in column_rows(read_text(path), str(path)):
        source, line, rows = columns
        # Right of the parse bit only lemma and sense have no asterisks.
        plain = [i for i, cell in enumerate(rows[0]) if i > 2 and "*" not in cell]
        if not plain:
            message = "expected word, tag, parse bit and the predicate's lemma"
            raise FormatError(message, source, line)
        lemma = plain[-1]
        check_columns(columns, lemma + 1, _predicates(rows, lemma))
        yield (
            [row[0] for row in rows],
            Columns(source, line, [row[lemma:] for row in rows]),
            [row[lemma - 1] for row in rows] if lemma - 1 in plain else [],
            Columns(source, line, [row[1:3] for row in rows]),
        )


def _of_folder(path: Path, synt: str) -> Iterator[Found]:
    files = sorted((path / "words").glob("*.words*"))
    if not files:
        raise FileNotFoundError(f"no words/*.words[.gz] in {path}")
    senses = (path / "senses").is_dir()
    folders = [path / "props", *([path / synt] if synt else []), *([path / "senses"] * senses)]
    for file in files:
        name = file.name.partition(".words")[0]
        others = [_counterpart(folder, name) for folder in folders]
        for words, props, *rest in _parallel([file, *others]):
            check_columns(props, 1, _predicates(props.rows))
            yield (
                [row[0] for row in words.rows],
                props,
                [row[0] for row in rest[-1].rows] if senses else [],
                rest[0] if synt else None,
            )


def _parallel(paths: Sequence[Path]) -> Iterator[list[Columns]]:
    """Yield each sentence's columns in every file. Raises FormatError for unequal sentences."""
    files = [column_rows(read_text(path), str(path)) for path in paths]
    for number, blocks in enumerate(zip_longest(*files), start=1):
        first, *others = found = [block for block in blocks if block]
        if len(found) < len(paths):
            short = paths[blocks.index(None)]
            message = f"this is sentence {number}, and {short} has only {number - 1}"
            raise FormatError(message, first.source, first.line)
        for source, line, rows in others:
            if len(rows) != len(first.rows):
                same = f"{len(first.rows)} in the same sentence at {first.source}:{first.line}"
                raise FormatError(f"{len(rows)} rows, but {same}", source, line)
        yield found


def _counterpart(folder: Path, name: str) -> Path:
    found = [path for path in folder.glob("*") if path.name.startswith(f"{name}.")]
    if len(found) != 1:
        raise FileNotFoundError(f"{len(found) or 'no'} files {name}.* in {folder}, expected one")
    return found[0]


def _parses(source: str, line: int, rows: Rows) -> tuple[list[str], list[LabelledSpan]]:
    """Return tags, and phrases in preorder, bare and without the root. Raises FormatError."""
    for i, row in enumerate(rows):
        if len(row) != 2:
            message = f"expected tag and parse bit, found {len(row)} columns"
            raise FormatError(message, source, line + i)
    tags, bits = zip(*rows, strict=True)
    spans = tree_phrases(bits, source=source, line=line)
    return list(tags), [(start, end, clean_label(label)) for start, end, label in spans]


def _predicates(rows: Rows, lemma: int = 0) -> int:
    return sum(row[lemma] != NO_PREDICATE for row in rows if len(row) > lemma)


@dataclass(frozen=True, kw_only=True)
class Conll2012(Files):
    """CoNLL-2012, the column files of OntoNotes."""

    lang: Lang = "en"
    pattern: Pattern = "*gold_conll"
    ptb_escapes: Annotated[bool, "Undo the treebank's escapes in words: -LRB-, /. etc."] = False

    def parse(self, text: str, source: str, losses: Losses) -> Iterator[TreebankSentence]:
        """Yield the sentences of a document.

        A sentence with an unreadable frame has no frames; constituents are None if the parse is
        missing. Roles are unchanged, rolesets are "give.01". A predicate is a row with a frameset,
        as a lemma alone comes with a word sense. Ids are "document.part.number", numbers from 0
        within the part. Raises FormatError.
        """
        previous, number = "", -1
        for columns in column_rows(_DOCUMENT.sub("", text), source):
            _, line, rows = columns
            check_columns(columns, _FIXED, _predicates(rows, 7))
            for i, row in enumerate(rows):
                if row[2] != str(i):
                    raise FormatError(f"expected word {i}, found {row[2]!r}", source, line + i)
            part = f"{rows[0][0]}.{rows[0][1]}"
            previous, number = part, number + 1 if part == previous else 0
            words, bits = [row[3] for row in rows], [row[5] for row in rows]
            parsed = not _NO_PARSE.issuperset(bits)
            yield TreebankSentence(
                words=list(map(ontonotes_unescape, words)) if self.ptb_escapes else words,
                tags=[row[4] for row in rows],
                constituents=tree_phrases(bits, source=source, line=line) if parsed else None,
                frames=sentence_frames(
                    [row[_ROLES:-1] for row in rows],
                    ["" if row[7] == NO_PREDICATE else f"{row[6]}.{row[7]}" for row in rows],
                    losses.left_out["frames left out"],
                    source=source,
                    line=line,
                ),
                id=f"{part}.{number}",
            )


def ontonotes_unescape(word: str) -> str:
    """Undo the Penn Treebank's escapes, and `/.` and `/?` for a full stop and a question mark."""
    return word[1:] if word in ("/.", "/?") else ptb_unescape(word)
