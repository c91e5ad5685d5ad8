"""Dropout as modules, whose rate a training loop may set."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn


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
        return F.dropout(x, self.rate) if self.active else x


class FeatureDropout(Dropout):
    """Drop features of x [..., n, d] with one mask [..., 1, d] for all n rows of a sentence."""

    def forward(self, x: Tensor) -> Tensor:
        if not self.active:
            return x
        return x * F.dropout(x.new_ones(*x.shape[:-2], 1, x.shape[-1]), self.rate)


def set_dropout(module: nn.Module, rate: float) -> None:
    """Give every dropout inside `module` that follows the training its rate, 0 <= rate < 1."""
    for part in module.modules():
        if isinstance(part, Dropout) and part.follows_training:
            part.rate = rate
