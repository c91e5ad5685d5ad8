"""Attention among the spans of a sentence, at a cost linear in their number (SpanFormer)."""

from __future__ import annotations

from typing import Literal

import torch.nn.functional as F
from torch import Tensor, nn

from ..structure.chart import pack, spans_within
from .biaffine import Biaffine, FactorisedBiaffine
from .biaffine_spans import SpanViews, pairs_of_spans
from .dropout import feature_dropout

Normalise = Literal["head", "concatenation"]


class LinearSpanAttention(nn.Module):
    """O = LayerNorm(Q (K^T V)), Q = H W_q, K = H W_k, V = H W_v (Floquet et al. 2023, section 3).

    x [B,S,d], mask [B,S] -> [B,S,d]. Without a softmax the product K^T V comes first: d/heads
    numbers squared for a sentence, whatever the number of its spans. Spans that the mask excludes
    are in no sum; the layer normalisation alone bounds a sum over all others.

    `normalise`: each head's output by itself, "head", as equations for one head read, or all
    heads' together, "concatenation".
    """

    def __init__(self, d: int, n_heads: int, *, normalise: Normalise = "head") -> None:
        super().__init__()
        if normalise not in ("head", "concatenation"):
            raise ValueError(f"normalise must be 'head' or 'concatenation', not {normalise!r}")
        if d % n_heads:
            raise ValueError(f"{n_heads} heads don't divide {d} features")
        self.n_heads = n_heads
        self.query = nn.Linear(d, d, bias=False)
        self.key = nn.Linear(d, d, bias=False)
        self.value = nn.Linear(d, d, bias=False)
        self.per_head = normalise == "head"
        self.layer_norm = nn.LayerNorm(d // n_heads if self.per_head else d)

    def unnormalised(self, x: Tensor, mask: Tensor) -> Tensor:
        """Q (K^T V) of each head, [B,S,heads,d/heads]."""
        there = x * mask.unsqueeze(-1)
        queries, keys, values = (
            layer(rows).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for layer, rows in ((self.query, x), (self.key, there), (self.value, there))
        )
        return (queries @ (keys.transpose(2, 3) @ values)).transpose(1, 2)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        heads = self.unnormalised(x, mask)
        out: Tensor
        if self.per_head:
            out = self.layer_norm(heads).flatten(2)
        else:
            out = self.layer_norm(heads.flatten(2))
        return out


class SpanTransformerLayer(nn.Module):
    """x + O, then y + MLP(y): linear attention and a two-layer perceptron, each with a residual."""

    def __init__(self, d: int, n_heads: int, d_ff: int, *, normalise: Normalise = "head") -> None:
        super().__init__()
        self.attention = LinearSpanAttention(d, n_heads, normalise=normalise)
        self.inner = nn.Linear(d, d_ff)
        self.outer = nn.Linear(d_ff, d)
        self.dropout = 0.0

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        x = x + self._dropped(self.attention(x, mask))
        return x + self._dropped(self.outer(F.relu(self.inner(x))))

    def _dropped(self, x: Tensor) -> Tensor:
        return feature_dropout(x, self.dropout, self.training)


class SpanTransformer(nn.Module):
    """SpanFormer's span scorer (Floquet et al. 2023, section 3): scores [B,S] of fenceposts.

    fenceposts [B,n+1,d_in], lengths [B]. A span's vector is a biaffine product of its ends with
    `d_biaffine` outputs (480), projected to `d` features (48); `n_layers` transformer layers let
    the spans of a sentence see each other; a linear layer scores what comes out.

    rank: of the biaffine product's matrices (`FactorisedBiaffine`); None takes full ones,
    d_biaffine (d_span + 1)^2 numbers. With a rank, the product's mixture and the projection merge
    to one small matrix, and the d_biaffine outputs need not be computed.
    """

    def __init__(
        self,
        d_in: int,
        d_span: int,
        *,
        d_biaffine: int,
        rank: int | None,
        d: int,
        n_heads: int,
        n_layers: int,
        d_ff: int,
        normalise: Normalise = "head",
    ) -> None:
        super().__init__()
        self.views = SpanViews(d_in, d_span)
        self.product: Biaffine | FactorisedBiaffine
        if rank is None:
            self.product = Biaffine(d_span, d_span, d_biaffine)
        else:
            self.product = FactorisedBiaffine(d_span, d_span, d_biaffine, rank)
        self.projection = nn.Linear(d_biaffine, d)
        self.layers = nn.ModuleList(
            SpanTransformerLayer(d, n_heads, d_ff, normalise=normalise) for _ in range(n_layers)
        )
        self.score = nn.Linear(d, 1)
        nn.init.zeros_(self.score.weight)

    def set_dropout(self, rate: float) -> None:
        self.views.dropout = rate
        for layer in self.modules():
            if isinstance(layer, SpanTransformerLayer):
                layer.dropout = rate

    def span_vectors(self, left: Tensor, right: Tensor) -> Tensor:
        """The vectors of all spans [B,S,d] from views of their ends [B,n+1,d_span]."""
        if isinstance(self.product, FactorisedBiaffine):
            mixture, projection = self.product.mixture, self.projection
            weight = projection.weight @ mixture.weight
            bias = projection.bias + projection.weight @ mixture.bias
            u, v = pairs_of_spans(*self.product.factors(left, right))
            return F.linear(u * v, weight, bias)
        vectors: Tensor = self.projection(pack(self.product(left, right)))
        return vectors

    def forward(self, fenceposts: Tensor, lengths: Tensor) -> Tensor:
        x = self.span_vectors(*self.views(fenceposts))
        mask = spans_within(fenceposts.shape[1] - 1, lengths)
        for layer in self.layers:
            x = layer(x, mask)
        scores: Tensor = self.score(x)
        return scores.squeeze(-1)
