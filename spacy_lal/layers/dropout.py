"""Dropout as modules, whose rate a training loop may set."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

_BITS = 16
"""Of randomness for a value, four to a number of 64 bits: a rate is met to within 1/131072."""


def drop(x: Tensor, rate: float) -> Tensor:
    """x with each value set to 0 with probability `rate`, the others scaled to the same mean.

    0 <= rate < 1. On a CPU `torch.nn.functional.dropout` draws a number for every value, one after
    another; this is four times as fast (`benchmarks/layers.py`).
    """
    if x.device.type != "cpu":
        return F.dropout(x, rate)
    levels = 2**_BITS
    dropped = min(round(rate * levels), levels - 1)
    drawn = torch.empty((x.numel() + 3) // 4, dtype=torch.int64).random_(-(2**63), None)
    kept = drawn.view(torch.int16)[: x.numel()].view(x.shape) >= dropped - levels // 2
    return x * kept.to(x.dtype).mul_(levels / (levels - dropped))


class Dropout(nn.Module):
    """Drop each value of x by itself, in training mode.

    rate: of this dropout, whatever the training's; None: the training's, see `set_dropout`.
    """

    def __init__(self, rate: float | None = None) -> None:
        super().__init__()
        self.follows_training = rate is None
        self.rate = 0.0 if rate is None else rate

    @property
    def active(self) -> bool:
        """Whether anything is dropped now."""
        return self.training and self.rate > 0

    def forward(self, x: Tensor) -> Tensor:
        return drop(x, self.rate) if self.active else x


class FeatureDropout(Dropout):
    """Drop features of x [..., n, d] with one mask [..., 1, d] for all n rows of a sentence."""

    def forward(self, x: Tensor) -> Tensor:
        if not self.active:
            return x
        return x * drop(x.new_ones(*x.shape[:-2], 1, x.shape[-1]), self.rate)


def set_dropout(module: nn.Module, rate: float) -> None:
    """Give every dropout inside `module` that follows the training its rate, 0 <= rate < 1."""
    for part in module.modules():
        if isinstance(part, Dropout) and part.follows_training:
            part.rate = rate
