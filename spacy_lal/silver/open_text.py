"""Lines of plain text, in even samples and without duplicates."""

from __future__ import annotations

import re
import unicodedata
from codecs import BOM_UTF8
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

import numpy
from numpy.typing import NDArray

from ..formats.files import OPENERS, undamaged

BLOCK = 60
"""Size of a block of a document, in lines; blocks stay together."""

_DIGIT = re.compile(r"\d")


def lines(path: Path, part: int, parts: int) -> Iterator[str | None]:
    """Yield the lines of every `parts`-th block from block `part` on, without blank lines. The file
    may be compressed (.xz, .gz, .bz2). None stands for a line that isn't UTF-8. Raises ValueError,
    naming file and line, if the file is damaged."""
    number = 0
    opener = OPENERS.get(path.suffix, open)
    with undamaged(path, lambda: f"line {number}"), opener(path, "rb") as file:
        for number, line in enumerate(file, start=1):
            if (number - 1) // BLOCK % parts == part and line.removeprefix(BOM_UTF8).strip():
                yield _text(line.removeprefix(BOM_UTF8) if number == 1 else line)


def _text(line: bytes) -> str | None:
    try:
        return line.decode("utf8").strip()
    except UnicodeDecodeError:
        return None


def letters_and_digits(text: str) -> str:
    """Return the lower-case letters and digits of a text, for comparisons. Marks are kept; they are
    letters in Hindi or Thai, and accents elsewhere."""
    composed = unicodedata.normalize("NFC", text.lower())
    return "".join(letter for letter in composed if unicodedata.category(letter)[0] in "LMN")


class Seen:
    """Set of texts, compared without case, punctuation and the values of digits. `new` holds recent
    texts as 64-bit numbers, until it is emptied."""

    def __init__(self) -> None:
        self._known: set[int] = set()
        self.new: list[int] = []

    def again(self, text: str, kind: str) -> bool:
        """Add a text of a kind; return whether it was added before."""
        letters = _DIGIT.sub("0", letters_and_digits(text))
        digest = blake2b(f"{kind} {letters}".encode(), digest_size=8).digest()
        number = int.from_bytes(digest)
        if number in self._known:
            return True
        self._known.add(number)
        self.new.append(number)
        return False

    def add(self, numbers: NDArray[numpy.uint64]) -> None:
        """Add numbers that `new` held earlier."""
        self._known.update(numbers.tolist())
