"""Files that are there whole or not at all, and folders that one process alone writes to."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


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


def replace_folder(folder: Path, write: Callable[[Path], Any]) -> None:
    """Write a folder, complete before it takes the place of the one of that name.

    write: is given the path to write it to, beside the other, where nothing is.
    """
    # hidden, for `folder.old` may be somebody's own
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
