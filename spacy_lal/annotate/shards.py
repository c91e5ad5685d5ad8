"""Shards: fixed amounts of text, and their output files."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_origin

from pydantic import BaseModel
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Token

from ..annotations.constituents import sentence_trees
from ..annotations.universal_tags import set_universal_tags
from ..annotations.words import word_heads
from ..formats.conllu import format_conllu, sent_id
from ..formats.docbins import pack, write_packed
from ..formats.files import whole_file, write_whole
from ..formats.penn_brackets import Brackets
from ..formats.props import format_props
from ..trees.head_marks import mark_heads
from .annotating import BATCH_TOKENS, through_pipeline
from .manifest import FAILED, Counts
from .records import AnnotatedText, Layers, Record, doc_record, layers_of
from .texts import MAX_CHARS, Texts, pieces, pyarrow


def json_line(record: Record, doc: Doc, layers: Layers) -> str:
    """Return a line of JSON with `doc_record`'s record."""
    return json.dumps(doc_record(record, doc, layers), separators=(",", ":")) + "\n"


def headed(record: Record, doc: Doc, layers: Layers) -> str:
    """Return a tree per line, with marks at heads."""
    trees = (tree for tree in sentence_trees(doc) if tree.leaves)
    lines: list[str] = []
    for tree, words in zip(trees, _sentences(doc), strict=True):
        lines.append(f"{mark_heads(tree, word_heads(words))}\n")
    return "".join(lines)


def ids(record: Record, doc: Doc, layers: Layers) -> str:
    """Return a line for each tree of `brackets`: id of the sentence, as in CoNLL-U, and the kept
    fields, between tabs."""
    fields = [" ".join((value or "").split()) for value in _as_text(_kept(record)).values()]
    numbers = range(1, 1 + len(_sentences(doc)))
    return "".join("\t".join([sent_id(_name(record), k), *fields]) + "\n" for k in numbers)


def _sentences(doc: Doc) -> list[list[Token]]:
    """Return the words of each sentence that has some."""
    whole = doc.sents if doc.has_annotation("SENT_START") else [doc[:]]
    found = ([token for token in sentence if not token.is_space] for sentence in whole)
    return [words for words in found if words]


def _name(record: Record) -> str:
    return f"{record['id']}@{record['offset']}" if record["offset"] else record["id"]


def packed_doc(record: Record, doc: Doc, layers: Layers) -> DocBin:
    """Return the Doc in bytes, with the record's fields but the text in `doc.user_data`."""
    doc.user_data.update((key, value) for key, value in record.items() if key != "text")
    return pack(doc)


def row(record: Record, doc: Doc, layers: Layers) -> Record:
    """Return `doc_record`'s record; kept fields become text, in JSON if need be."""
    return doc_record(record | _as_text(_kept(record)), doc, layers)


def _as_text(fields: Record) -> dict[str, Any]:
    return {
        name: value if value is None or isinstance(value, str) else json.dumps(value)
        for name, value in fields.items()
    }


def _kept(record: Record) -> Record:
    return {name: value for name, value in record.items() if name not in ("id", "offset", "text")}


def write_text(texts: Sequence[str], path: Path, keep: Sequence[str]) -> None:
    """Write texts one after the other."""
    path.write_bytes("".join(texts).encode())


def write_parquet(rows: Sequence[Record], path: Path, keep: Sequence[str]) -> None:
    """Write records in columns, those of `AnnotatedText` and the kept fields."""
    arrow = pyarrow()
    text = arrow.string()
    layers = AnnotatedText.model_fields
    columns = {name: _column(arrow, field.annotation) for name, field in layers.items()}
    kept = {name: text for name in keep if name != "id"}
    schema = arrow.schema({"id": text, **kept, **columns, "offset": arrow.int64()})
    table = arrow.Table.from_pylist(rows, schema)
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


class OutputFormat(NamedTuple):
    """Format of output files.

    item: what a file has of a record with these layers, without spaCy's objects; raises an error if
    the format can't express the Doc. write: function that writes items to a path, given the kept
    fields. needs: the layers without which there is nothing to write. keeps: whether it has a place
    for fields.
    """

    item: Callable[[Record, Doc, Layers], Any]
    write: Callable[[Any, Path, Sequence[str]], None] = write_text
    needs: Sequence[str] = ()
    keeps: bool = True


FORMATS = {
    "jsonl": OutputFormat(json_line),
    "spacy": OutputFormat(packed_doc, lambda docs, path, keep: write_packed(docs, path)),
    "parquet": OutputFormat(row, write_parquet),
    "conllu": OutputFormat(
        lambda record, doc, layers: format_conllu(doc, _name(record), _kept(record))
    ),
    "brackets": OutputFormat(
        lambda record, doc, layers: Brackets().write(doc), needs=["constituents"], keeps=False
    ),
    "headed": OutputFormat(headed, needs=["constituents", "heads"], keeps=False),
    "ids": OutputFormat(ids),
    "props": OutputFormat(
        lambda record, doc, layers: format_props(doc), needs=["frames"], keeps=False
    ),
}
"""The formats, whose names are the files' suffixes."""

SHARD_CHARS = 500_000
"""Default size of a shard, in characters of text."""
LEAST_CHARS = 50_000
"""Characters that fill a batch; words of smaller shards cost more time."""


def default_chars(size: int | None, processes: int) -> int:
    """Return the size of shards for an input of `size` bytes (None if it isn't known): the default,
    or what gives each of several processes some four shards, so that they end together."""
    if size is None or processes == 1:
        return SHARD_CHARS
    return max(LEAST_CHARS, min(SHARD_CHARS, size // (4 * processes)))


@dataclass(frozen=True)
class AnnotateSettings:
    """Settings that decide the contents of files.

    format: names of formats, with commas between them. keep: fields of the input to keep.
    max_chars: greatest length of a piece; longer texts are cut.
    shard_chars, batch_tokens: size of a shard and of a batch; their last texts may exceed it.
    one_per_line: whether each text is one sentence. upos: whether words without a universal tag get
    one by `universal_tags`.
    """

    format: str = "jsonl"
    keep: Sequence[str] = ()
    max_chars: int = MAX_CHARS
    shard_chars: int = SHARD_CHARS
    batch_tokens: int = BATCH_TOKENS
    one_per_line: bool = False
    upos: bool = False

    @property
    def formats(self) -> list[str]:
        return [name.strip() for name in self.format.split(",")]

    def __post_init__(self) -> None:
        """Raise ValueError for bad settings, ImportError if the format needs a missing package."""
        for name in self.formats:
            if name not in FORMATS:
                raise ValueError(f"no format {name!r}: expected one of {', '.join(FORMATS)}")
            if self.formats.count(name) > 1:
                raise ValueError(f"--format names {name} twice")
        if self.keep and not any(FORMATS[name].keeps for name in self.formats):
            raise ValueError(f"{self.format} has no place for fields: keep none, or add ids")
        if "parquet" in self.formats:
            pyarrow()


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


def shard_names(number: int, settings: AnnotateSettings) -> list[str]:
    """Return the names of a shard's output files."""
    return [f"part-{number:05}.{name}" for name in settings.formats]


def make_shard(nlp: Language, shard: Shard, output: Path, settings: AnnotateSettings) -> Counts:
    """Write the shard's files, after that of failed texts, if any."""
    forms = [FORMATS[name] for name in settings.formats]
    layers = layers_of(nlp)
    if layers is not None and settings.upos:
        layers = {*layers, "pos"}
    items: list[list[Any]] = []
    words = 0

    def read(record: Record, doc: Doc) -> tuple[int, list[Any]]:
        words = sum(not token.is_space for token in doc)
        # a field with half a surrogate pair, as "\ud83d" in JSON, would fail the whole file
        json.dumps(record, ensure_ascii=False).encode()
        if settings.one_per_line and (found := len(list(doc.sents)) if words else 1) > 1:
            raise ValueError(f"a component made {found} sentences of one line")
        if settings.upos:
            set_universal_tags(doc)
        return words, [form.item(record, doc, layers) for form in forms]

    failed: list[Record] = [record for record in shard.records if "error" in record]
    sound = (record for record in shard.records if "error" not in record)
    for found in through_pipeline(
        nlp, sound, read, batch_tokens=settings.batch_tokens, one_sentence=settings.one_per_line
    ):
        if found.value is None:
            failed.append({**found.record, "error": found.error})
        else:
            words += found.value[0]
            items.append(found.value[1])
    failures = output / FAILED / f"part-{shard.number:05}.jsonl"
    if failed:
        # in ASCII: failed text may be invalid Unicode
        write_whole(failures, "".join(json.dumps(record) + "\n" for record in failed))
    else:
        failures.unlink(missing_ok=True)  # from a run that was stopped between the two files
    for k, name in enumerate(shard_names(shard.number, settings)):
        with whole_file(output / name) as unfinished:
            forms[k].write([item[k] for item in items], unfinished, settings.keep)
    return {
        "shard": shard.number,
        "digest": shard.digest,
        "texts": len(items),
        "words": words,
        "failed": len(failed),
    }
