"""Weights on disk in fewer bits: 16, or 8 for matrices. Loading makes them float32 again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import safetensors.torch
import srsly
import torch
from torch import Tensor

from .storage import WEIGHTS
from .weights import SCALE, eight_bits, is_weights, metadata

Change = Callable[[dict[str, Tensor]], None]


def store_half(component: Path) -> None:
    """Store the weights in a component's folder as float16; loading makes them float32 again.

    Raises ValueError if a value is too large for that, OSError if there are no weights.
    """
    _store(component, _half)


def store_bytes(component: Path) -> None:
    """Store the matrices in a component's folder as 8-bit numbers, with a scale for each row.

    Raises OSError if there are no weights.
    """
    _store(component, _bytes)


def has_weights(component: Path) -> bool:
    """Whether there are weights of this package in a component's folder."""
    return (component / WEIGHTS).is_file() or any(map(is_weights, _shims(_thinc(component))))


MODEL = "model"
"""Thinc's own file: of a component that is not of this package, with our modules inside."""


def _store(component: Path, change: Change) -> None:
    message = {} if (component / WEIGHTS).is_file() else _thinc(component)
    if not any(map(is_weights, _shims(message))):
        path = component / WEIGHTS
        path.write_bytes(_changed(path.read_bytes(), change, path))
        return
    path = component / MODEL
    message["shims"] = [
        [_changed(data, change, path) if is_weights(data) else data for data in shims]
        for shims in message["shims"]
    ]
    path.write_bytes(srsly.msgpack_dumps(message))


def _thinc(component: Path) -> dict[str, Any]:
    """As `Model.to_bytes` writes it: of every layer what its shims give. Empty if not that."""
    try:
        message = srsly.msgpack_loads((component / MODEL).read_bytes())
    except (OSError, ValueError):
        return {}
    return message if isinstance(message, dict) else {}


def _shims(message: dict[str, Any]) -> list[Any]:
    return [data for shims in message.get("shims", ()) for data in shims]


def _changed(data: bytes, change: Change, path: Path) -> bytes:
    tensors = safetensors.torch.load(data)
    try:
        change(tensors)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    return safetensors.torch.save(tensors, metadata(data))


def _half(tensors: dict[str, Tensor]) -> None:
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and not name.endswith(SCALE):
            tensors[name] = tensor.half()
            if not torch.isfinite(tensors[name]).all():
                raise ValueError(
                    f"{name} has values that 16 bits don't hold: package without --half"
                )


def _bytes(tensors: dict[str, Tensor]) -> None:
    for name, tensor in list(tensors.items()):
        # a scale is four bytes
        if tensor.is_floating_point() and tensor.dim() > 1 and tensor.shape[-1] >= 16:
            tensors[name], tensors[f"{name}{SCALE}"] = eight_bits(tensor)
