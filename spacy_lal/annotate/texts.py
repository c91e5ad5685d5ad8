"""Texts from files or stdin: plain (a paragraph a line), JSON lines, Parquet; and their pieces."""

import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any

from pydantic_core import to_jsonable_python

from ..formats.files import OPENERS, undamaged
from .records import FIELDS, Record

STDIN = "-"
"""Path of standard input."""
KINDS = ("txt", "jsonl", "parquet")
"""File suffixes of the input's formats."""

MAX_CHARS = 100_000
"""Default length of a piece, in characters (some 20,000 words); spaCy refuses 1,000,000."""

# From the best place to the worst; cuts are behind matches, so that pieces add up to the text.
_PLACES = (
    re.compile(r"\n[^\S\n]*\n\s*"),
    re.compile(r"\n\s*"),
    re.compile(r"[.!?…。！？][\"'”’)\]]*(?:\s+|(?<=[。！？]))"),
    re.compile(r"\s+"),
)


@dataclass
class Texts:
    """Records of the input: "id" (default "FILE:LINE"), "text" and the fields to keep. A malformed
    line becomes a record with an "error" and its readable fields. position, size: bytes read so
    far, bytes of all files (None for stdin)."""

    input: str
    kind: str | None = None
    text_field: str = "text"
    keep: Sequence[str] = ()
    position: int = field(default=0, init=False)
    files: list[tuple[str, Path, str]] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        """Raise ValueError or OSError for unreadable input or fields that can't be kept."""
        if self.kind not in (None, *KINDS):
            raise ValueError(f"no input format {self.kind!r}: it is one of {', '.join(KINDS)}")
        if taken := set(self.keep) & {*FIELDS, self.text_field} - {"id"}:
            raise ValueError(f"annotated texts have {min(taken)!r} of their own: it can't be kept")
        if self.input != STDIN:
            self._find(Path(self.input))
        kinds = {kind for *_, kind in self.files} or {self.kind or "txt"}
        if self.input == STDIN and "parquet" in kinds:
            raise ValueError("Parquet can't be read from stdin: its index is at its end")
        if "txt" in kinds and set(self.keep) - {"id"}:
            raise ValueError("lines of plain text have no fields to keep")
        if "parquet" in kinds:
            pyarrow()

    def _find(self, path: Path) -> None:
        if path.is_dir():
            wanted = (self.kind,) if self.kind else KINDS
            self.files = [
                (file.relative_to(path).as_posix(), file, _kind(file))
                for file in sorted(path.rglob("*"))
                if file.is_file() and _kind(file) in wanted
            ]
            if not self.files:
                raise FileNotFoundError(f"no text in {path}: it has no {', '.join(KINDS)} files")
            return
        kind = self.kind or _kind(path)
        if kind not in KINDS:
            raise ValueError(f"{path} doesn't say its format: give --input-format")
        path.stat()  # raises an error for a file that isn't there
        self.files = [(path.name, path, kind)]

    @property
    def size(self) -> int | None:
        return sum(path.stat().st_size for _, path, _ in self.files) if self.files else None

    def __iter__(self) -> Iterator[Record]:
        """Yield the records. Raises ValueError, naming the file and the line, for damaged files."""
        if not self.files:
            yield from self._lines("stdin", sys.stdin.buffer, self.kind or "txt")
        before = 0
        for name, path, kind in self.files:
            if kind == "parquet":
                yield from self._parquet(name, path, before)
            else:
                yield from self._file(name, path, kind, before)
            before += path.stat().st_size
            self.position = before

    def _file(self, name: str, path: Path, kind: str, before: int) -> Iterator[Record]:
        number = 0
        with undamaged(path, lambda: f"text {number}"), path.open("rb") as raw:
            opener = OPENERS.get(path.suffix)
            with opener(raw, "rb") if opener else raw as file:
                for record in self._lines(name, file, kind):
                    number += 1
                    self.position = before + raw.tell()
                    yield record

    def _lines(self, name: str, file: IO[bytes], kind: str) -> Iterator[Record]:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            place = f"{name}:{number}"
            line = line.rstrip(b"\r\n")
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            try:
                text = line.decode("utf8")
                if kind == "txt":
                    yield {"id": place, "text": text}
                else:
                    # srsly reads neither NaN nor large numbers
                    yield self._record(place, json.loads(text))
            except ValueError as error:
                yield {"id": place, "text": line.decode("utf8", "replace"), "error": told(error)}

    def _record(self, place: str, values: Any) -> Record:
        if not isinstance(values, dict):
            raise ValueError(f"expected a JSON object on each line, found {str(values)[:40]!r}")
        name = _decoded(values.get("id"))
        record: Record = {"id": place if name is None else str(name)}
        kept = {key: _decoded(values.get(key)) for key in self.keep if key != "id"}
        # null for NaN and infinity, text for dates and other types
        record |= to_jsonable_python(kept, inf_nan_mode="null", fallback=str)
        if type(offset := values.get("offset")) is int:
            record["offset"] = offset  # of a piece that failed in another run
        text = values.get(self.text_field)
        if not isinstance(text, str):
            return {**record, "text": "", "error": f"no text in {self.text_field!r}"}
        return {**record, "text": text}

    def _parquet(self, name: str, path: Path, before: int) -> Iterator[Record]:
        parquet = pyarrow().parquet
        try:
            with parquet.ParquetFile(path) as file:
                there = set(file.schema_arrow.names)
                for wanted in (self.text_field, *self.keep):
                    if wanted not in there and wanted != "id":
                        raise ValueError(f"expected a column {wanted!r} among {sorted(there)}")
                columns = [self.text_field, *({"id", *self.keep} & there)]
                rows, size = file.metadata.num_rows, path.stat().st_size
                number = 0
                for batch in file.iter_batches(1000, columns=columns):
                    for values in _rows(batch):
                        number += 1
                        self.position = before + size * number // rows
                        place = f"{name}:{number}"
                        if isinstance(values, Exception):
                            yield {"id": place, "text": "", "error": told(values)}
                        else:
                            yield self._record(place, values)
        except (ValueError, OSError) as error:
            raise ValueError(f"{path}: {error}") from error


def _rows(batch: Any) -> Iterable[Any]:
    """Return the rows of a batch of Parquet, and an error for each one that Python can't express,
    such as a date before the year 1 or a string that isn't UTF-8."""
    try:
        return batch.to_pylist()
    except Exception:
        return map(partial(_row, batch), range(len(batch)))


def _row(batch: Any, number: int) -> Any:
    try:
        return batch.slice(number, 1).to_pylist()[0]
    except Exception as error:
        return error


def _decoded(value: Any) -> Any:
    """Return the value with its bytes, also those inside, as text; what isn't UTF-8 is replaced."""
    if isinstance(value, bytes):
        return value.decode("utf8", "replace")
    if isinstance(value, (list, tuple)):
        return list(map(_decoded, value))
    if isinstance(value, dict):
        return {_decoded(key): _decoded(inside) for key, inside in value.items()}
    return value


def _kind(path: Path) -> str:
    """Return the suffix, of compressed files the one before, without its dot."""
    name = path.with_suffix("") if path.suffix in OPENERS else path
    return name.suffix.removeprefix(".").lower()


def pyarrow() -> Any:
    """Import pyarrow and its Parquet. Raises ImportError with advice."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError("Parquet needs pyarrow: pip install 'spacy-lal[parquet]'") from error
    return pyarrow


def told(error: Exception) -> str:
    """Return type and message of an error in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def pieces(record: Record, max_chars: int = MAX_CHARS) -> Iterator[Record]:
    """Yield the record, or records of the pieces of a text longer than `max_chars`. Pieces have all
    fields of the record; "offset" is a piece's place. Raises ValueError for max_chars < 1."""
    if max_chars < 1:
        raise ValueError(f"max_chars must be at least 1, got {max_chars}")
    text, offset = record["text"], record.get("offset", 0)
    start = 0
    while len(text) - start > max_chars:
        end = _cut(text, start, max_chars)
        yield {**record, "text": text[start:end], "offset": offset + start}
        start = end
    yield {**record, "text": text[start:], "offset": offset + start}


def _cut(text: str, start: int, max_chars: int) -> int:
    """Return the best cut in the second half of what fits, or the full length."""
    middle, end = start + (max_chars + 1) // 2, start + max_chars
    for place in _PLACES:
        cut = 0
        for match in place.finditer(text, middle, end):
            cut = match.end()
        if cut:
            return cut
    return end
