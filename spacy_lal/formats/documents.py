"""Lists of documents, or of pieces of them, that a file of a treebank is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from .files import FormatError, is_number, read_text


@dataclass
class DocumentList:
    """ranges: of each document the first and last of its sentences that are meant, from 0; None
    for all of them. source: where the list is from. seen: documents that were asked for."""

    ranges: dict[str, tuple[int, int] | None]
    source: str = "<string>"
    seen: set[str] = field(default_factory=set)

    def __call__(self, document: str, number: int) -> bool:
        """Whether sentence `number` of a document is in the list."""
        if document not in self.ranges:
            return False
        self.seen.add(document)
        limits = self.ranges[document]
        return limits is None or limits[0] <= number <= limits[1]

    def check_seen(self) -> None:
        """Raises ValueError for a listed document that nobody has asked for."""
        if missing := sorted(self.ranges.keys() - self.seen):
            raise ValueError(f"{self.source}: no document {missing[0]!r} in the input")


def read_documents(path: str | Path) -> DocumentList:
    """A list with a document a line, `name` or `name first last`; `#` begins a remark.

    Raises FormatError for another line, or a document twice.
    """
    ranges: dict[str, tuple[int, int] | None] = {}
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        name, *limits = line.partition("#")[0].split() or [""]
        if not name:
            continue
        if name in ranges:
            raise FormatError(f"document {name} twice", source=str(path), line=number)
        if not limits:
            ranges[name] = None
        elif len(limits) == 2 and all(map(is_number, limits)) and int(limits[0]) <= int(limits[1]):
            ranges[name] = int(limits[0]), int(limits[1])
        else:
            raise FormatError(
                f"expected `name` or `name first last`, found {line.strip()!r}",
                source=str(path),
                line=number,
            )
    return DocumentList(ranges, str(path))
