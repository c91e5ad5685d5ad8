"""Corpora for the search: Docs or trees of any file that this package reads, with their ids."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..annotate.manifest import SETTINGS
from ..annotate.records import record_doc
from ..formats.conllu import Conllu
from ..formats.docbins import read_spacy
from ..formats.files import OPENERS, read_text, undamaged
from ..formats.penn_brackets import parse_treebank
from ..formats.treebank_format import Losses, files_in
from ..formats.treebank_sentence import language_vocab, to_doc
from ..trees.tree import ConstituentTree


class Text(NamedTuple):
    """A Doc or a tree, and its id: that of the text or sentence, else the file and a number."""

    id: str
    item: Doc | ConstituentTree


class Piece(NamedTuple):
    """A part of a file that is read alone: from byte `start` to `end`, or the whole file. number:
    that of its first text, from 1."""

    file: Path
    number: int = 1
    start: int = 0
    end: int = -1


def corpus_files(path: Path) -> list[Path]:
    """Return the file itself, or a folder's files: of the output of `annotate`, its parts. Raises
    FileNotFoundError, and ValueError for a format without words and annotation of sentences."""
    files = files_in(path, "part-*" if (path / SETTINGS).exists() else "[!.]*")
    for file in files:
        if _plain(file).suffix in (".parquet", ".props", ".json", ".tsv", ".m2"):
            raise ValueError(
                f"can't search {file}: expected .spacy, .jsonl of `annotate`, CoNLL-U or brackets"
            )
    return files


def pieces(file: Path) -> list[Piece]:
    """Return the lines of a file that has a record or a whole tree on each, else the file."""
    trees = file.suffix != ".jsonl"
    if file.suffix in OPENERS or (trees and file.suffix in _READERS):
        return [Piece(file)]
    found: list[Piece] = []
    start = 0
    with file.open("rb") as lines:
        for line in lines:
            end = start + len(line)
            if line := line.strip():
                if trees and (line[:1] != b"(" or line.count(b"(") != line.count(b")")):
                    return [Piece(file)]
                found.append(Piece(file, len(found) + 1, start, end))
            start = end
    return found


def read_piece(piece: Piece) -> Iterator[Text]:
    """Yield the texts of a piece, by its file's suffix; files of other suffixes have bracketed
    trees, which are unchanged. Raises ValueError with the place of malformed text."""
    read = _READERS.get(_plain(piece.file).suffix, _trees)
    for number, text in enumerate(read(piece), start=piece.number):
        yield text if text.id else text._replace(id=f"{piece.file.name}:{number}")


def _plain(path: Path) -> Path:
    return path.with_suffix("") if path.suffix in OPENERS else path


def _vocab() -> Vocab:
    return language_vocab("xx")


def _lines(piece: Piece) -> Iterator[str]:
    file = piece.file
    with undamaged(file), OPENERS.get(file.suffix, open)(file, "rb") as lines:
        lines.seek(piece.start)
        whole = lines if piece.end < 0 else [lines.read(piece.end - piece.start)]
        for line in whole:
            yield line.decode("utf8")


def _id(name: object, offset: object) -> str:
    return "" if name is None else f"{name}@{offset}" if offset else str(name)


def _docs(piece: Piece) -> Iterator[Text]:
    for doc in read_spacy(piece.file, _vocab()):
        kept = doc.user_data
        yield Text(_id(kept.get("id", kept.get("sent_id")), kept.get("offset")), doc)


def _records(piece: Piece) -> Iterator[Text]:
    vocab = _vocab()
    for number, line in enumerate(_lines(piece), start=piece.number):
        try:
            record = json.loads(line)
            doc = record_doc(record, vocab)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            place = f"{piece.file}:{number}"
            raise ValueError(f"{place}: no record of `annotate`: {error}") from None
        yield Text(_id(record.get("id"), record.get("offset")), doc)


def _sentences(piece: Piece) -> Iterator[Text]:
    vocab = _vocab()
    for sentence in Conllu().read(piece.file, Losses()):
        yield Text(sentence.id, to_doc(sentence, vocab))


def _trees(piece: Piece) -> Iterator[Text]:
    text = read_text(piece.file) if piece.end < 0 else "".join(_lines(piece))
    for tree in parse_treebank(text, source=str(piece.file)):
        yield Text("", tree)


_READERS: dict[str, Callable[[Piece], Iterator[Text]]] = {
    ".spacy": _docs,
    ".jsonl": _records,
    ".conllu": _sentences,
    ".conllx": _sentences,
    ".conll": _sentences,
}
