"""Annotated Docs to files, a shard each. A writer takes records and Docs as they come, and keeps
what it will write, none of spaCy's objects."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from spacy.tokens import Doc

from ..annotations.constituents import CONSTITUENTS_KEY, sentence_trees
from ..annotations.frames import FRAMES_KEY
from ..formats.conllu import format_conllu
from ..formats.docbins import SpacyWriter
from ..formats.props import doc_props, format_props
from .pieces import Record
from .readers import pyarrow
from .records import WORDS, doc_record


class Writer(Protocol):
    """What writes the records of one output file."""

    def add(self, record: Record, doc: Doc) -> None:
        """Raises an error, and takes nothing, if the format can't say what the Doc has."""

    def write(self, path: Path) -> None:
        """All that was added."""


class SpacyShard:
    """`.spacy`: all that Docs have; the record's fields, without its text, in `doc.user_data`."""

    def __init__(self, keep: Sequence[str]) -> None:
        self._writer = SpacyWriter()

    def add(self, record: Record, doc: Doc) -> None:
        doc.user_data.update((key, value) for key, value in record.items() if key != "text")
        self._writer.add([doc])

    def write(self, path: Path) -> None:
        self._writer.write(path)


class LinesShard:
    """JSON lines of `doc_record`'s records."""

    def __init__(self, keep: Sequence[str]) -> None:
        self._lines: list[str] = []

    def add(self, record: Record, doc: Doc) -> None:
        _check_unicode(record)
        self._lines.append(json.dumps(doc_record(record, doc), separators=(",", ":")) + "\n")

    def write(self, path: Path) -> None:
        with path.open("w", encoding="utf8", newline="\n") as file:
            file.writelines(self._lines)


class ParquetShard:
    """The same in columns. A kept field is a column of text: what is none is written as JSON."""

    def __init__(self, keep: Sequence[str]) -> None:
        self._keep = [name for name in keep if name != "id"]
        self._records: list[Record] = []

    def add(self, record: Record, doc: Doc) -> None:
        found = doc_record(record, doc)
        for name in self._keep:
            value = found[name]
            found[name] = value if value is None or isinstance(value, str) else json.dumps(value)
        _check_unicode(record)  # what isn't would fail the whole file
        self._records.append(found)

    def write(self, path: Path) -> None:
        arrow = pyarrow()
        table = arrow.Table.from_pylist(self._records, _schema(arrow, self._keep))
        arrow.parquet.write_table(table, path, compression="zstd")


def _check_unicode(record: Record) -> None:
    """Raises UnicodeEncodeError for fields with half a character, as "\\ud83d" in JSON."""
    fields = {name: value for name, value in record.items() if name != "text"}
    json.dumps(fields, ensure_ascii=False).encode()


def _schema(arrow: Any, keep: Sequence[str]) -> Any:
    text, whole, real = arrow.string(), arrow.int32(), arrow.float32()
    place = {"start": whole, "end": whole}
    span = arrow.struct({**place, "label": text, "score": real})
    frame = arrow.struct({"predicate": whole, "roleset": text, "spans": arrow.list_(span)})
    lists = {
        "words": text,
        "starts": whole,
        "sentences": arrow.struct(place),
        **dict.fromkeys(WORDS, text),
        "heads": whole,
        "relations": text,
        "constituents": span,
        "unparsed": arrow.struct(place),
        "frames": frame,
        "errors": span,
        "error_scores": real,
    }
    return arrow.schema(
        {
            "id": text,
            **dict.fromkeys(keep, text),
            "offset": arrow.int64(),
            "text": text,
            **{name: arrow.list_(kind) for name, kind in lists.items()},
        }
    )


class ConlluShard:
    """CoNLL-U: what is kept, and what stood before a part of a long text, in comments."""

    def __init__(self, keep: Sequence[str]) -> None:
        self._texts: list[bytes] = []

    def add(self, record: Record, doc: Doc) -> None:
        offset = record["offset"]
        name = f"{record['id']}@{offset}" if offset else record["id"]
        kept = {k: v for k, v in record.items() if k not in ("id", "offset", "text")}
        self._texts.append(format_conllu(doc, name, kept).encode())

    def write(self, path: Path) -> None:
        path.write_bytes(b"".join(self._texts))


class BracketsShard:
    """A tree a line."""

    def __init__(self, keep: Sequence[str]) -> None:
        self._lines: list[str] = []

    def add(self, record: Record, doc: Doc) -> None:
        trees = [tree for tree in sentence_trees(doc) if tree.leaves]
        self._lines.append("".join(f"{tree}\n" for tree in trees))

    def write(self, path: Path) -> None:
        path.write_text("".join(self._lines), encoding="utf8", newline="\n")


class PropsShard:
    """The columns of CoNLL-2005."""

    def __init__(self, keep: Sequence[str]) -> None:
        self._texts: list[str] = []

    def add(self, record: Record, doc: Doc) -> None:
        self._texts.append(format_props(doc_props(doc)))

    def write(self, path: Path) -> None:
        path.write_text("".join(self._texts), encoding="utf8", newline="\n")


WRITERS: dict[str, type[Any]] = {
    "jsonl": LinesShard,
    "spacy": SpacyShard,
    "parquet": ParquetShard,
    "conllu": ConlluShard,
    "brackets": BracketsShard,
    "props": PropsShard,
}
"""By format, which is also how files end."""

NEEDS = {"brackets": CONSTITUENTS_KEY, "props": FRAMES_KEY}
"""The span group without which a format has nothing to say."""
