"""Text of files, plain or compressed; files and folders that are written as a whole."""

import bz2
import errno
import gzip
import lzma
import os
import shutil
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..trees.brackets import FormatError as FormatError

OPENERS: dict[str, Any] = {".xz": lzma.open, ".gz": gzip.open, ".bz2": bz2.open}
"""Functions that open compressed files, by suffix."""

DAMAGE = (lzma.LZMAError, zlib.error, EOFError, OSError)
"""Errors of damaged compressed files; such OSErrors have no errno."""


def read_text(path: str | Path, encoding: str = "utf-8-sig") -> str:
    """Return the text of a file, decompressed if it ends in .xz, .gz or .bz2; line ends are "\n".
    Raises FormatError if it isn't `encoding`, ValueError if it is damaged or the encoding is
    unknown."""
    return decoded(read_bytes(path), str(path), encoding)


def read_bytes(path: str | Path) -> bytes:
    """Return the decompressed content of a file. Raises OSError, or ValueError if damaged."""
    path = Path(path)
    with undamaged(path), OPENERS.get(path.suffix, open)(path, "rb") as file:
        content: bytes = file.read()
    return content


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


def read_text_as(path: str | Path, encoding: str, encodings: Sequence[str]) -> tuple[str, str]:
    """Return the text of a file and its encoding: for "auto" the first of `encodings` that fits it.
    Raises FormatError if none does."""
    *others, last = encodings if encoding == "auto" else (encoding,)
    for encoding in others:
        try:
            return read_text(path, encoding), encoding
        except FormatError:
            continue
    return read_text(path, last), last


def blocks(text: str) -> Iterator[list[tuple[int, str]]]:
    """Yield runs of lines that aren't blank, with their numbers. A no-break space isn't blank."""
    lines = enumerate(text.split("\n"), start=1)
    for blank, block in groupby(lines, key=lambda line: not line[1].strip(" \t\r\f\v")):
        if not blank:
            yield list(block)


def first_error(error: ValidationError) -> str:
    """Return pydantic's first error in one line, which begins with the field, if there is one."""
    first = error.errors()[0]
    place = "".join(f"[{at}]" if isinstance(at, int) else f".{at}" for at in first["loc"])
    said = first["msg"].removeprefix("Value error, ")
    return f"{place.removeprefix('.')}: {said}" if place else said


def is_number(text: str) -> bool:
    """Return whether the text is a whole number of at most nine digits."""
    return text.isdecimal() and len(text) < 10


@contextmanager
def undamaged(path: Path, place: Callable[[], str] | None = None) -> Iterator[None]:
    """Raise ValueError, with the file's name, for damage in a compressed file. place: the last
    whole one."""
    try:
        yield
    except DAMAGE as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the file isn't there, or can't be read
        where = f", somewhere after {place()}" if place else ""
        raise ValueError(f"{path}: damaged{where}: {error}") from error


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield the path to write to; it replaces `path` when the block ends, atomically and synced. A
    missing folder is made. A link stays one; its target is written. A pipe or a device is written
    directly."""
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        yield path
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    # hidden, so that no `*.jsonl` matches it; with the process's id, as several may try at once
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        yield unfinished
        with unfinished.open("rb+") as written:  # Windows syncs only files open for writing
            os.fsync(written.fileno())
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def write_whole(path: Path, text: str) -> None:
    """Write a text to a file as `whole_file` does."""
    with whole_file(path) as unfinished:
        unfinished.write_bytes(text.encode())


def remove_unfinished(folder: Path) -> None:
    """Remove the unfinished files of killed processes from a folder."""
    for left in folder.glob(".*.unfinished"):
        left.unlink(missing_ok=True)


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Raise BlockingIOError if another process is in this block with the same folder. The folder
    must exist. The end of the process ends the block. There is no check on systems or disks without
    such locks."""
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


def replace_folder(folder: Path, write: Callable[[Path], Any]) -> None:
    """Write a folder atomically in place of the one of that name. write: function that writes to a
    given new path beside the folder."""
    # hidden, as a visible `folder.old` may be the user's own
    new, old = (folder.with_name(f".{folder.name}.{which}") for which in ("new", "old"))
    if old.exists() and not folder.exists():
        old.rename(folder)  # killed between the two renames below
    for left in (new, old):
        shutil.rmtree(left, ignore_errors=True)
    write(new)
    if folder.exists():
        folder.rename(old)
    new.rename(folder)
    shutil.rmtree(old, ignore_errors=True)
