"""The unit of work: so many characters of text, and the file that they become.

A writer takes records and Docs as they come, and keeps what it will write, none of spaCy's objects.
"""

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
"""Makers of shards: processes of this machine, or actors of Ray."""
SHARD_CHARS = 500_000
"""Characters of text in a shard by default."""


class Writer(Protocol):
    """A writer of one output file."""

    def add(self, record: Record, doc: Doc) -> None:
        """Raises an error, and takes nothing, if the format can't say what the Doc has."""

    def write(self, path: Path) -> None:
        """Write all that was added."""


class TextWriter:
    """Texts that `text` makes of records and Docs, one after the other."""

    def __init__(self, text: Callable[[Record, Doc], str]) -> None:
        self._text = text
        self._texts: list[bytes] = []

    def add(self, record: Record, doc: Doc) -> None:
        self._texts.append(self._text(record, doc).encode())

    def write(self, path: Path) -> None:
        path.write_bytes(b"".join(self._texts))


def json_line(record: Record, doc: Doc) -> str:
    """`doc_record`'s record."""
    _check_unicode(record)
    return json.dumps(doc_record(record, doc), separators=(",", ":")) + "\n"


def conllu(record: Record, doc: Doc) -> str:
    """CoNLL-U: what is kept, and what stood before a part of a long text, in comments."""
    offset = record["offset"]
    name = f"{record['id']}@{offset}" if offset else record["id"]
    kept = {k: v for k, v in record.items() if k not in ("id", "offset", "text")}
    return format_conllu(doc, name, kept)


def brackets(record: Record, doc: Doc) -> str:
    """A tree a line."""
    return "".join(f"{tree}\n" for tree in sentence_trees(doc) if tree.leaves)


def props(record: Record, doc: Doc) -> str:
    """The columns of CoNLL-2005."""
    return format_props(doc_props(doc))


class DocsWriter:
    """`.spacy`: all that Docs have; the record's fields, without its text, in `doc.user_data`."""

    def __init__(self) -> None:
        self._docs = SpacyWriter()

    def add(self, record: Record, doc: Doc) -> None:
        doc.user_data.update((key, value) for key, value in record.items() if key != "text")
        self._docs.add([doc])

    def write(self, path: Path) -> None:
        self._docs.write(path)


class ParquetWriter:
    """`doc_record`'s records in columns: a kept field as text, what is none as JSON."""

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
        text = arrow.string()
        layers = AnnotatedText.model_fields
        columns = {name: _column(arrow, field.annotation) for name, field in layers.items()}
        kept = dict.fromkeys(self._keep, text)
        schema = arrow.schema({"id": text, **kept, **columns, "offset": arrow.int64()})
        table = arrow.Table.from_pylist(self._records, schema)
        arrow.parquet.write_table(table, path, compression="zstd")


def _column(arrow: Any, kind: Any) -> Any:
    """The Arrow type of a field: of `X | None` and `X | Y` that of X."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        fields = kind.model_fields.items()
        return arrow.struct({name: _column(arrow, field.annotation) for name, field in fields})
    if get_origin(kind) is Sequence:
        return arrow.list_(_column(arrow, get_args(kind)[0]))
    if arguments := get_args(kind):
        return _column(arrow, arguments[0])
    return {str: arrow.string(), int: arrow.int32(), float: arrow.float32()}[kind]


def _check_unicode(record: Record) -> None:
    """Raises UnicodeEncodeError for fields with half a character, as "\\ud83d" in JSON."""
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
"""A writer of each format, which is also how files end, from the fields to keep."""

NEEDS = {"brackets": CONSTITUENTS_KEY, "props": FRAMES_KEY}
"""The span group without which a format has nothing to say."""


@dataclass(frozen=True)
class AnnotateSettings:
    """Settings that decide the contents of files.

    keep: fields that are carried through. max_chars: longer texts are annotated in pieces.
    shard_chars: of a file; the last text of a file may go beyond. batch_tokens: see
    `through_pipeline`.
    """

    format: str = "jsonl"
    keep: Sequence[str] = ()
    max_chars: int = MAX_CHARS
    shard_chars: int = SHARD_CHARS
    batch_tokens: int = BATCH_TOKENS

    def __post_init__(self) -> None:
        """Raises ValueError, and ImportError if what the format needs is not installed."""
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
    """Who annotates; it makes no difference to what is found.

    processes: 1 for this one. threads: of torch in each; 0 for its own choice, and for an even
    share of the cores where there are several processes. gpu: which, -1 for none. engine:
    "processes" of this machine, or "ray", where these are actors, of one thread unless told
    otherwise and with a GPU each, whichever Ray gives them, unless `gpu` is -1.
    """

    processes: int = 1
    threads: int = 0
    gpu: int = -1
    engine: str = "processes"

    def __post_init__(self) -> None:
        """Raises ValueError if there is no such engine."""
        if self.engine not in ENGINES:
            raise ValueError(
                f"unknown engine {self.engine!r}: expected one of {', '.join(ENGINES)}"
            )


class Shard(NamedTuple):
    """records: of whole texts or pieces. digest: of them. position: see `Texts`."""

    number: int
    records: list[Record]
    digest: str
    position: int


def cut_shards(texts: Texts, settings: AnnotateSettings) -> Iterator[Shard]:
    """The input, cut the same way whenever it is read. One shard is in memory at a time."""
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
    """The name of an output file."""
    return f"part-{number:05}.{settings.format}"


def make_shard(nlp: Language, shard: Shard, output: Path, settings: AnnotateSettings) -> Counts:
    """Write the shard's file, and before it that of texts that failed, if any."""
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
        failures.unlink(missing_ok=True)  # of a run that was stopped between the two files
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
        # in ASCII: what failed may be no Unicode
        unfinished.write_text("".join(json.dumps(record) + "\n" for record in records))


def check_finds(nlp: Language, settings: AnnotateSettings) -> None:
    """Raises ValueError if the pipeline doesn't find what the format consists of."""
    key = NEEDS.get(settings.format)
    if key is not None and key not in nlp("This is it.").spans:
        raise ValueError(
            f"{settings.format} needs doc.spans[{key!r}], which none of the pipeline's components "
            f"writes: {', '.join(nlp.pipe_names) or 'it has none'}"
        )
