"""Dropout modules with a rate that a training loop may set."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

_BITS = 16
"""Random bits per value, four values to a 64-bit number: rates are exact to within 1/131072."""


def drop(x: Tensor, rate: float) -> Tensor:
    """Sets each value of x to 0 with probability `rate` and scales the other values so that the
    mean stays.

    0 <= rate < 1. On a CPU this is four times as fast as `torch.nn.functional.dropout`, which draws
    a number for every value (`benchmarks/layers.py`)."""
    if x.device.type != "cpu":
        return F.dropout(x, rate)
    levels = 2**_BITS
    dropped = min(round(rate * levels), levels - 1)
    drawn = torch.empty((x.numel() + 3) // 4, dtype=torch.int64).random_(-(2**63), None)
    kept = drawn.view(torch.int16)[: x.numel()].view(x.shape) >= dropped - levels // 2
    return x * kept.to(x.dtype).mul_(levels / (levels - dropped))


class Dropout(nn.Module):
    """Dropout of single values of x in training mode. rate: this dropout's own rate; None: the rate
    of the training, see `set_dropout`."""

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
    """Dropout of features of x [..., n, d], one mask [..., 1, d] for all rows of a sentence."""

    def forward(self, x: Tensor) -> Tensor:
        if not self.active:
            return x
        return x * drop(x.new_ones(*x.shape[:-2], 1, x.shape[-1]), self.rate)


def set_dropout(module: nn.Module, rate: float) -> None:
    """Sets the rate, 0 <= rate < 1, of every dropout in `module` without a rate of its own."""
    for part in module.modules():
        if isinstance(part, Dropout) and part.follows_training:
            part.rate = rate
