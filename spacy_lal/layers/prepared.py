"""What predictions make of weights once, such as rounded ones or products of two."""

from typing import Any

import torch
from torch import nn

from .precision import Precision


class Prepared(nn.Module):
    """A module that keeps what its predictions make of its weights, until these change."""

    kept: Any = None

    def made(self, precision: Precision) -> Any:
        """Returns what predictions with such products make of the weights."""
        raise NotImplementedError

    def prepared(self) -> Any:
        """Returns what is kept; with gradients, or where nothing is, that of float32 products."""
        if self.kept is None or torch.is_grad_enabled():
            return self.made("float32")
        return self.kept


def prepare(module: nn.Module, precision: Precision | None) -> None:
    """Makes all parts of a module keep what predictions with such products need, or forget it."""
    # kept for explanations, too, which have gradients
    with torch.inference_mode(False), torch.no_grad():
        for part in module.modules():
            if isinstance(part, Prepared):
                part.kept = None if precision is None else part.made(precision)
