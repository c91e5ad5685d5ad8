"""Biaffine scores of chosen pairs alone."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from .biaffine import Biaffine, FactorisedBiaffine


class LabelFactors(NamedTuple):
    """The factors of label scores of chosen pairs, see `label_scores`.

    left [B,n,a], right [B,n,b] of the words (or of n fenceposts); weight [L,a+1,b+1] of a biaffine
    product, or [L,r+1] of a factorised one, where a = b = r.
    """

    left: Tensor
    right: Tensor
    weight: Tensor


def label_factors(
    product: Biaffine | FactorisedBiaffine, left: Tensor, right: Tensor
) -> LabelFactors:
    """Returns the factors of a biaffine product of left [B,n,a] and right [B,n,b] vectors."""
    if isinstance(product, Biaffine):
        return LabelFactors(left, right, product.matrices())
    mixture = product.mixture
    weight = torch.cat([mixture.weight, mixture.bias.unsqueeze(1)], 1)
    return LabelFactors(*product.factors(left, right), weight)


def label_scores(factors: LabelFactors, sentences: Tensor, starts: Tensor, ends: Tensor) -> Tensor:
    """Returns label scores [N,L] of N pairs: (starts[k], ends[k]) of sentence sentences[k]."""
    weight = factors.weight
    batch, n, d = factors.left.shape
    # n (n + d) products a sentence against d a pair; to differentiate, pairs alone are cheaper
    all_pairs = len(sentences) * d > batch * n * (n + d) and not torch.is_grad_enabled()
    if weight.dim() == 3 and all_pairs:
        return _of_all_pairs(factors, sentences, starts, ends)
    left, right = factors.left[sentences, starts], factors.right[sentences, ends]
    if weight.dim() == 2:
        return F.linear(left * right, weight[:, :-1], weight[:, -1])
    scores: Tensor = _Bilinear.apply(
        F.pad(left, (0, 1), value=1.0), F.pad(right, (0, 1), value=1.0), weight
    )
    return scores


ROWS = 256
"""Left vectors in one product over all pairs; each is projected to L b numbers."""


def _of_all_pairs(factors: LabelFactors, sentences: Tensor, starts: Tensor, ends: Tensor) -> Tensor:
    """Reads scores off those of all pairs; each sentence's left vectors are projected once."""
    batch, n, _ = factors.left.shape
    n_labels, d = len(factors.weight), factors.left.shape[2]
    bilinear = factors.weight[:, :-1, :-1].permute(1, 0, 2).reshape(d, -1)
    left_term, right_term = factors.weight[:, :, -1], factors.weight[:, -1, :-1]
    scores = factors.left.new_empty(len(sentences), n_labels)
    order = sentences.argsort()
    step = max(1, ROWS // n)
    firsts = torch.arange(0, batch + step, step, device=sentences.device)
    bounds = torch.searchsorted(sentences[order], firsts).tolist()
    for first, begin, end in zip(range(0, batch, step), bounds[:-1], bounds[1:], strict=True):
        left, right = factors.left[first : first + step], factors.right[first : first + step]
        projected = (left.flatten(0, 1) @ bilinear).view(len(left), n * n_labels, -1)
        pairs = torch.bmm(projected, right.transpose(1, 2)).view(len(left), n, n_labels, n)
        which = order[begin:end]
        rows, start, stop = sentences[which] - first, starts[which], ends[which]
        scores[which] = pairs[rows, start, :, stop]
        scores[which] += F.linear(left, left_term[:, :-1], left_term[:, -1])[rows, start]
        scores[which] += F.linear(right, right_term)[rows, stop]
    return scores


CHUNK = 64
"""Pairs in one step of the backward pass, which limits their outer products."""


class _Bilinear(torch.autograd.Function):
    """`F.bilinear` of [N,a], [N,b] and [L,a,b], without its slow backward pass.

    Forms in plain torch that are as fast hold 6 to 13 times the memory: `benchmarks/layers.py`,
    docs/decisions/005-hand-written-autograd.md.
    """

    @staticmethod
    def forward(ctx: Any, left: Tensor, right: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(left, right, weight)
        return F.bilinear(left, right, weight)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        left, right, weight = ctx.saved_tensors
        flat = weight.flatten(1)
        d_weight = torch.zeros_like(flat)
        left_term, right_term = torch.empty_like(left), torch.empty_like(right)
        for start in range(0, len(left), CHUNK):
            here = slice(start, start + CHUNK)
            x, y, grad = left[here], right[here], grads[0][here]
            d_weight.addmm_(grad.T, (x.unsqueeze(2) * y.unsqueeze(1)).flatten(1))
            matrix = (grad @ flat).view(len(x), x.shape[1], y.shape[1])
            left_term[here] = torch.bmm(matrix, y.unsqueeze(2)).squeeze(2)
            right_term[here] = torch.bmm(x.unsqueeze(1), matrix).squeeze(1)
        return left_term, right_term, d_weight.view_as(weight)
