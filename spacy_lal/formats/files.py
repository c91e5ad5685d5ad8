"""Text of files, plain or compressed, and the error for a malformed one."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

OPENERS: dict[str, Any] = {".xz": lzma.open, ".gz": gzip.open, ".bz2": bz2.open}
"""Functions that open compressed files, by suffix."""

DAMAGE = (lzma.LZMAError, zlib.error, EOFError, OSError)
"""Errors of damaged compressed files; such OSErrors have no errno."""


class FormatError(ValueError):
    """Malformed treebank text, with its place: `source` and `line` (from 1)."""

    def __init__(self, message: str, source: str, line: int):
        super().__init__(f"{source}:{line}: {message}")
        self.message = message
        self.source = source
        self.line = line

    def __reduce__(self) -> tuple[Any, ...]:
        return FormatError, (self.message, self.source, self.line)


def read_text(path: str | Path, encoding: str = "utf-8-sig") -> str:
    """Return the text of a file, decompressed if it ends in .xz, .gz or .bz2; line ends are "\\n".
    Raises FormatError if it is damaged or, with the line, isn't `encoding`; ValueError for an
    unknown encoding."""
    return decoded(read_bytes(path), str(path), encoding)


def read_bytes(path: str | Path) -> bytes:
    """Return the decompressed content of a file. Raises OSError, or FormatError if damaged."""
    path = Path(path)
    try:
        with OPENERS.get(path.suffix, open)(path, "rb") as file:
            content: bytes = file.read()
            return content
    except DAMAGE as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the file isn't there, or can't be read
        message = f"not a whole {path.suffix} file: it is damaged or cut off"
        raise FormatError(message, str(path), 1) from error


def decoded(raw: bytes, source: str, encoding: str = "utf-8-sig") -> str:
    """Return the text of a file's content. Raises the errors of `read_text`."""
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise FormatError(f"not {encoding}: {error.reason}", source, line) from error
    except (LookupError, UnicodeError) as error:
        raise ValueError(f"{encoding!r} is no encoding of text: {error}") from error
    return text.replace("\r\n", "\n")


def read_text_as(path: str | Path, encodings: Sequence[str]) -> tuple[str, str]:
    """Return the text of a file, and the first of `encodings` that fits it. Raises the FormatError
    of the last encoding if none fits."""
    *others, last = encodings
    for encoding in others:
        try:
            return read_text(path, encoding), encoding
        except FormatError:
            continue
    return read_text(path, last), last


def is_number(text: str) -> bool:
    """Return whether the text is a whole number of at most nine digits."""
    return text.isdecimal() and len(text) < 10


@contextmanager
def undamaged(path: Path, place: Callable[[], str]) -> Iterator[None]:
    """Raise ValueError for damage in a compressed file, with the file's name and `place()`."""
    try:
        yield
    except DAMAGE as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the file isn't there, or can't be read
        raise ValueError(f"{path}: damaged, somewhere after {place()}: {error}") from error
