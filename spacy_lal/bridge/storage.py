"""The torch modules of a Thinc model in one safetensors file, in 32, 16 or (matrices) 8 bits."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import safetensors.torch
import srsly
import torch
from thinc.api import Model
from torch import Tensor

from .shim import torch_shims
from .weights import SCALE, eight_bits, is_weights, metadata, read_weights

WEIGHTS = "model.safetensors"
"""File of the weights in the folder of this package's components."""
MODEL = "model"
"""Thinc's own file, in the folder of other components that contain modules of this package."""

Change = Callable[[dict[str, Tensor]], None]


@contextlib.contextmanager
def weights_elsewhere(model: Model) -> Iterator[None]:
    """Leaves the torch modules of `model` out of its serialised form."""
    shims = [shim for _, shim in torch_shims(model)]
    for shim in shims:
        shim._weights_elsewhere = True
    try:
        yield
    finally:
        for shim in shims:
            shim._weights_elsewhere = False


def save_weights(model: Model, path: Path) -> None:
    """Writes the parameters of all torch modules in `model`, with their headers, to one safetensors
    file. Tensors are named "<number of the module>.<name>", in the model's walking order."""
    shims = [shim for _, shim in torch_shims(model) if shim.header is not None]
    tensors = {
        f"{k}.{name}": tensor
        for k, shim in enumerate(shims)
        for name, tensor in shim.tensors().items()
    }
    headers = json.dumps([shim.header for shim in shims])
    # save_file makes the file readable by its owner alone
    path.write_bytes(safetensors.torch.save(tensors, {"headers": headers}))


def load_weights(model: Model, path: Path) -> None:
    """Undoes `save_weights`. Raises ValueError, naming the file, if it is damaged or unsuitable."""
    shims = [shim for _, shim in torch_shims(model)]
    try:
        headers, tensors = read_weights(path.read_bytes())
        if len(headers) not in (0, len(shims)):
            raise ValueError(
                f"the file has the weights of {len(headers)} modules, but the model has "
                f"{len(shims)}"
            )
        module_tensors: list[dict[str, Tensor]] = [{} for _ in headers]
        for name, tensor in tensors.items():
            number, _, own_name = name.partition(".")
            if number not in map(str, range(len(headers))):
                raise ValueError(
                    f"the tensor {name} of the file belongs to none of the model's {len(headers)} "
                    "modules"
                )
            module_tensors[int(number)][own_name] = tensor
        for shim, header, own in zip(shims, headers, module_tensors, strict=False):
            shim.load(header, own)
    except ValueError as err:
        raise ValueError(f"{path}: {err}") from err


def store_half(component: Path) -> None:
    """Stores the weights in a component's folder as float16; loading makes them float32 again.
    Raises ValueError if a value is too large for float16, OSError if there are no weights."""
    _store(component, _half)


def store_bytes(component: Path) -> None:
    """Stores the matrices in a component's folder as 8-bit numbers, with a scale for each row.
    Raises OSError if there are no weights."""
    _store(component, _bytes)


def has_weights(component: Path) -> bool:
    """Whether a component's folder has weights of this package."""
    return (component / WEIGHTS).is_file() or any(map(is_weights, _shims(_thinc(component))))


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
    """Returns the output of `Model.to_bytes`, with each layer's shims; empty if it is none."""
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
