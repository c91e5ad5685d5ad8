"""CoNLL-2005: words, parses, senses and propositions in parallel files, or all in one.

The shared task's release has a folder for each set, and in it a folder for each kind of column:
`words/train.02.words.gz`, `props/…`, `senses/…`, `ne/…`, and parses in `synt.cha/…` or, made from
the Penn Treebank, `synt/…`. A row of an all-in-one file has: word, tag, parse bit, maybe named
entities, maybe the predicate's sense, its lemma, and the roles of each predicate.
https://www.cs.upc.edu/~srlconll/
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Annotated

from ..trees.brackets import ptb_unescape
from ..trees.tree import LabelledSpan
from .files import FormatError, read_text
from .penn_brackets import clean_label
from .props import NO_PREDICATE, check_columns, column_rows, sentence_frames, tree_phrases
from .treebank_format import Drop, Files, Lang, Losses, with_drops
from .treebank_sentence import TreebankSentence

Rows = list[list[str]]


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
        unescape = ptb_unescape if self.ptb_escapes else str
        return with_drops(read_conll2005(path, synt=self.synt, unescape=unescape), losses)


def parse_conll2005(
    text: str, *, source: str = "<string>", unescape: Callable[[str], str] = str
) -> Iterator[tuple[TreebankSentence, list[Drop]]]:
    """Yield the sentences of an all-in-one text, each with its unreadable frames.

    A sentence with an unreadable frame has no frames. Roles are unchanged (A0, AM-TMP, C-A1, R-A0,
    V); rolesets are "give.01", or "give" where the sense is absent or "-".
    unescape: function applied to words. Raises FormatError.
    """
    for line, rows in column_rows(text):
        # Right of the parse bit only lemma and sense have no asterisks.
        plain = [i for i, cell in enumerate(rows[0]) if i > 2 and "*" not in cell]
        if not plain:
            message = (
                "expected word, tag, parse bit and, with or without other columns before it, the "
                "predicate's lemma"
            )
            raise FormatError(message, source, line)
        lemma = plain[-1]
        check_columns(rows, lemma + 1, _predicates(rows, lemma), source=source, line=line)
        yield _sentence(
            [unescape(row[0]) for row in rows],
            [row[lemma:] for row in rows],
            [row[lemma - 1] for row in rows] if lemma - 1 in plain else None,
            *_parses(line, [row[1:3] for row in rows], source),
            source=source,
            line=line,
        )


def read_conll2005(
    path: str | Path, *, synt: str = "", unescape: Callable[[str], str] = str
) -> Iterator[tuple[TreebankSentence, list[Drop]]]:
    """Yield the sentences of an all-in-one file or of a set's folder, plain or compressed.

    synt: the folder beside `words` of files with tags and parse bits; without it the sentences of a
    set's folder have neither.
    Raises FormatError, and FileNotFoundError where a file of words has no counterpart.
    """
    path = Path(path)
    if not path.is_dir():
        yield from parse_conll2005(read_text(path), source=str(path), unescape=unescape)
        return
    files = sorted((path / "words").glob("*.words*"))
    if not files:
        raise FileNotFoundError(f"no words/*.words[.gz] in {path}")
    folders = [path / "props", *([path / synt] if synt else [])]
    folders += [path / "senses"] if (path / "senses").is_dir() else []
    for words in files:
        name = words.name.partition(".words")[0]
        others = [_counterpart(folder, name) for folder in folders]
        for blocks in _parallel([words, *others]):
            (_, words_rows), (line, props), *rest = blocks
            check_columns(props, 1, _predicates(props), source=str(others[0]), line=line)
            yield _sentence(
                [unescape(row[0]) for row in words_rows],
                props,
                [row[0] for row in rest[-1][1]] if (path / "senses").is_dir() else None,
                *(_parses(*rest[0], str(others[1])) if synt else (None, None)),
                source=str(others[0]),
                line=line,
            )


def _parallel(paths: Sequence[Path]) -> Iterator[list[tuple[int, Rows]]]:
    """Yield line and rows of each sentence by file. Raises FormatError for unequal sentences."""
    files = [column_rows(read_text(path)) for path in paths]
    for number, blocks in enumerate(zip_longest(*files), start=1):
        found = [(path, *block) for path, block in zip(paths, blocks, strict=True) if block]
        (first, line, rows), *others = found
        if len(found) < len(paths):
            short = next(path for path, block in zip(paths, blocks, strict=True) if not block)
            message = f"this is sentence {number}, and {short} has only {number - 1}"
            raise FormatError(message, str(first), line)
        for path, start, block in others:
            if len(block) != len(rows):
                same = f"{len(rows)} in the same sentence at {first}:{line}"
                raise FormatError(f"{len(block)} rows, but {same}", str(path), start)
        yield list(blocks)


def _counterpart(folder: Path, name: str) -> Path:
    found = [path for path in folder.glob("*") if path.name.startswith(f"{name}.")]
    if len(found) != 1:
        raise FileNotFoundError(f"{len(found) or 'no'} files {name}.* in {folder}, expected one")
    return found[0]


def _parses(line: int, rows: Rows, source: str) -> tuple[list[str], list[LabelledSpan]]:
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


def _sentence(
    words: list[str],
    props: Rows,
    senses: list[str] | None,
    tags: list[str] | None,
    constituents: list[LabelledSpan] | None,
    *,
    source: str,
    line: int,
) -> tuple[TreebankSentence, list[Drop]]:
    rolesets = []
    for i, (lemma, *_) in enumerate(props):
        sense = senses[i] if senses else NO_PREDICATE
        known = "" if sense == NO_PREDICATE else f".{sense}"
        rolesets.append("" if lemma == NO_PREDICATE else lemma + known)
    roles = [row[1:] for row in props]
    frames, left_out = sentence_frames(roles, rolesets, source=source, line=line)
    sentence = TreebankSentence(words=words, tags=tags, constituents=constituents, frames=frames)
    return sentence, left_out
