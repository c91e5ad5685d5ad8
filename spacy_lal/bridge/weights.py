"""Tensors and the headers of their modules, as safetensors, in 32, 16 or (matrices) 8 bits."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import safetensors.torch
import srsly
import torch
from torch import Tensor

from ..layers.prepared import Packed

Header = dict[str, Any]
"""A module's sizes and vocabularies, as JSON."""

WEIGHTS = "model.safetensors"
"""File of the weights in the folder of this package's components."""
MODEL = "model"
"""Thinc's own file, in the folder of other components that contain modules of this package."""
MOST_BYTES = 90_000_000
"""Most bytes of tensors in a file of a package: hosts of code and of packages refuse 100 MB."""
SCALE = ":scale"
"""Suffix in the name of the factors [rows, 1] of an 8-bit tensor's rows."""


def eight_bits(tensor: Tensor) -> tuple[Tensor, Tensor]:
    """Rounds a tensor [..., d] to 8-bit numbers with a scale [..., 1]; returns both."""
    scale = tensor.abs().amax(-1, keepdim=True).float() / 127
    return torch.round(tensor / scale.clamp(min=1e-30)).to(torch.int8), scale


def metadata(data: bytes) -> dict[str, str]:
    """Returns the metadata of safetensors data."""
    # 8 bytes of little-endian length, then a JSON table of contents
    size = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + size]).get("__metadata__", {})


def is_weights(data: Any) -> bool:
    """Whether the data are weights of this package."""
    try:
        return isinstance(data, bytes) and "headers" in metadata(data)
    except (ValueError, AttributeError, RecursionError):
        return False


def read_weights(data: bytes, *more: bytes) -> tuple[list[Header], dict[str, Tensor | Packed]]:
    """Returns headers and tensors of safetensors data, those in 8 bits with their scales. The first
    part has the headers. Raises ValueError if a part is damaged."""
    try:
        tensors: dict[str, Tensor] = {}
        for part in (data, *more):
            tensors |= safetensors.torch.load(part)
        headers = json.loads(metadata(data)["headers"])
        if not (isinstance(headers, list) and all(isinstance(h, dict) for h in headers)):
            raise ValueError("the headers of the weights must be a list of JSON objects")
        packed: dict[str, Tensor | Packed] = {}
        for name in [name for name in tensors if name.endswith(SCALE)]:
            rows = name.removesuffix(SCALE)
            packed[rows] = Packed(tensors.pop(rows), tensors.pop(name).float())
        return headers, packed | tensors
    except Exception as err:  # JSON nested too deep is a RecursionError, and so on
        raise ValueError(f"damaged, or no weights of this package: {err}") from err


def parts_of(path: Path) -> list[Path]:
    """Returns the files of weights that `path` begins: model.safetensors, model-2.safetensors, …"""
    found = [path]
    while (part := path.with_name(f"{path.stem}-{len(found) + 1}{path.suffix}")).is_file():
        found.append(part)
    return found


def _write_parts(path: Path, tensors: dict[str, Tensor], headers: dict[str, str]) -> None:
    """Writes weights to one file or, above `MOST_BYTES`, to several; the first has the headers."""
    parts: list[dict[str, Tensor]] = [{}]
    size = 0
    for name, tensor in tensors.items():
        size += tensor.nbytes
        if size > MOST_BYTES and parts[-1]:
            parts.append({})
            size = tensor.nbytes
        parts[-1][name] = tensor
    for part in parts_of(path)[1:]:
        part.unlink()
    for number, of_part in enumerate(parts, 1):
        name = path.name if number == 1 else f"{path.stem}-{number}{path.suffix}"
        data = safetensors.torch.save(of_part, headers if number == 1 else {})
        path.with_name(name).write_bytes(data)


def has_weights(component: Path) -> bool:
    """Whether a component's folder has weights of this package."""
    return (component / WEIGHTS).is_file() or any(
        is_weights(data) for shims in _thinc(component)["shims"] for data in shims
    )


def store_as(component: Path, change: Callable[[dict[str, Tensor]], None]) -> None:
    """Changes the weights in a component's folder by `to_float16` or `to_int8`; loading makes them
    float32 again. Raises ValueError, naming the file, if that can't be done."""
    path = component / WEIGHTS
    if path.is_file():
        tensors: dict[str, Tensor] = {}
        for part in parts_of(path):
            # not load_file, whose tensors live in the file that is written below
            tensors |= safetensors.torch.load(part.read_bytes())
        headers = metadata(path.read_bytes())
        _change(tensors, change, path)
        _write_parts(path, tensors, headers)
        return
    path, message = component / MODEL, _thinc(component)
    message["shims"] = [
        [_changed(data, change, path) if is_weights(data) else data for data in shims]
        for shims in message["shims"]
    ]
    path.write_bytes(srsly.msgpack_dumps(message))


def to_float16(tensors: dict[str, Tensor]) -> None:
    """Rounds tensors to float16. Raises ValueError if a value is too large for that."""
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and not name.endswith(SCALE):
            tensors[name] = tensor.half()
            if not torch.isfinite(tensors[name]).all():
                raise ValueError(
                    f"{name} has values that 16 bits don't hold: package without --half"
                )


def to_int8(tensors: dict[str, Tensor]) -> None:
    """Rounds matrices to 8-bit numbers, with a scale for each row."""
    for name, tensor in list(tensors.items()):
        # a scale is four bytes
        if tensor.is_floating_point() and tensor.dim() > 1 and tensor.shape[-1] >= 16:
            tensors[name], tensors[f"{name}{SCALE}"] = eight_bits(tensor)


def _thinc(component: Path) -> dict[str, Any]:
    """Returns the output of `Model.to_bytes`, with all layers' shims; without if it is damaged."""
    try:
        message = srsly.msgpack_loads((component / MODEL).read_bytes())
    except (OSError, ValueError):
        message = None
    return message if isinstance(message, dict) and "shims" in message else {"shims": []}


def _changed(data: bytes, change: Callable[[dict[str, Tensor]], None], path: Path) -> bytes:
    tensors = safetensors.torch.load(data)
    _change(tensors, change, path)
    return safetensors.torch.save(tensors, metadata(data))


def _change(
    tensors: dict[str, Tensor], change: Callable[[dict[str, Tensor]], None], path: Path
) -> None:
    try:
        change(tensors)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
