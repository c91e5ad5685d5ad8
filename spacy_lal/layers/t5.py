"""T5's encoder and decoder (Raffel et al. 2020, section 2.1), over a text that is there."""

from __future__ import annotations

import math
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .bert import ACTIVATIONS
from .dropout import Dropout


class T5(nn.Module):
    """Pieces, types (ignored), mask [B, l] -> the decoder's states [B, l + 1, d].

    The encoder reads the pieces, the decoder the same pieces behind the piece `start`, so state
    k + 1 is the decoder's when it has read piece k. mask: 1 where there is a piece. Parameters have
    the names that Hugging Face's library gives them. gated: feed-forward layers with a gate (T5
    1.1). buckets, distance: of relative positions; beyond the distance all are alike.
    """

    def __init__(
        self,
        *,
        d: int,
        d_key: int,
        d_ff: int,
        n_layers: int,
        n_decoder_layers: int,
        n_heads: int,
        buckets: int,
        distance: int,
        words: int,
        gated: bool,
        activation: str,
        dropout: float,
        eps: float,
        start: int,
    ) -> None:
        super().__init__()
        self.start = start
        self.shared = nn.Embedding(words, d)
        sizes: dict[str, Any] = {
            **{"d": d, "d_key": d_key, "d_ff": d_ff, "n_heads": n_heads, "buckets": buckets},
            **{"distance": distance, "gated": gated, "activation": activation},
            **{"dropout": dropout, "eps": eps},
        }
        self.encoder = Stack(n_layers, decodes=False, **sizes)
        self.decoder = Stack(n_decoder_layers, decodes=True, **sizes)

    def forward(self, pieces: Tensor, types: Tensor, mask: Tensor) -> Tensor:
        there = mask.bool()[:, None, None]
        read = self.encoder(self.shared(pieces), there)
        shifted = F.pad(pieces, (1, 0), value=self.start)
        n = shifted.shape[1]
        before = torch.ones(n, n, dtype=torch.bool, device=mask.device).tril()
        states: Tensor = self.decoder(
            self.shared(shifted), before & F.pad(there, (1, 0), value=True), read, there
        )
        return states


class Stack(nn.Module):
    """Rows x [B, l, d], which rows each of them sees [B, 1, 1 or l, l] -> [B, l, d].

    A decoder's rows also attend to what was `read` [B, k, d], where it is `there` [B, 1, 1, k].
    The first layer holds the biases of relative positions for all.
    """

    def __init__(
        self, n_layers: int, *, decodes: bool, dropout: float, eps: float, d: int, **sizes: Any
    ) -> None:
        super().__init__()
        self.decodes = decodes
        self.buckets, self.distance = sizes.pop("buckets"), sizes.pop("distance")
        self.block = nn.ModuleList(
            Block(d, decodes=decodes, dropout=dropout, eps=eps, **sizes) for _ in range(n_layers)
        )
        first = cast(Any, self.block[0]).layer[0].SelfAttention
        first.relative_attention_bias = nn.Embedding(self.buckets, sizes["n_heads"])
        self.final_layer_norm = nn.RMSNorm(d, eps)
        self.dropout = Dropout(dropout)

    def forward(
        self, x: Tensor, sees: Tensor, read: Tensor | None = None, there: Tensor | None = None
    ) -> Tensor:
        x = self.dropout(x)
        bias = self.biases(x.shape[1]).masked_fill(~sees, -math.inf)
        for block in self.block:
            x = block(x, bias, read, there)
        normalised: Tensor = self.dropout(self.final_layer_norm(x))
        return normalised

    def biases(self, n: int) -> Tensor:
        """What every head adds to the score of row k for row q [1, H, n, n], at [0, h, q, k]."""
        table = cast(Any, self.block[0]).layer[0].SelfAttention.relative_attention_bias
        positions = torch.arange(n, device=table.weight.device)
        ahead = positions - positions.unsqueeze(1)
        found: Tensor = table(self._bucket(ahead)).permute(2, 0, 1).unsqueeze(0)
        return found

    def _bucket(self, ahead: Tensor) -> Tensor:
        """Numbers of distances: half of them exact, the rest by their logarithm.

        An encoder has as many for rows behind as for rows ahead; a decoder looks back alone.
        """
        buckets, first = self.buckets, torch.zeros_like(ahead)
        if self.decodes:
            far = (-ahead).clamp(min=0)
        else:
            buckets //= 2
            first, far = (ahead > 0) * buckets, ahead.abs()
        exact = buckets // 2
        ratio = torch.log(far.clamp(min=1).float() / exact) / math.log(self.distance / exact)
        wide = (exact + (ratio * (buckets - exact)).long()).clamp(max=buckets - 1)
        return first + torch.where(far < exact, far, wide)


class Block(nn.Module):
    """One layer: self-attention, in a decoder attention to the encoder's rows, feed-forward."""

    def __init__(
        self,
        d: int,
        *,
        decodes: bool,
        d_key: int,
        d_ff: int,
        n_heads: int,
        gated: bool,
        activation: str,
        dropout: float,
        eps: float,
    ) -> None:
        super().__init__()
        names = ["SelfAttention", *(["EncDecAttention"] if decodes else [])]
        self.layer = nn.ModuleList(
            _sublayer(name, Attention(d, d_key, n_heads, dropout), d, eps) for name in names
        )
        self.layer.append(
            _sublayer("DenseReluDense", FeedForward(d, d_ff, gated, activation, dropout), d, eps)
        )
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, bias: Tensor, read: Tensor | None, there: Tensor | None) -> Tensor:
        own, *others, dense = cast(list[Any], list(self.layer))
        rows = own.layer_norm(x)
        x = x + self.dropout(own.SelfAttention(rows, rows, bias))
        for other in others:
            x = x + self.dropout(other.EncDecAttention(other.layer_norm(x), read, there))
        x = x + self.dropout(dense.DenseReluDense(dense.layer_norm(x)))
        return x


class Attention(nn.Module):
    """Rows [B, l, d], what they read [B, k, d] -> [B, l, d]; scores are not scaled."""

    def __init__(self, d: int, d_key: int, n_heads: int, dropout: float) -> None:
        super().__init__()
        self.n_heads, self.rate = n_heads, dropout
        for name in "qkv":
            self.add_module(name, nn.Linear(d, n_heads * d_key, bias=False))
        self.o = nn.Linear(n_heads * d_key, d, bias=False)

    def forward(self, rows: Tensor, read: Tensor, mask: Tensor) -> Tensor:
        query, key, value = (
            self.get_submodule(name)(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for name, x in (("q", rows), ("k", read), ("v", read))
        )
        rate = self.rate if self.training else 0.0
        mixed = F.scaled_dot_product_attention(query, key, value, mask, dropout_p=rate, scale=1.0)
        combined: Tensor = self.o(mixed.transpose(1, 2).flatten(2))
        return combined


class FeedForward(nn.Module):
    """wo f(wi x), or, gated, wo (f(wi_0 x) * wi_1 x)."""

    def __init__(self, d: int, d_ff: int, gated: bool, activation: str, dropout: float) -> None:
        super().__init__()
        self.names = ("wi_0", "wi_1") if gated else ("wi",)
        for name in self.names:
            self.add_module(name, nn.Linear(d, d_ff, bias=False))
        self.wo = nn.Linear(d_ff, d, bias=False)
        self.activation = ACTIVATIONS[activation]
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        first, *gates = (self.get_submodule(name)(x) for name in self.names)
        hidden = self.activation(first)
        for gate in gates:
            hidden = hidden * gate
        out: Tensor = self.wo(self.dropout(hidden))
        return out


def _sublayer(name: str, module: nn.Module, d: int, eps: float) -> nn.Module:
    """A sublayer by its name, and the normalisation in front of it."""
    sublayer = nn.Module()
    sublayer.add_module(name, module)
    sublayer.layer_norm = nn.RMSNorm(d, eps)
    return sublayer
