"""The unit of work: so many characters of text, and the file that they become."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from spacy.language import Language
from spacy.tokens import Doc

from ..formats.whole_files import whole_file
from .batches import BATCH_TOKENS, annotated
from .manifest import FAILED, Counts
from .pieces import MAX_CHARS, Record, pieces
from .readers import Texts, pyarrow
from .writers import NEEDS, WRITERS

SHARD_CHARS = 500_000
"""Characters of text in a shard by default."""


@dataclass(frozen=True)
class AnnotateSettings:
    """What decides what is in which file.

    keep: fields that are carried through. max_chars: longer texts are annotated in pieces.
    shard_chars: of a file; the last text of a file may go beyond. batch_tokens: see `annotated`.
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


class Shard(NamedTuple):
    """records: of whole texts or pieces. digest: of them. position: see `Texts`."""

    number: int
    records: list[Record]
    digest: str
    position: int


def shards(texts: Texts, settings: AnnotateSettings) -> Iterator[Shard]:
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


def annotate_shard(nlp: Language, shard: Shard, output: Path, settings: AnnotateSettings) -> Counts:
    """Write the shard's file, and before it that of texts that failed, if any."""
    writer = WRITERS[settings.format](settings.keep)
    counts: Counter[str] = Counter()

    def read(record: Record, doc: Doc) -> int:
        words = sum(not token.is_space for token in doc)
        writer.add(record, doc)
        return words

    failed: list[Record] = [record for record in shard.records if "error" in record]
    sound = (record for record in shard.records if "error" not in record)
    for found in annotated(nlp, sound, read, batch_tokens=settings.batch_tokens):
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
