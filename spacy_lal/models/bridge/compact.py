"""Weights on disk in fewer bits: 16, or 8 for matrices. Loading makes them float32 again."""

from __future__ import annotations

from pathlib import Path

import safetensors
import safetensors.torch
import torch

from .weights import SCALE, eight_bits


def store_half(path: Path) -> None:
    """Store the float tensors of a safetensors file as float16; loading makes them float32 again.

    Raises ValueError if a value is too large for that.
    """
    metadata, tensors = _read(path)
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and not name.endswith(SCALE):
            tensors[name] = tensor.half()
            if not torch.isfinite(tensors[name]).all():
                raise ValueError(f"{path}: {name} has values that 16 bits don't hold")
    path.write_bytes(safetensors.torch.save(tensors, metadata))


def store_bytes(path: Path) -> None:
    """Store the matrices of a safetensors file as 8-bit numbers, with a scale for each row."""
    metadata, tensors = _read(path)
    for name, tensor in list(tensors.items()):
        # a scale is four bytes
        if tensor.is_floating_point() and tensor.dim() > 1 and tensor.shape[-1] >= 16:
            tensors[name], tensors[f"{name}{SCALE}"] = eight_bits(tensor)
    path.write_bytes(safetensors.torch.save(tensors, metadata))


def _read(path: Path) -> tuple[dict[str, str], dict[str, torch.Tensor]]:
    with safetensors.safe_open(path, "pt") as file:
        metadata = file.metadata()
    return metadata, safetensors.torch.load(path.read_bytes())
