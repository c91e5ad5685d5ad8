"""Annotated corpora: the output of `annotate`, `.spacy` files, CoNLL-U, bracketed trees."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..annotations import install_extensions
from ..formats.conllu import Conllu
from ..formats.docbins import read_spacy
from ..formats.files import OPENERS, decoded, read_text, undamaged
from ..formats.penn_brackets import Brackets, parse_treebank
from ..formats.treebank_format import Losses
from ..formats.treebank_sentence import language_vocab, to_doc
from ..trees.tree import ConstituentTree
from .manifest import settings_of
from .records import Record, check_record, record_doc
from .texts import pyarrow

DOC_SUFFIXES = (".spacy", ".jsonl", ".parquet")
"""Suffixes of files of whole Docs, those first that hold the most."""
CONLLU = (".conllu", ".conllx", ".conll")
"""Suffixes of CoNLL-U."""
_KNOWN = (*DOC_SUFFIXES, *CONLLU, ".brackets", ".headed", ".mrg", ".ptb")
_WITHOUT_WORDS = (".props", ".json", ".tsv", ".m2", ".ids")


class Piece(NamedTuple):
    """A part of a file that is read alone: from byte `start` to `end`, or the whole file. number:
    that of its first text, from 1."""

    file: Path
    number: int = 1
    start: int = 0
    end: int = -1

    @property
    def suffix(self) -> str:
        """The file's suffix without that of its compression."""
        return (self.file.with_suffix("") if self.file.suffix in OPENERS else self.file).suffix


class Text(NamedTuple):
    """A Doc or a tree, and its id: that of the text or sentence, else the file and a number."""

    id: str
    item: Doc | ConstituentTree


def read_docs(path: str | Path, vocab: Vocab | None = None) -> Iterator[Doc]:
    """Yield the Docs of a file or a folder; of one that `annotate` wrote, each text once.

    Of CoNLL-U and bracketed trees, plain or compressed, each sentence is a Doc.
    `doc.user_data["id"]` is the id of the text; in treebanks, "sent_id" that of the sentence.
    vocab: by default one without a language.
    Raises ValueError, naming the place, for what can't be read, and FileNotFoundError.
    """
    install_extensions()
    vocab = vocab or language_vocab("xx")
    for file in corpus_files(Path(path)):
        yield from _docs(Piece(file), vocab)


def read_piece(piece: Piece) -> Iterator[Text]:
    """Yield the texts of a piece. Bracketed trees, which files of unknown suffixes have, too, are
    unchanged. Raises ValueError with the place of malformed text."""
    for number, item in enumerate(_items(piece), start=piece.number):
        kept = item.user_data if isinstance(item, Doc) else {}
        name = kept.get("id", kept.get("sent_id"))
        if name is None or name == "":
            name = f"{piece.file.name}:{number}"
        name = f"{name}@{kept['offset']}" if kept.get("offset") else str(name)
        yield Text(name, item)


def _items(piece: Piece) -> Iterator[Doc | ConstituentTree]:
    if piece.suffix in (*DOC_SUFFIXES, *CONLLU):
        yield from _docs(piece, language_vocab("xx"))
    else:
        text = read_text(piece.file) if piece.end < 0 else "".join(_lines(piece))
        yield from parse_treebank(text, source=str(piece.file))


def corpus_files(path: Path, *, others: bool = False) -> list[Path]:
    """Return the file itself or the files of a folder that can be read. others: whether files of
    unknown suffixes count, as bracketed trees. Raises FileNotFoundError if there are none,
    ValueError for a file of another suffix."""

    def readable(file: Path) -> bool:
        suffix = Piece(file).suffix
        return suffix in _KNOWN or (others and suffix not in _WITHOUT_WORDS)

    if not path.is_dir():
        if not readable(path):
            raise ValueError(f"{path} doesn't end in {', '.join(_KNOWN)}")
        return [path]
    settings = settings_of(path)
    if settings is None:
        found = [file for file in path.rglob("[!.]*") if file.is_file() and readable(file)]
    else:
        written = [f".{name}" for name in str(settings.get("format", "jsonl")).split(",")]
        best = next((suffix for suffix in _KNOWN if suffix in written), "")
        found = list(path.glob(f"part-*{best}")) if best else []
    if not found:
        raise FileNotFoundError(f"no files of {', '.join(_KNOWN)} in {path}")
    return sorted(found)


def _docs(piece: Piece, vocab: Vocab) -> Iterator[Doc]:
    if piece.suffix == ".spacy":
        yield from read_spacy(piece.file, vocab)
    elif piece.suffix not in DOC_SUFFIXES:
        form = Conllu() if piece.suffix in CONLLU else Brackets()
        for sentence in form.read(piece.file, Losses()):
            yield to_doc(sentence, vocab)
    else:
        for number, record in enumerate(_records(piece), start=piece.number):
            place = f"{piece.file}:{number}"
            try:
                check_record(record)
                doc = record_doc(record, vocab)
            except KeyError as error:
                raise ValueError(f"{place}: a record without {error}") from error
            except ValueError as error:
                raise ValueError(f"{place}: {error}") from error
            doc.user_data.update(id=record.get("id"), offset=record.get("offset"))
            yield doc


def _records(piece: Piece) -> Iterator[Record]:
    if piece.suffix == ".parquet":
        with pyarrow().parquet.ParquetFile(piece.file) as file:
            for batch in file.iter_batches(1000):
                yield from batch.to_pylist()
        return
    for number, line in enumerate(_lines(piece), start=piece.number):
        if line.strip():
            try:
                yield dict(json.loads(line))
            except (ValueError, TypeError) as error:
                raise ValueError(f"{piece.file}:{number}: no JSON object: {error}") from error


def _lines(piece: Piece) -> Iterator[str]:
    file = piece.file
    with undamaged(file), OPENERS.get(file.suffix, open)(file, "rb") as lines:
        lines.seek(piece.start)
        whole = lines if piece.end < 0 else [lines.read(piece.end - piece.start)]
        for line in whole:
            yield decoded(line, str(file))
