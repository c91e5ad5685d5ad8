"""Docs of annotated corpora: the output of `annotate`, `.spacy` files, CoNLL-U, bracketed trees."""

import json
from collections.abc import Iterator
from pathlib import Path

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..formats.conllu import Conllu
from ..formats.docbins import read_spacy
from ..formats.files import OPENERS, read_text
from ..formats.penn_brackets import Brackets
from ..formats.treebank_format import Files, Losses
from ..formats.treebank_sentence import language_vocab, to_doc
from .manifest import settings_of
from .records import Record, check_record, record_doc
from .texts import pyarrow

TEXT_FORMATS: dict[str, type[Files]] = {
    **dict.fromkeys((".conllu", ".conllx", ".conll"), Conllu),
    **dict.fromkeys((".brackets", ".headed", ".mrg", ".ptb"), Brackets),
}
"""Formats of text by suffix."""
DOC_SUFFIXES = (".spacy", ".jsonl", ".parquet")
"""Suffixes of files of whole Docs, those first that hold the most."""


def read_docs(path: str | Path, vocab: Vocab | None = None) -> Iterator[Doc]:
    """Yield the Docs of a file or a folder; of one that `annotate` wrote, each text once.

    Of CoNLL-U and bracketed trees, plain or compressed, each sentence is a Doc.
    `doc.user_data["id"]` is the id of the text; in treebanks, "sent_id" that of the sentence.
    vocab: by default one without a language.
    Raises ValueError, naming the place, for what can't be read, and FileNotFoundError.
    """
    vocab = vocab or language_vocab("xx")
    for file in corpus_files(Path(path)):
        yield from _read(file, vocab)


def corpus_files(path: Path) -> list[Path]:
    """Return the file itself or the files of a folder that `read_docs` reads. Raises
    FileNotFoundError if there are none, ValueError for a file of another suffix."""
    known = (*DOC_SUFFIXES, *TEXT_FORMATS)
    if not path.is_dir():
        if _suffix(path) not in known:
            raise ValueError(f"{path} doesn't end in {', '.join(known)}")
        return [path]
    settings = settings_of(path)
    if settings is None:
        found = [file for file in path.rglob("*") if file.is_file() and _suffix(file) in known]
    else:
        written = [f".{name}" for name in str(settings.get("format")).split(",")]
        best = next((suffix for suffix in known if suffix in written), "")
        found = list(path.glob(f"part-*{best}")) if best else []
    if not found:
        raise FileNotFoundError(f"no files of {', '.join(known)} in {path}")
    return sorted(found)


def _suffix(path: Path) -> str:
    return (path.with_suffix("") if path.suffix in OPENERS else path).suffix


def _read(path: Path, vocab: Vocab) -> Iterator[Doc]:
    suffix = _suffix(path)
    if suffix == ".spacy":
        yield from read_spacy(path, vocab)
    elif suffix in TEXT_FORMATS:
        for sentence in TEXT_FORMATS[suffix]().read(path, Losses()):
            yield to_doc(sentence, vocab)
    else:
        for place, record in _records(path, suffix):
            try:
                check_record(record)
                doc = record_doc(record, vocab)
            except KeyError as error:
                raise ValueError(f"{path}:{place}: a record without {error}") from error
            except ValueError as error:
                raise ValueError(f"{path}:{place}: {error}") from error
            doc.user_data["id"] = record.get("id")
            yield doc


def _records(path: Path, suffix: str) -> Iterator[tuple[int, Record]]:
    if suffix == ".parquet":
        with pyarrow().parquet.ParquetFile(path) as file:
            number = 0
            for batch in file.iter_batches(1000):
                for record in batch.to_pylist():
                    number += 1
                    yield number, record
        return
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            try:
                yield number, dict(json.loads(line))
            except (ValueError, TypeError) as error:
                raise ValueError(f"{path}:{number}: no JSON object: {error}") from error
