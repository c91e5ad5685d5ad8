"""Biaffine products (Dozat and Manning 2017): scores of pairs of vectors, of all or chosen ones."""

from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from .integers import MOST_IN_PAIRS, TINY, IntegerMatrix, rounded_rows
from .precision import Precision
from .prepared import Prepared


class RoundedMatrices:
    """The matrices of a biaffine product, rounded for products with rounded left vectors.

    for_left [L,b+1,a] times x, plus `bias` [L,b+1], is [x;1]^T W_l of every label. The scale of a
    row of a label is a product of two, the row's and the label's.
    """

    def __init__(self, for_left: Tensor, bias: Tensor) -> None:
        self.bias = bias.detach()
        for_left = for_left.detach()
        largest = torch.maximum(for_left.amax(-1), for_left.amin(-1).neg_()).clamp_(min=TINY)
        self.of_rows = largest.amax(0)
        """[b+1]"""
        self.of_labels = (largest / self.of_rows).amax(1) / MOST_IN_PAIRS
        """[L]"""
        scale = (self.of_labels.unsqueeze(1) * self.of_rows).flatten().unsqueeze(1)
        self.matrix = IntegerMatrix(for_left.flatten(0, 1), scale=scale)

    def of_left(self, left: Tensor) -> Tensor:
        """[N,a] -> [x;1]^T W_l of every label [N,L,b+1]."""
        product = self.matrix.product(rounded_rows(left), self.bias.flatten())
        return product.view(len(left), *self.bias.shape)

    def scores(self, left: Tensor, right: Tensor) -> Tensor:
        """[N,a], [N,b] -> scores of every label [N,L], without `of_left` in memory: the right
        vectors take the scales of rows, and their sums those of labels."""
        rows, right = rounded_rows(left), _with_one(right)
        values, scaled = rows.values.to(self.matrix.dtype), (right * self.of_rows).unsqueeze(1)
        sums = right.new_empty(len(left), len(self.bias))
        parts = (of.split(CHUNK) for of in (values, scaled, sums))
        for some, of_right, out in zip(*parts, strict=True):
            products = self.matrix.float_sums(some).view(len(some), *self.bias.shape)
            torch.sum(products.mul_(of_right), -1, out=out)
        of_labels = rows.scale * self.of_labels
        return torch.addmm(sums.mul_(of_labels), right, self.bias.T)


Matrices = Tensor | RoundedMatrices
"""The weight of label scores: [L,a+1,b+1] of a biaffine product, rounded or not, or [L,r+1] of a
factorised one, where a = b = r."""


class LabelFactors(NamedTuple):
    """The factors of label scores of chosen pairs, see `label_scores`: left [B,n,a], right [B,n,b]
    of the words (or of n fenceposts), and `Matrices`."""

    left: Tensor
    right: Tensor
    weight: Matrices


class Biaffine(Prepared):
    """s_o(x, y) = x^T U_o y + w_o . x + v_o . y + b_o for every pair of a left and a right vector.

    left [B,n,d], right [B,m,d] -> [B,n,m,n_outputs]: [x;1]^T W_o [y;1], Mrini et al. 2020, eq. 10.
    rounds: whether 8-bit predictions round left vectors of chosen pairs. They must be the same in
    every batch, to the bit.
    """

    def __init__(
        self, d_left: int, d_right: int, n_outputs: int = 1, *, rounds: bool = False
    ) -> None:
        super().__init__()
        self.rounds = rounds
        self.bilinear = nn.Parameter(torch.empty(n_outputs, d_left, d_right))
        self.left = nn.Parameter(torch.empty(n_outputs, d_left))
        self.right = nn.Parameter(torch.empty(n_outputs, d_right))
        self.bias = nn.Parameter(torch.zeros(n_outputs))
        for weight in (*self.bilinear.data, self.left.data, self.right.data):
            nn.init.xavier_uniform_(weight)

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        if self.rounds and isinstance(matrices := self.prepared(), RoundedMatrices):
            of_left = matrices.of_left(left.flatten(0, 1))
            rows = of_left.view(len(left), -1, of_left.shape[2])
            scores = rows[..., :-1] @ right.transpose(1, 2) + rows[..., -1:]
            return scores.unflatten(1, (left.shape[1], -1)).transpose(2, 3)
        scores = self._projected(left).flatten(1, 2) @ right.transpose(1, 2)
        scores = scores.unflatten(1, (left.shape[1], len(self.bias))).transpose(2, 3)
        return scores + F.linear(left, self.left, self.bias).unsqueeze(2)

    def _projected(self, left: Tensor) -> Tensor:
        n_outputs, d_left, d_right = self.bilinear.shape
        # one product for all outputs, on the shorter side of the work: [d_left, O * d_right]
        weight = self.bilinear.transpose(0, 1).reshape(d_left, -1)
        return (left @ weight).unflatten(-1, (n_outputs, d_right)) + self.right

    def factors(self, left: Tensor, right: Tensor) -> LabelFactors:
        """Returns the factors of the scores of [B,n,d_left] and [B,n,d_right]."""
        return LabelFactors(left, right, self.prepared())

    def made(self, precision: Precision) -> Matrices:
        """Returns the matrices W_o [n_outputs,d_left+1,d_right+1]."""
        lower = torch.cat([self.right, self.bias.unsqueeze(1)], 1)
        if self.rounds and precision == "int8":
            for_left = torch.cat([self.bilinear.transpose(1, 2), self.left.unsqueeze(1)], 1)
            return RoundedMatrices(for_left, lower)
        upper = torch.cat([self.bilinear, self.left.unsqueeze(2)], 2)
        return torch.cat([upper, lower.unsqueeze(1)], 1)

    def unread(self) -> list[str]:
        return ["bilinear"] if self.rounds else []


class FactorisedBiaffine(nn.Module):
    """A biaffine product with matrices W_o = sum_r P_or u_r v_r^T, which share all u_r and v_r.

    s_o(x, y) = P_o . (U [x;1] * V [y;1]) + b_o, with some (d_left + d_right + n_outputs) r
    parameters (a canonical polyadic decomposition of W).
    """

    def __init__(self, d_left: int, d_right: int, n_outputs: int, rank: int) -> None:
        super().__init__()
        if rank < 1:
            raise ValueError(f"the rank of a factorised biaffine must be at least 1, not {rank}")
        self.left = nn.Linear(d_left, rank)
        self.right = nn.Linear(d_right, rank)
        self.mixture = nn.Linear(rank, n_outputs)
        # at first [x;1] -> x + 1 in distribution: products neither vanish nor explode
        nn.init.ones_(self.left.bias)
        nn.init.ones_(self.right.bias)

    def factors(self, left: Tensor, right: Tensor) -> LabelFactors:
        """[B,n,d_left], [B,m,d_right] -> U [x;1] [B,n,rank], V [y;1] [B,m,rank], [P;b]
        [n_outputs,rank+1]."""
        weight = torch.cat([self.mixture.weight, self.mixture.bias.unsqueeze(1)], 1)
        return LabelFactors(self.left(left), self.right(right), weight)


def label_product(
    d_left: int, d_right: int, n_labels: int, rank: int | None, *, rounds: bool = False
) -> Biaffine | FactorisedBiaffine:
    """Returns a product with a full matrix for each label, or with `rank` shared ones. Full
    matrices begin as zero: random ones give large scores, which take a while to unlearn. rounds:
    see `Biaffine`."""
    if rank is not None:
        return FactorisedBiaffine(d_left, d_right, n_labels, rank)
    product = Biaffine(d_left, d_right, n_labels, rounds=rounds)
    nn.init.zeros_(product.bilinear)
    return product


def label_scores(factors: LabelFactors, sentences: Tensor, starts: Tensor, ends: Tensor) -> Tensor:
    """Returns label scores [N,L] of N pairs: (starts[k], ends[k]) of sentence sentences[k]."""
    weight = factors.weight
    if isinstance(weight, RoundedMatrices):
        return weight.scores(factors.left[sentences, starts], factors.right[sentences, ends])
    batch, n, d = factors.left.shape
    # n (n + d) products a sentence against d a pair; to differentiate, pairs alone are cheaper
    all_pairs = len(sentences) * d > batch * n * (n + d) and not torch.is_grad_enabled()
    if weight.dim() == 3 and all_pairs:
        return _of_all_pairs(factors.left, factors.right, weight, sentences, starts, ends)
    left, right = factors.left[sentences, starts], factors.right[sentences, ends]
    if weight.dim() == 2:
        return F.linear(left * right, weight[:, :-1], weight[:, -1])
    scores: Tensor = _Bilinear.apply(_with_one(left), _with_one(right), weight)
    return scores


def _with_one(x: Tensor) -> Tensor:
    return F.pad(x, (0, 1), value=1.0)


ROWS = 256
"""Left vectors in one product over all pairs; each is projected to L (b + 1) numbers."""


def _of_all_pairs(
    left: Tensor, right: Tensor, weight: Tensor, sentences: Tensor, starts: Tensor, ends: Tensor
) -> Tensor:
    """Reads scores off those of all pairs; each sentence's left vectors are projected once."""
    lefts, rights = _with_one(left), _with_one(right)
    (batch, n, d), n_labels = lefts.shape, len(weight)
    flat = weight.transpose(0, 1).reshape(d, -1)
    scores = lefts.new_empty(len(sentences), n_labels)
    step = max(1, ROWS // n)
    for first in range(0, batch, step):
        left, right = lefts[first : first + step], rights[first : first + step]
        projected = (left @ flat).view(len(left), n * n_labels, -1)
        pairs = (projected @ right.transpose(1, 2)).view(len(left), n, n_labels, n)
        which = ((sentences >= first) & (sentences < first + step)).nonzero().squeeze(1)
        scores[which] = pairs[sentences[which] - first, starts[which], :, ends[which]]
    return scores


CHUNK = 64
"""Pairs whose outer products are in memory at one time."""


class _Bilinear(torch.autograd.Function):
    """`F.bilinear` of [N,a], [N,b] and [L,a,b], by outer products: faster for few pairs, and many
    times as fast in the backward pass.

    Forms in plain torch that are as fast hold 6 to 13 times the memory: `benchmarks/layers.py`,
    docs/decisions/005-hand-written-autograd.md.
    """

    @staticmethod
    def forward(ctx: Any, left: Tensor, right: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(left, right, weight)
        flat = weight.flatten(1)
        pieces = zip(left.split(CHUNK), right.split(CHUNK), strict=True)
        outer = ((x.unsqueeze(2) * y.unsqueeze(1)).flatten(1) for x, y in pieces)
        return torch.cat([F.linear(products, flat) for products in outer])

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
