"""Lines of plain text, in parts that are each an even sample of all of it, and no text twice."""

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
"""Lines that go together: text comes in documents."""

_DIGIT = re.compile(r"\d")


def lines(path: Path, part: int, parts: int) -> Iterator[str | None]:
    """Every `parts`-th block of the text's lines, from block `part` on, without blank lines.

    The file may be compressed (.xz, .gz, .bz2). None stands for a line that isn't UTF-8. Raises
    ValueError, which names the file and the line, if it is damaged.
    """
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
    """The lower-case letters of a text, with their marks, and digits, by which it is compared.

    The marks are letters of their own in Hindi or Thai, and accents elsewhere.
    """
    composed = unicodedata.normalize("NFC", text.lower())
    return "".join(letter for letter in composed if unicodedata.category(letter)[0] in "LMN")


class Seen:
    """Which texts there were. Letters and digits in small letters are compared, and all digits are
    alike: what differs by a date or by punctuation is the same text.

    `new` holds what came since it was emptied, as 64-bit numbers.
    """

    def __init__(self) -> None:
        self._known: set[int] = set()
        self.new: list[int] = []

    def again(self, text: str, kind: str) -> bool:
        """Whether a text of this kind was there before; now it was. Kinds keep apart."""
        letters = _DIGIT.sub("0", letters_and_digits(text))
        digest = blake2b(f"{kind} {letters}".encode(), digest_size=8).digest()
        number = int.from_bytes(digest)
        if number in self._known:
            return True
        self._known.add(number)
        self.new.append(number)
        return False

    def add(self, numbers: NDArray[numpy.uint64]) -> None:
        """Add numbers that `new` held."""
        self._known.update(numbers.tolist())
