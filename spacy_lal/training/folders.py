"""Folders that are written whole before they take the place of others."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any


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
