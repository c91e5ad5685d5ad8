"""Biaffine scores of chosen pairs alone, from what the vectors of all words are projected to."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from .biaffine import Biaffine, FactorisedBiaffine


class LabelFactors(NamedTuple):
    """What label scores of chosen pairs are computed from, see `label_scores`.

    left [B,n,a], right [B,n,b] of the words (or of n fenceposts); weight [L,a+1,b+1] of a biaffine
    product, or [L,r+1] of a factorised one, where a = b = r.
    """

    left: Tensor
    right: Tensor
    weight: Tensor


def label_factors(
    product: Biaffine | FactorisedBiaffine, left: Tensor, right: Tensor
) -> LabelFactors:
    """The factors of a product of left [B,n,a] and right [B,n,b] vectors."""
    if isinstance(product, Biaffine):
        return LabelFactors(left, right, product.matrices())
    mixture = product.mixture
    weight = torch.cat([mixture.weight, mixture.bias.unsqueeze(1)], 1)
    return LabelFactors(*product.factors(left, right), weight)


def label_scores(factors: LabelFactors, sentences: Tensor, starts: Tensor, ends: Tensor) -> Tensor:
    """Scores [N,L] of the labels of N pairs: (starts[k], ends[k]) of sentence sentences[k]."""
    left, right = factors.left[sentences, starts], factors.right[sentences, ends]
    weight = factors.weight
    if weight.dim() == 2:
        return F.linear(left * right, weight[:, :-1], weight[:, -1])
    scores: Tensor = _Bilinear.apply(
        F.pad(left, (0, 1), value=1.0), F.pad(right, (0, 1), value=1.0), weight
    )
    return scores


# Pairs at a time in the backward pass, so that their outer products are few.
CHUNK = 64


class _Bilinear(torch.autograd.Function):
    """`F.bilinear` of [N,a], [N,b] and [L,a,b], whose own backward pass takes thirty times as long
    for vectors of 65 to 101 features and 120 outputs on a CPU."""

    @staticmethod
    def forward(ctx: Any, left: Tensor, right: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(left, right, weight)
        return F.bilinear(left, right, weight)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        left, right, weight = ctx.saved_tensors
        flat = weight.flatten(1)
        of_weight = torch.zeros_like(flat)
        of_left, of_right = torch.empty_like(left), torch.empty_like(right)
        for start in range(0, len(left), CHUNK):
            here = slice(start, start + CHUNK)
            x, y, grad = left[here], right[here], grads[0][here]
            of_weight.addmm_(grad.T, (x.unsqueeze(2) * y.unsqueeze(1)).flatten(1))
            matrix = (grad @ flat).view(len(x), x.shape[1], y.shape[1])
            of_left[here] = torch.bmm(matrix, y.unsqueeze(2)).squeeze(2)
            of_right[here] = torch.bmm(x.unsqueeze(1), matrix).squeeze(1)
        return of_left, of_right, of_weight.view_as(weight)
