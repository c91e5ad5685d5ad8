"""Atomically written files, and folders that only one process writes to."""

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


def remove_unfinished(folder: Path) -> None:
    """Remove the unfinished files of killed processes from a folder."""
    for left in folder.glob(".*.unfinished"):
        left.unlink(missing_ok=True)


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Raise BlockingIOError if another process is in this block with the same folder. The folder
    must exist. The end of the process ends the block. There is no check on systems or disks without
    file locks."""
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
    """Write a folder atomically, in place of an existing one. write: function that writes to a
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
