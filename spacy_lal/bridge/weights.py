"""Tensors and the headers of their modules, as safetensors."""

from __future__ import annotations

import json
from typing import Any

import safetensors.torch
import torch
from torch import Tensor

Header = dict[str, Any]
"""A module's sizes and vocabularies, as JSON."""

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
    found: dict[str, str] = json.loads(data[8 : 8 + size]).get("__metadata__", {})
    return found


def is_weights(data: Any) -> bool:
    """Whether the data are weights of this package."""
    try:
        return isinstance(data, bytes) and "headers" in metadata(data)
    except (ValueError, AttributeError, RecursionError):
        return False


def read_weights(data: bytes) -> tuple[list[Header], dict[str, Tensor]]:
    """Returns headers and tensors of safetensors data. Raises ValueError if it is damaged."""
    try:
        tensors = safetensors.torch.load(data)
        headers = json.loads(metadata(data)["headers"])
        if not (isinstance(headers, list) and all(isinstance(h, dict) for h in headers)):
            raise ValueError("the headers of the weights must be a list of JSON objects")
        for name in [name for name in tensors if name.endswith(SCALE)]:
            rows = name.removesuffix(SCALE)
            tensors[rows] = tensors[rows].float() * tensors.pop(name)
        return headers, tensors
    except Exception as err:  # JSON nested too deep is a RecursionError, and so on
        raise ValueError(f"damaged, or no weights of this package: {err}") from err
