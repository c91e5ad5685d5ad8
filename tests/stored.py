"""Pipelines that several files of tests use: trained once for all processes of a run."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.language import Language

folders: list[Path] = []
"""The one of this run, which `conftest.py` sets."""
_bytes: dict[str, bytes] = {}


def stored(name: str, make: Callable[[], Language]) -> bytes:
    """The pickle of the pipeline that is made where none of this name is there yet."""
    if name not in _bytes:
        path = folders[0] / f"{name}.pickle"
        if not path.exists():
            own = path.with_name(f"{path.name}.{os.getpid()}")
            own.write_bytes(pickle.dumps(make()))
            own.replace(path)
        _bytes[name] = path.read_bytes()
    return _bytes[name]
