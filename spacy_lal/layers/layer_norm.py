"""The layer normalisation of the label attention parser."""

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

EPSILON = 1e-3
"""Default number that the layer adds to the standard deviation."""
TINY = 1e-12
"""Least standard deviation, which keeps a constant row's gradient finite; far below EPSILON."""
CANCELS = 1e-3
"""Ratio of the square of a sum to its summands' squares below which they nearly cancel."""


class LayerNorm(nn.Module):
    """a_2 * (x - mean) / (std + eps) + b_2 over the last dimension, x [..., width].

    Unlike in `torch.nn.LayerNorm`, std is unbiased and eps is added to it, not to the variance, as
    in the released code of Mrini et al. 2020 (the paper only names the layer: section 2, eq. 6).
    Rows of width 1 have no deviation and are returned as they are.
    """

    def __init__(self, width: int, eps: float = EPSILON) -> None:
        super().__init__()
        self.width = width
        self.eps = eps
        self.a_2 = nn.Parameter(torch.ones(width))
        self.b_2 = nn.Parameter(torch.zeros(width))

    def forward(self, x: Tensor) -> Tensor:
        if self.width == 1:
            return x
        with torch.autocast(x.device.type, enabled=False):
            x = x.to(self.a_2.dtype)
            rows = centred(x)
            # several times faster than torch.var on CPU
            length = torch.linalg.vector_norm(rows, dim=-1, keepdim=True)
            deviation = (length / math.sqrt(self.width - 1)).clamp_min(TINY)
            return torch.addcmul(self.b_2, rows * (1 / (deviation + self.eps)), self.a_2)

    def normalise_sums(self, left: Tensor, right: Tensor) -> Tensor:
        """Normalises left + right for all pairs of rows: [B,H,width], [B,n,width] -> [B,n,H,width].

        A sum's variance follows from the rows' variances and inner product, so the large tensor is
        written but never reduced. Rounding limits the precision where two rows nearly cancel. What
        is summed has the precision of the rows, the result that of the parameters.
        """
        if self.width == 1:
            return left.unsqueeze(1) + right.unsqueeze(2)
        with torch.autocast(left.device.type, enabled=False):
            dtype = torch.promote_types(left.dtype, self.a_2.dtype)
            left, right = left.to(dtype), right.to(dtype)
            normalised: Tensor = _NormaliseSums.apply(left, right, self.a_2, self.b_2, self.eps)
        return normalised


def centred(x: Tensor) -> Tensor:
    """Returns rows minus their means."""
    return x - x.mean(-1, keepdim=True)


class _NormaliseSums(torch.autograd.Function):
    """Layer norm of all pairwise sums; keeps the summands, not the sums.

    Plain torch takes 1.3 to 1.6 times as long and twice the memory: `benchmarks/layers.py`,
    docs/decisions/005-hand-written-autograd.md.
    """

    @staticmethod
    def forward(
        ctx: Any, left: Tensor, right: Tensor, scale: Tensor, shift: Tensor, eps: float
    ) -> Tensor:
        left, right = centred(left), centred(right)
        share = 1 / (left.shape[-1] - 1)
        of_left, of_right = left.square().sum(-1).unsqueeze(1), right.square().sum(-1).unsqueeze(2)
        variance = torch.baddbmm(
            of_right + of_left, right, left.transpose(1, 2), beta=share, alpha=2 * share
        )
        # rounding loses the statistics of rows that nearly cancel: sums of these are computed. One
        # pass finds out whether there are such pairs at all
        least = CANCELS * share
        if variance.amin() <= least * (of_left.amax() + of_right.amax()) + TINY:
            pairs = (variance <= least * (of_left + of_right)).nonzero(as_tuple=True)
            batch, rows, heads = pairs
            sums = left[batch, heads] + right[batch, rows]
            variance[pairs] = share * sums.square().sum(-1)
            variance.clamp_min_(TINY**2)
        deviation = variance.sqrt_()
        inverse = (deviation + eps).reciprocal_()
        sums = (left * scale).to(scale).unsqueeze(1) + (right * scale).to(scale).unsqueeze(2)
        ctx.save_for_backward(left, right, deviation, inverse, scale)
        return torch.addcmul(shift, sums, inverse.to(scale).unsqueeze(-1), out=sums)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        left, right, deviation, inverse, scale = ctx.saved_tensors
        large = (left * scale).unsqueeze(1) + (right * scale).unsqueeze(2)
        through = large.mul_(grad).sum(-1) * inverse.square()
        through /= deviation * (left.shape[-1] - 1)
        torch.mul(grad, inverse.unsqueeze(-1), out=large)
        by_left, by_right = large.sum(1), large.sum(2)
        grad_scale = _sum(by_left * left) + _sum(by_right * right)
        grad_left = by_left * scale - left * through.sum(1).unsqueeze(-1)
        grad_right = by_right * scale - right * through.sum(2).unsqueeze(-1)
        grad_left.baddbmm_(through.transpose(1, 2), right, alpha=-1)
        grad_right.baddbmm_(through, left, alpha=-1)
        return centred(grad_left), centred(grad_right), grad_scale, _sum(grad), None


def _sum(x: Tensor) -> Tensor:
    return x.flatten(0, -2).sum(0)
