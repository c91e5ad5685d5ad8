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

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from typing import Annotated

from ..trees.brackets import ptb_unescape
from ..trees.labels import clean_label
from .files import FormatError, read_text
from .penn_treebanks import Take, with_conllx
from .props import (
    NO_PREDICATE,
    Columns,
    Rows,
    check_columns,
    column_rows,
    sentence_frames,
    tree_phrases,
)
from .treebank_format import Files, Lang, Losses, Part, Pattern, files_in
from .treebank_sentence import TreebankSentence

_DOCUMENT = re.compile(r"^#(?:begin|end) document.*$", re.MULTILINE)
_FIXED = 12
_ROLES = 11
_NO_PARSE = {"-", "_"}


@dataclass(frozen=True, kw_only=True)
class _WithConllx(Files):
    conllx: Annotated[str, "CoNLL-X file of the same sentences, or a folder of such files."] = ""
    take: Annotated[Take, "What to take from the CoNLL-X files."] = Take.heads
    ptb_escapes: Annotated[bool, "Undo the treebank's escapes in words: -LRB- etc."] = False

    def gives_heads(self) -> bool:
        return bool(self.conllx) and self.take is not Take.tags

    def sources(self, inputs: Sequence[Path]) -> Iterable[Path]:
        if self.conllx and not Path(self.conllx).exists():
            raise FileNotFoundError(f"no file or folder {self.conllx} of CoNLL-X rows")
        return [
            *super().sources(inputs),
            *(files_in(Path(self.conllx), "*") if self.conllx else ()),
        ]

    def unescape(self, word: str) -> str:
        """Return a word as it is written to the Doc."""
        return ptb_unescape(word) if self.ptb_escapes else word

    def read_parts(self, inputs: Sequence[Path]) -> dict[str, Part]:
        parts = super().read_parts(inputs)
        if not self.conllx:
            return parts
        path = Path(self.conllx)
        return {name: with_conllx(of, path, self.take, self.unescape) for name, of in parts.items()}


@dataclass(frozen=True, kw_only=True)
class Conll2005(_WithConllx):
    """CoNLL-2005: folders of a set, with words/ and props/, or files with all columns in one."""

    lang: Lang = "en"
    synt: Annotated[str, "Folder of parses beside words/, e.g. synt.cha."] = ""

    def files(self, path: Path) -> list[Path]:
        return [path]

    def sources(self, inputs: Sequence[Path]) -> Iterable[Path]:
        return [*super().sources(inputs), *(file for path in inputs for file in path.glob("*/*"))]

    def read(self, path: Path, losses: Losses) -> Iterator[TreebankSentence]:
        """Yield the sentences of an all-in-one file or of a set's folder, plain or compressed.

        A sentence with an unreadable frame has no frames. Roles are unchanged (A0, AM-TMP, C-A1,
        R-A0, V); rolesets are "give.01", or "give" where the sense is absent or "-". Tags and
        constituents are None for a folder without `synt`.
        Raises FormatError, and FileNotFoundError where a file of words has no counterpart.
        """
        folder = path.is_dir()
        found = _pasted(path, self.synt) if folder else column_rows(read_text(path), str(path))
        for columns in found:
            source, line, rows = columns
            # Right of the parse bit only lemma and sense have no asterisks.
            plain = [i for i, cell in enumerate(rows[0]) if i > 2 and "*" not in cell]
            if not plain:
                message = "expected word, tag, parse bit and the predicate's lemma"
                raise FormatError(message, source, line)
            lemma = plain[-1]
            check_columns(columns, lemma + 1, _predicates(rows, lemma))
            rolesets = []
            for row in rows:
                sense = row[lemma - 1] if lemma - 1 in plain else NO_PREDICATE
                known = "" if sense == NO_PREDICATE else f".{sense}"
                rolesets.append("" if row[lemma] == NO_PREDICATE else row[lemma] + known)
            phrases = tree_phrases([row[2] for row in rows], source=source, line=line)
            bare = [(start, end, clean_label(label)) for start, end, label in phrases]
            yield TreebankSentence(
                words=[self.unescape(row[0]) for row in rows],
                tags=[row[1] for row in rows] if self.synt or not folder else None,
                constituents=bare if self.synt or not folder else None,
                frames=sentence_frames(
                    [row[lemma + 1 :] for row in rows],
                    rolesets,
                    losses.left_out["frames left out"],
                    source=source,
                    line=line,
                ),
            )


def _pasted(path: Path, synt: str) -> Iterator[Columns]:
    """Yield the sentences of a set's folder as they stand in an all-in-one file. Raises FormatError
    for unequal sentences."""
    files = sorted((path / "words").glob("*.words*"))
    if not files:
        raise FileNotFoundError(f"no words/*.words[.gz] in {path}")
    senses = [path / "senses"] if (path / "senses").is_dir() else []
    for file in files:
        name = file.name.partition(".words")[0]
        folders = [path / (synt or "props"), *senses, path / "props"]
        paths = [file, *(_counterpart(folder, name) for folder in folders)]
        sentences = zip_longest(*(column_rows(read_text(path), str(path)) for path in paths))
        for number, found in enumerate(sentences, start=1):
            first, *others = (columns for columns in found if columns)
            if None in found:
                short = paths[found.index(None)]
                message = f"this is sentence {number}, and {short} has only {number - 1}"
                raise FormatError(message, first.source, first.line)
            for source, line, rows in others:
                if len(rows) != len(first.rows):
                    same = f"{len(first.rows)} in the same sentence at {first.source}:{first.line}"
                    raise FormatError(f"{len(rows)} rows, but {same}", source, line)
            pasted = [
                [*word, *(parse if synt else ("-", "*")), *chain(*others)]
                for word, parse, *others in zip(*(columns.rows for columns in found), strict=True)
            ]
            yield Columns(f"{path}/*/{name}.*", first.line, pasted)


def _counterpart(folder: Path, name: str) -> Path:
    found = [path for path in folder.glob("*") if path.name.startswith(f"{name}.")]
    if len(found) != 1:
        raise FileNotFoundError(f"{len(found) or 'no'} files {name}.* in {folder}, expected one")
    return found[0]


def _predicates(rows: Rows, lemma: int = 0) -> int:
    return sum(row[lemma] != NO_PREDICATE for row in rows if len(row) > lemma)


@dataclass(frozen=True, kw_only=True)
class Conll2012(_WithConllx):
    """CoNLL-2012, the column files of OntoNotes."""

    lang: Lang = "en"
    pattern: Pattern = "*gold_conll"

    def unescape(self, word: str) -> str:
        return ontonotes_unescape(word) if self.ptb_escapes else word

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
                words=list(map(self.unescape, words)),
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
