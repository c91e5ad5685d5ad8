"""Shards: fixed amounts of text, and their output files. Writers keep none of spaCy's objects."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple, Protocol, get_args, get_origin

from pydantic import BaseModel
from spacy.language import Language
from spacy.tokens import Doc

from ..annotations.constituents import CONSTITUENTS_KEY, sentence_trees
from ..annotations.frames import FRAMES_KEY
from ..formats.conllu import format_conllu
from ..formats.docbins import SpacyWriter
from ..formats.props import doc_props, format_props
from ..formats.whole_files import whole_file
from .annotating import BATCH_TOKENS, through_pipeline
from .manifest import FAILED, Counts
from .records import AnnotatedText, Record, doc_record
from .texts import MAX_CHARS, Texts, pieces, pyarrow

ENGINES = ("processes", "ray")
"""Makers of shards: processes of this machine, or Ray's actors."""
SHARD_CHARS = 500_000
"""Default size of a shard, in characters of text."""


class Writer(Protocol):
    """Writer of one output file."""

    def add(self, record: Record, doc: Doc) -> None:
        """Add a record. Raises an error, and adds nothing, if the format can't express the Doc."""

    def write(self, path: Path) -> None:
        """Write all added records."""


class TextWriter:
    """Writer of the texts that `text` makes of records and Docs."""

    def __init__(self, text: Callable[[Record, Doc], str]) -> None:
        self._text = text
        self._texts: list[bytes] = []

    def add(self, record: Record, doc: Doc) -> None:
        self._texts.append(self._text(record, doc).encode())

    def write(self, path: Path) -> None:
        path.write_bytes(b"".join(self._texts))


def json_line(record: Record, doc: Doc) -> str:
    """Return a line of JSON with `doc_record`'s record."""
    _check_unicode(record)
    return json.dumps(doc_record(record, doc), separators=(",", ":")) + "\n"


def conllu(record: Record, doc: Doc) -> str:
    """Return CoNLL-U, with kept fields and offsets in comments."""
    offset = record["offset"]
    name = f"{record['id']}@{offset}" if offset else record["id"]
    kept = {k: v for k, v in record.items() if k not in ("id", "offset", "text")}
    return format_conllu(doc, name, kept)


def brackets(record: Record, doc: Doc) -> str:
    """Return a tree per line."""
    return "".join(f"{tree}\n" for tree in sentence_trees(doc) if tree.leaves)


def props(record: Record, doc: Doc) -> str:
    """Return the columns of CoNLL-2005."""
    return format_props(doc_props(doc))


class DocsWriter:
    """Writer of `.spacy` files, with records' fields but the text in `doc.user_data`."""

    def __init__(self) -> None:
        self._docs = SpacyWriter()

    def add(self, record: Record, doc: Doc) -> None:
        doc.user_data.update((key, value) for key, value in record.items() if key != "text")
        self._docs.add([doc])

    def write(self, path: Path) -> None:
        self._docs.write(path)


class ParquetWriter:
    """Writer of `doc_record`'s records in columns; kept fields become text or JSON."""

    def __init__(self, keep: Sequence[str]) -> None:
        self._keep = [name for name in keep if name != "id"]
        self._records: list[Record] = []

    def add(self, record: Record, doc: Doc) -> None:
        found = doc_record(record, doc)
        for name in self._keep:
            value = found[name]
            found[name] = value if value is None or isinstance(value, str) else json.dumps(value)
        _check_unicode(record)  # other text would fail the whole file
        self._records.append(found)

    def write(self, path: Path) -> None:
        arrow = pyarrow()
        text = arrow.string()
        layers = AnnotatedText.model_fields
        columns = {name: _column(arrow, field.annotation) for name, field in layers.items()}
        kept = dict.fromkeys(self._keep, text)
        schema = arrow.schema({"id": text, **kept, **columns, "offset": arrow.int64()})
        table = arrow.Table.from_pylist(self._records, schema)
        arrow.parquet.write_table(table, path, compression="zstd")


def _column(arrow: Any, kind: Any) -> Any:
    """Return a field's Arrow type; in unions the first type counts."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        fields = kind.model_fields.items()
        return arrow.struct({name: _column(arrow, field.annotation) for name, field in fields})
    if get_origin(kind) is Sequence:
        return arrow.list_(_column(arrow, get_args(kind)[0]))
    if arguments := get_args(kind):
        return _column(arrow, arguments[0])
    return {str: arrow.string(), int: arrow.int32(), float: arrow.float32()}[kind]


def _check_unicode(record: Record) -> None:
    """Raise UnicodeEncodeError for fields with half a surrogate pair, as "\\ud83d" in JSON."""
    fields = {name: value for name, value in record.items() if name != "text"}
    json.dumps(fields, ensure_ascii=False).encode()


WRITERS: dict[str, Callable[[Sequence[str]], Writer]] = {
    "jsonl": lambda keep: TextWriter(json_line),
    "spacy": lambda keep: DocsWriter(),
    "parquet": ParquetWriter,
    "conllu": lambda keep: TextWriter(conllu),
    "brackets": lambda keep: TextWriter(brackets),
    "props": lambda keep: TextWriter(props),
}
"""Writer of each format, made from the fields to keep; the format is the file suffix."""

NEEDS = {"brackets": CONSTITUENTS_KEY, "props": FRAMES_KEY}
"""Span group that a format needs."""


@dataclass(frozen=True)
class AnnotateSettings:
    """Settings that decide the contents of files.

    keep: fields of the input to keep. max_chars: greatest length of a piece; longer texts are cut.
    shard_chars, batch_tokens: size of a shard and of a batch; their last texts may exceed it.
    """

    format: str = "jsonl"
    keep: Sequence[str] = ()
    max_chars: int = MAX_CHARS
    shard_chars: int = SHARD_CHARS
    batch_tokens: int = BATCH_TOKENS

    def __post_init__(self) -> None:
        """Raise ValueError for bad settings, ImportError if the format needs a missing package."""
        if self.format not in WRITERS:
            raise ValueError(
                f"unknown format {self.format!r}: expected one of {', '.join(WRITERS)}"
            )
        if self.format in NEEDS and self.keep:
            raise ValueError(f"{self.format} has no place for fields: keep none, or take jsonl")
        for name in ("max_chars", "shard_chars", "batch_tokens"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.format == "parquet":
            pyarrow()


@dataclass(frozen=True)
class Workers:
    """Settings of the annotating processes, without effect on the results.

    processes: number of processes; with 1, this process annotates.
    threads: torch's threads in each process; 0 for torch's default or, with several processes, for
        an equal share of the cores.
    gpu: number of the GPU, -1 for none.
    engine: "processes" of this machine, or "ray", with actors of one thread by default and a GPU
        each, chosen by Ray, unless `gpu` is -1.
    """

    processes: int = 1
    threads: int = 0
    gpu: int = -1
    engine: str = "processes"

    def __post_init__(self) -> None:
        """Raise ValueError for an unknown engine."""
        if self.engine not in ENGINES:
            raise ValueError(
                f"unknown engine {self.engine!r}: expected one of {', '.join(ENGINES)}"
            )


class Shard(NamedTuple):
    """Records of whole texts or pieces, their digest, and the position in the `Texts`."""

    number: int
    records: list[Record]
    digest: str
    position: int


def cut_shards(texts: Texts, settings: AnnotateSettings) -> Iterator[Shard]:
    """Yield the input as shards, one in memory at a time. The cuts are the same in every run."""
    number, chars = 0, 0
    records: list[Record] = []
    for text in texts:
        for record in pieces(text, settings.max_chars):
            records.append(record)
            chars += len(record["text"]) + 1
            if chars >= settings.shard_chars:
                yield Shard(number, records, _digest(records), texts.position)
                number, chars, records = number + 1, 0, []
    if records:
        yield Shard(number, records, _digest(records), texts.position)


def _digest(records: Iterable[Record]) -> str:
    digest = blake2b(digest_size=8)
    for record in records:
        digest.update(json.dumps(record).encode() + b"\n")
    return digest.hexdigest()


def shard_name(number: int, settings: AnnotateSettings) -> str:
    """Return the name of an output file."""
    return f"part-{number:05}.{settings.format}"


def make_shard(nlp: Language, shard: Shard, output: Path, settings: AnnotateSettings) -> Counts:
    """Write the file of the shard's failed texts, if any, then the shard's file."""
    writer = WRITERS[settings.format](settings.keep)
    counts: Counter[str] = Counter()

    def read(record: Record, doc: Doc) -> int:
        words = sum(not token.is_space for token in doc)
        writer.add(record, doc)
        return words

    failed: list[Record] = [record for record in shard.records if "error" in record]
    sound = (record for record in shard.records if "error" not in record)
    for found in through_pipeline(nlp, sound, read, batch_tokens=settings.batch_tokens):
        if found.value is None:
            failed.append({**found.record, "error": found.error})
        else:
            counts["texts"] += 1
            counts["words"] += found.value
    path = output / shard_name(shard.number, settings)
    failures = output / FAILED / f"{path.stem}.jsonl"
    if failed:
        _write_failed(failed, failures)
    else:
        failures.unlink(missing_ok=True)  # from a run that was stopped between the two files
    with whole_file(path) as unfinished:
        writer.write(unfinished)
    return {
        "shard": shard.number,
        "digest": shard.digest,
        "texts": counts["texts"],
        "words": counts["words"],
        "failed": len(failed),
    }


def _write_failed(records: list[Record], path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    with whole_file(path) as unfinished:
        # in ASCII: failed text may be invalid Unicode
        unfinished.write_text("".join(json.dumps(record) + "\n" for record in records))


def check_finds(nlp: Language, settings: AnnotateSettings) -> None:
    """Raise ValueError if the pipeline doesn't find the annotation of the format."""
    key = NEEDS.get(settings.format)
    if key is not None and key not in nlp("This is it.").spans:
        raise ValueError(
            f"{settings.format} needs doc.spans[{key!r}], which none of the pipeline's components "
            f"writes: {', '.join(nlp.pipe_names) or 'it has none'}"
        )
