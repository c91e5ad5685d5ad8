"""Contributions of label attention heads to span vectors."""

from typing import Literal, get_args

import torch
from torch import Tensor

Normalisation = Literal["normalised", "softmax"]


def head_sums(annotations: Tensor, n_heads: int) -> Tensor:
    """Return the sum of each head's features in every fencepost: [B,n+2,H*d_proj] -> [B,n+1,H].

    annotations: label attention's output alone.
    Fencepost k has the first half of a head's features from row k, the second from row k + 1. Spans
    are differences of fenceposts, so that the sum of head h's features in the vector of span (i, j)
    is sums[j, h] - sums[i, h].
    """
    heads = annotations.unflatten(-1, (n_heads, -1))
    middle = heads.shape[-1] // 2
    return heads[..., :middle].sum(-1)[:, :-1] + heads[..., middle:].sum(-1)[:, 1:]


def span_contributions(
    sums: Tensor, starts: Tensor, ends: Tensor, method: Normalisation = "normalised"
) -> Tensor:
    """Return the share of each head in the vectors of S spans: [n+1,H] -> [S,H].

    The heads' sums of a span are scaled to [0, 1]. "normalised" divides them by their total.
    "softmax" takes their softmax, as the code of Mrini et al. 2020 does, where no share of 112
    heads can exceed e / (e + 111) = 2.4 %; the paper leaves the normalisation open. Both methods
    rank the heads alike. Equal sums have equal shares; the released code divides by zero there.
    """
    if method not in get_args(Normalisation):
        raise ValueError(f"method must be one of {get_args(Normalisation)}, not {method!r}")
    span_sums = sums[ends] - sums[starts]
    least = span_sums.amin(-1, keepdim=True)
    spread = span_sums.amax(-1, keepdim=True) - least
    scaled = torch.where(spread > 0, (span_sums - least) / spread, 1.0)
    if method == "softmax":
        return scaled.softmax(-1)
    return scaled / scaled.sum(-1, keepdim=True)
