"""Spans scored in two stages: whether they are nodes of the tree, then what labels they have."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from ..structure.chart import pack, packed_spans
from .biaffine import Biaffine, FactorisedBiaffine
from .dropout import feature_dropout


class LabelFactors(NamedTuple):
    """What label scores of chosen spans are computed from, see `label_scores`.

    left [B,n+1,a], right [B,n+1,b] of the fenceposts; weight [L,a+1,b+1] of a biaffine product, or
    [L,r+1] of a factorised one, where a = b = r.
    """

    left: Tensor
    right: Tensor
    weight: Tensor


def label_scores(factors: LabelFactors, sentences: Tensor, starts: Tensor, ends: Tensor) -> Tensor:
    """Scores [N,L] of the labels of N spans: (starts[k], ends[k]) of sentence sentences[k]."""
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


def pairs_of_spans(left: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
    """Rows [B,n+1,d] of both fenceposts of every span, packed: two of [B,S,d]."""
    starts, ends = (t.to(left.device) for t in packed_spans(left.shape[1] - 1))
    return left.index_select(1, starts), right.index_select(1, ends)


class SpanViews(nn.Module):
    """A fencepost as the left and as the right end of a span: LeakyReLU(W x + b), twice."""

    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__()
        self.left = nn.Linear(d_in, d_out)
        self.right = nn.Linear(d_in, d_out)
        for view in (self.left, self.right):
            nn.init.orthogonal_(view.weight)
            nn.init.zeros_(view.bias)
        self.dropout = 0.0

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        left, right = (
            feature_dropout(F.leaky_relu(view(x), 0.1), self.dropout, self.training)
            for view in (self.left, self.right)
        )
        return left, right


class BiaffineLabels(nn.Module):
    """Fenceposts [B,n+1,d_in] -> `LabelFactors`: s_label(i,j) = [l_i;1]^T W [r_j;1] (Zhang et al.
    2020, section 3.3), by matrices of `rank`, or full ones if that is None."""

    def __init__(self, d_in: int, n_labels: int, d_label: int, rank: int | None) -> None:
        super().__init__()
        self.views = SpanViews(d_in, d_label)
        self.product: Biaffine | FactorisedBiaffine
        if rank is None:
            self.product = Biaffine(d_label, d_label, n_labels)
            nn.init.zeros_(self.product.bilinear)
        else:
            self.product = FactorisedBiaffine(d_label, d_label, n_labels, rank)

    def set_dropout(self, rate: float) -> None:
        self.views.dropout = rate

    def forward(self, fenceposts: Tensor) -> LabelFactors:
        left, right = self.views(fenceposts)
        if isinstance(self.product, Biaffine):
            return LabelFactors(left, right, self.product.matrices())
        left, right = self.product.factors(left, right)
        mixture = self.product.mixture
        return LabelFactors(left, right, torch.cat([mixture.weight, mixture.bias.unsqueeze(1)], 1))


class BiaffineSpans(nn.Module):
    """s(i,j) = [l_i;1]^T W [r_j;1] (Zhang et al. 2020, section 3.3; Vu-Tran et al., eq. 18).

    fenceposts [B,n+1,d_in] -> scores [B,S] of the spans, packed by width. A span's score depends on
    its ends alone, so that `lengths` [B] make no difference; other scorers need them. W begins as
    zero, so all trees are equally probable at first.
    """

    def __init__(self, d_in: int, d_span: int) -> None:
        super().__init__()
        self.views = SpanViews(d_in, d_span)
        self.product = Biaffine(d_span, d_span)
        nn.init.zeros_(self.product.bilinear)
        nn.init.zeros_(self.product.left)
        nn.init.zeros_(self.product.right)

    def set_dropout(self, rate: float) -> None:
        self.views.dropout = rate

    def forward(self, fenceposts: Tensor, lengths: Tensor) -> Tensor:
        return pack(self.product(*self.views(fenceposts)).squeeze(-1))
