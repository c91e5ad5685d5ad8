"""One file from which training goes on: tensors, and everything else as JSON."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import safetensors.torch
from safetensors import safe_open
from torch import Tensor

CHECKPOINT = "checkpoint.safetensors"
"""The file's name in the folder that training writes to."""


class CheckpointError(ValueError):
    """Training can't go on from this checkpoint."""


def write_checkpoint(folder: Path, tensors: dict[str, Tensor], state: dict[str, Any]) -> None:
    """Write both to `folder`, in the place of what was written before.

    Whenever the process or the machine stops, there is either the old checkpoint or the new one:
    the file is complete on disk before it gets its name, and a name changes hands in one step.
    """
    written = folder / f"{CHECKPOINT}.new"
    safetensors.torch.save_file(
        _apart(tensors), written, {"state": json.dumps(state, default=_plain)}
    )
    _to_disk(written)
    os.replace(written, folder / CHECKPOINT)
    _to_disk(folder)


def read_state(folder: Path) -> dict[str, Any] | None:
    """What `write_checkpoint` got as `state`; None if there is no checkpoint.

    Raises CheckpointError, naming the file, if it is none.
    """
    path = folder / CHECKPOINT
    if not path.exists():
        return None
    try:
        with safe_open(path, "pt") as file:
            return json.loads(file.metadata()["state"])
    except Exception as error:
        raise CheckpointError(f"{path} is no checkpoint: {error}") from error


def read_tensors(folder: Path) -> dict[str, Tensor]:
    """What `write_checkpoint` got as `tensors`."""
    return safetensors.torch.load_file(folder / CHECKPOINT)


def _plain(value: Any) -> Any:
    """Scores may be NumPy's numbers."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"a {type(value).__name__} can't be written as JSON")


def _apart(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The same values; what shares memory, which the format doesn't know, is copied."""
    seen: set[int] = set()
    apart = {}
    for name, tensor in tensors.items():
        tensor = tensor.detach().contiguous()
        place = tensor.untyped_storage().data_ptr()
        if tensor.numel() and place in seen:
            tensor = tensor.clone()
        seen.add(place)
        apart[name] = tensor
    return apart


def _to_disk(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    if path.is_dir() and os.name == "nt":
        return  # Windows opens no folders
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
