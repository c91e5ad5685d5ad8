"""The torch modules of a Thinc model, in one safetensors file."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import safetensors.torch
from thinc.api import Model
from torch import Tensor

from .shim import torch_shims
from .weights import read_weights

WEIGHTS = "model.safetensors"
"""In the folder of a component of this package."""


@contextlib.contextmanager
def weights_elsewhere(model: Model) -> Iterator[None]:
    """Leave the torch modules of `model` out of its serialised form."""
    shims = [shim for _, shim in torch_shims(model)]
    for shim in shims:
        shim._weights_elsewhere = True
    try:
        yield
    finally:
        for shim in shims:
            shim._weights_elsewhere = False


def save_weights(model: Model, path: Path) -> None:
    """Write the parameters of all torch modules in `model` to one safetensors file.

    Tensors are named "<number of the module>.<name>", in the order in which the model is walked;
    the file's metadata hold the modules' headers.
    """
    shims = [shim for shim in [shim for _, shim in torch_shims(model)] if shim.header is not None]
    tensors = {
        f"{k}.{name}": tensor
        for k, shim in enumerate(shims)
        for name, tensor in shim.tensors().items()
    }
    headers = json.dumps([shim.header for shim in shims])
    # not save_file, which makes the file readable by its owner alone
    path.write_bytes(safetensors.torch.save(tensors, {"headers": headers}))


def load_weights(model: Model, path: Path) -> None:
    """Undo `save_weights`. Raises ValueError, naming the file, if it is damaged or doesn't fit."""
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
