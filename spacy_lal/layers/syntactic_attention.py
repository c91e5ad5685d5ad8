"""Self-attention of which one head attends to syntactic heads (Strubell et al. 2018)."""

from __future__ import annotations

import math
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .biaffine import Biaffine
from .dropout import Dropout, FeatureDropout
from .label_factors import LabelFactors, label_factors


def sinusoids(n: int, width: int, like: Tensor) -> Tensor:
    """Positions [n, width]: sines, then cosines, of timescales from 1 to 10,000. (Section 2.1
    names sinusoids; the formula is the released code's.)"""
    half = width // 2
    # bfloat16 has no odd numbers above 256
    dtype = torch.promote_types(like.dtype, torch.float32)
    exponents = torch.arange(half, dtype=dtype, device=like.device) / max(1, half - 1)
    timescales = torch.exp(exponents * -math.log(1e4))
    angles = torch.arange(n, dtype=dtype, device=like.device).unsqueeze(1) * timescales
    return F.pad(torch.cat([angles.sin(), angles.cos()], 1), (0, width % 2)).to(like.dtype)


class SyntacticScorer(nn.Module):
    """The deep biaffine parser (Dozat and Manning 2017) that is also an attention head (eq. 4).

    x [B,n,d_in] -> arcs [B,n,n], the score of word j as the head of word i at [i,j], where the
    root's dependent is its own head; and the factors of relation scores, `label_scores` of which
    takes dependents as left and heads as right ends. One perceptron with a leaky ReLU gives all
    four views of a word. Arc scores begin as zero.
    """

    def __init__(self, d_in: int, n_relations: int, *, d_arc: int, d_relation: int) -> None:
        super().__init__()
        self.sizes = [d_arc, d_relation] * 2
        self.views = nn.Linear(d_in, sum(self.sizes))
        self.arc = nn.Parameter(torch.zeros(d_arc + 1, d_arc))
        self.relation = Biaffine(d_relation, d_relation, n_relations)
        self.dropout = FeatureDropout()

    def forward(self, x: Tensor) -> tuple[Tensor, LabelFactors]:
        views = self.dropout(F.leaky_relu(self.views(x), 0.1))
        dependent, governed, head, governor = views.split(self.sizes, -1)
        arcs = (dependent @ self.arc[:-1] + self.arc[-1]) @ head.transpose(1, 2)
        return arcs, label_factors(self.relation, governed, governor)


def attend_to_heads(arcs: Tensor, mask: Tensor, governors: Tensor | None = None) -> Tensor:
    """Attention weights [B,n,n] of the syntactic head: softmax over the words that may be heads
    (eqs. 4 and 5), or, where `governors` [B,n] says which word it is, that word alone (sections
    2.2 and 2.5); -1: not known.

    arcs [B,n,n]; mask [B,n], True at words: padding is nobody's head.
    """
    weights = torch.softmax(arcs.masked_fill(~mask.unsqueeze(1), -torch.inf), -1)
    if governors is None:
        return weights
    given = F.one_hot(governors.clamp(min=0), arcs.shape[-1]).to(weights.dtype)
    return torch.where((governors >= 0).unsqueeze(-1), given, weights)


class SyntacticAttention(nn.Module):
    """Multi-head self-attention (eqs. 2 and 3) [B,n,d] -> [B,n,d], with `syntactic` the last of
    whose heads is given its attention weights and has values only.

    d = n_heads * d_head. mask [B,n] is True at words: padding receives no attention.
    """

    def __init__(
        self,
        n_heads: int,
        d_head: int,
        *,
        syntactic: bool = False,
        dropout: float | None = None,
    ) -> None:
        super().__init__()
        width = n_heads * d_head
        self.n_heads, self.d_head = n_heads, d_head
        self.n_own = n_heads - syntactic
        self.queries_keys_values = nn.Linear(width, (2 * self.n_own + n_heads) * d_head, bias=False)
        self.output = nn.Linear(width, width, bias=False)
        for weight in (self.queries_keys_values.weight, self.output.weight):
            nn.init.xavier_uniform_(weight)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor, syntax: Tensor | None = None) -> Tensor:
        batch, n, _ = x.shape
        own = self.n_own
        projected = self.queries_keys_values(x).view(batch, n, -1, self.d_head).transpose(1, 2)
        queries, keys, values = projected.split([own, own, self.n_heads], 1)
        logits = (queries * self.d_head**-0.5) @ keys.transpose(2, 3)
        weights = torch.softmax(logits.masked_fill(~mask[:, None, None], -torch.inf), -1)
        if syntax is not None:
            weights = torch.cat([weights, syntax.unsqueeze(1)], 1)
        weights = self.dropout(weights)
        mixed = (weights @ values).transpose(1, 2).reshape(batch, n, -1)
        return self.output(mixed)


class LisaLayer(nn.Module):
    """Self-attention, then a position-wise network, each behind a layer normalisation from whose
    output its residual connection starts: x [B,n,d] -> [B,n,d], not normalised.

    `norm` is the first normalisation; the caller applies it, since the syntactic head may read its
    output: forward takes norm(x). The network has `depth` hidden layers of d_ff leaky ReLUs.
    """

    def __init__(
        self,
        n_heads: int,
        d_head: int,
        d_ff: int,
        *,
        depth: int = 2,
        syntactic: bool = False,
        dropout: float | None = None,
    ) -> None:
        super().__init__()
        width = n_heads * d_head
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.attention = SyntacticAttention(n_heads, d_head, syntactic=syntactic, dropout=dropout)
        self.feed_forward_norm = nn.LayerNorm(width, eps=1e-6)
        widths = [width, *[d_ff] * depth]
        self.hidden = nn.ModuleList(nn.Linear(a, b, bias=False) for a, b in pairwise(widths))
        self.output = nn.Linear(d_ff, width, bias=False)
        self.dropout = Dropout(dropout)

    def forward(self, normed: Tensor, mask: Tensor, syntax: Tensor | None = None) -> Tensor:
        attended = self.attention(normed, mask, syntax)
        x = self.feed_forward_norm(normed + self.dropout(attended))
        hidden = x
        for layer in self.hidden:
            hidden = self.dropout(F.leaky_relu(layer(hidden), 0.1))
        dropped: Tensor = self.dropout(self.output(hidden))
        return x + dropped
