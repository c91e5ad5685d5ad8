"""Feature dropout: whole features of a sentence are dropped, the same ones in every row."""

import torch.nn.functional as F
from torch import Tensor


def feature_dropout(x: Tensor, rate: float, training: bool) -> Tensor:
    """Drop features of x [..., n, d] with one mask [..., 1, d] for all n rows."""
    if not training or rate == 0.0:
        return x
    return x * F.dropout(x.new_ones(*x.shape[:-2], 1, x.shape[-1]), rate)
