"""Files on disk: plain or compressed text, what is said when one is malformed, and files that are
there whole or not at all."""

from __future__ import annotations

import bz2
import errno
import gzip
import lzma
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

OPENERS: dict[str, Any] = {".xz": lzma.open, ".gz": gzip.open, ".bz2": bz2.open}
"""What opens a file whose name ends so, as `open` does others."""


class FormatError(ValueError):
    """Malformed treebank text, with its place: `source` and `line` (from 1)."""

    def __init__(self, message: str, *, source: str, line: int):
        super().__init__(f"{source}:{line}: {message}")
        self.message = message
        self.source = source
        self.line = line

    def __reduce__(self) -> tuple[Any, ...]:
        return _format_error, (self.message, self.source, self.line)


def read_text(path: str | Path, encoding: str = "utf-8-sig") -> str:
    """The text of a file, decompressed if its name ends in .xz, .gz or .bz2; line ends are "\\n".

    Raises FormatError if it can't be decompressed or, with the line, if it isn't `encoding`;
    ValueError if there is no such encoding.
    """
    return decoded(read_bytes(path), str(path), encoding)


def read_bytes(path: str | Path) -> bytes:
    """What is in a file, plain or compressed. Raises OSError, or FormatError if it is damaged."""
    path = Path(path)
    try:
        with OPENERS.get(path.suffix, open)(path, "rb") as file:
            content: bytes = file.read()
            return content
    except (lzma.LZMAError, zlib.error, EOFError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the file isn't there, or can't be read; damaged contents have no number
        raise FormatError(
            f"not a whole {path.suffix} file: it is damaged or cut off", source=str(path), line=1
        ) from error


def decoded(raw: bytes, source: str, encoding: str = "utf-8-sig") -> str:
    """The text of what was in a file; see `read_text`."""
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise FormatError(f"not {encoding}: {error.reason}", source=source, line=line) from error
    except (LookupError, UnicodeError) as error:
        raise ValueError(f"{encoding!r} is no encoding of text: {error}") from error
    return text.replace("\r\n", "\n")


def read_text_as(path: str | Path, encodings: Sequence[str]) -> tuple[str, str]:
    """The text of a file, and which of `encodings` it is in: the first that fits.

    Raises the last one's FormatError if none does.
    """
    *others, last = encodings
    for encoding in others:
        try:
            return read_text(path, encoding), encoding
        except FormatError:
            continue
    return read_text(path, last), last


def is_number(text: str) -> bool:
    """Whether this is a number of at most nine digits; what has thousands, Python doesn't read."""
    return text.isdecimal() and len(text) < 10


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yields where to write what becomes `path` when the block ends, complete and on the disk.

    Whatever ends the process, there is all of the file under its name, or what was there before.
    A link stays one: what it leads to is written. A pipe or a device is written as it is.
    """
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        yield path
        return
    # beginning with a dot, so that nobody's `*.jsonl` finds it; several processes may try at once
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        yield unfinished
        with unfinished.open("rb+") as written:  # Windows syncs nothing that is only read
            os.fsync(written.fileno())
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def undamaged(path: Path, place: Callable[[], str]) -> Iterator[None]:
    """Damage in a compressed file raises ValueError with its name and `place()`, what was read."""
    try:
        yield
    except (lzma.LZMAError, zlib.error, EOFError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the file isn't there, or can't be read
        raise ValueError(f"{path}: damaged, somewhere after {place()}: {error}") from error


def remove_unfinished(folder: Path) -> None:
    """Remove what `whole_file` leaves in a folder if the process is killed."""
    for left in folder.glob(".*.unfinished"):
        left.unlink(missing_ok=True)


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Raises BlockingIOError if another process is in this block with the same folder.

    The folder must be there. The end of the process, whatever ends it, ends the block. Where the
    system or the disk has no such locks, there is no check.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                raise BlockingIOError(f"another run is writing in {folder}") from error
        yield
    finally:
        os.close(opened)


def _format_error(message: str, source: str, line: int) -> FormatError:
    return FormatError(message, source=source, line=line)
