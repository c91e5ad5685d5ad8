"""What a record for a picture must have: such records may be written by hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from numbers import Real
from typing import Any

OF_WORDS = {
    "tags": str,
    "pos": str,
    "starts": int,
    "heads": int,
    "relations": str,
    "error_scores": Real,
}
"""Fields with one value a word, and the values' type."""


def check_record(record: Mapping[str, Any]) -> None:
    """Raise ValueError for the first field that no picture can be drawn of, and name it."""
    if "words" not in record:
        raise ValueError(f"a record for a picture must have 'words': this one has {sorted(record)}")
    words = record["words"]
    if not _is_list(words, str):
        raise ValueError(f"'words' must be a list of strings, not {words!r}")
    for name, kind in OF_WORDS.items():
        values = record.get(name)
        if values is None:
            continue
        if not _is_list(values, kind):
            raise ValueError(f"{name!r} must be a list of values of type {kind.__name__}")
        if len(values) != len(words):
            raise ValueError(f"{name!r} has {len(values)} values for {len(words)} words")
    heads = record.get("heads")
    if heads is not None:
        if record.get("relations") is None:
            raise ValueError("'heads' need 'relations'")
        for i, head in enumerate(heads):
            _check_place(f"heads[{i}]", head, len(words))
    for name in ("sentences", "constituents", "errors"):
        for place, span in _items(record, name):
            _check_span(place, span, len(words), labelled=name != "sentences")
    for place, frame in _items(record, "frames"):
        if not {"predicate", "spans"} <= {*frame}:
            raise ValueError(f"{place} must have 'predicate' and 'spans': it has {sorted(frame)}")
        _check_place(f"{place}['predicate']", frame["predicate"], len(words))
        for of_frame, span in _items(frame, "spans", f"{place}['spans']"):
            _check_span(of_frame, span, len(words), labelled=True)


def _items(record: Mapping[str, Any], name: str, place: str = "") -> Iterator[tuple[str, Any]]:
    """The dicts of a field, each with what an error calls it; none if the field is missing."""
    found = record.get(name)
    if found is not None and not _is_list(found, Mapping):
        raise ValueError(f"{place or name} must be a list of dicts, not {found!r}")
    for i, item in enumerate(found or ()):
        yield f"{place or name}[{i}]", item


def _check_span(place: str, span: Mapping[str, Any], words: int, *, labelled: bool) -> None:
    needed = ("start", "end", "label") if labelled else ("start", "end")
    if missing := [name for name in needed if name not in span]:
        raise ValueError(f"{place} has no {missing[0]!r}: it has {sorted(span)}")
    start, end = span["start"], span["end"]
    if not (isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= words):
        raise ValueError(f"{place}: span {start}-{end} is empty or outside {words} words")


def _check_place(place: str, token: Any, words: int) -> None:
    if not isinstance(token, int) or not 0 <= token < words:
        raise ValueError(f"{place} must be a word's place, from 0 to {words - 1}, not {token!r}")


def _is_list(values: Any, kind: type) -> bool:
    return isinstance(values, (list, tuple)) and all(isinstance(value, kind) for value in values)
