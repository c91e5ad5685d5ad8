"""Self-attention with separate content and position features, whose scores are added."""

from collections.abc import Callable
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .dropout import Dropout, FeatureDropout
from .layer_norm import LayerNorm
from .packed import PackedRows


def partition(d_model: int, d_positional: int | None, parts: str) -> dict[str, int]:
    """Returns the widths of content and position, the last `d_positional` features, by two letters
    for the names of their weights; or that of all features, without a letter."""
    if d_positional is None:
        return {"": d_model}
    if not 0 < d_positional < d_model:
        raise ValueError(
            f"d_positional must be between 0 and d_model = {d_model}, got {d_positional}"
        )
    return dict(zip(parts, (d_model - d_positional, d_positional), strict=True))


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Returns the softmax of scores [B,H,m,n] over the real rows of mask [B,n]."""
    # a finite fill keeps a sentence without any real row free of NaN
    fill = torch.finfo(scores.dtype).min
    return scores.masked_fill(~mask[:, None, None, :], fill).softmax(-1)


class PartitionedSelfAttention(nn.Module):
    """A layer of multi-head self-attention (Vaswani et al. 2017; Mrini et al. 2020, section 3.1;
    Vu-Tran et al., eqs. 1 to 3).

    x [B,n,d_model], mask [B,n] -> LayerNorm(x + proj(concatenated heads)) [B,n,d_model]; given
    rows, both are packed [R,d_model]. Padded rows must be finite; their outputs have no meaning.

    With `d_positional`, the last `d_positional` features of a row are positions. Content and
    position have their own projections, each half as wide, and their scores add up. Parameters have
    the names and shapes of the released parser: w_qs, w_ks, w_vs [H, d_model, d_key or d_value] and
    proj, or, partitioned, w_qs1 [H, d_content, d_key / 2], w_qs2 [H, d_positional, d_key / 2], and
    so on. Scores are divided by the square root of the query's size (`scale="key"`, eq. 1 of Mrini
    et al.) or of `d_model` (`scale="model"`, the released code).
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_key: int,
        d_value: int,
        *,
        d_positional: int | None = None,
        query_matrix: bool = True,
        combine: bool = True,
        scale: Literal["key", "model"] = "key",
        residual_dropout: float | None = None,
    ) -> None:
        super().__init__()
        self._widths = partition(d_model, d_positional, "12")
        n_parts = len(self._widths)
        if d_key % n_parts or d_value % n_parts:
            raise ValueError("d_key and d_value must be even when positions are partitioned")
        self.d_model = d_model
        self.n_heads = n_heads
        self.d_key = d_key
        self.query_matrix = query_matrix
        self.attention_dropout = Dropout()
        self.residual_dropout = FeatureDropout(residual_dropout)
        self.layer_norm: nn.Module = LayerNorm(d_model)
        self.scale = (d_key if scale == "key" else d_model) ** -0.5
        key, value = d_key // n_parts, d_value // n_parts
        for part, width in self._widths.items():
            for name, shape in (
                ("w_qs", (n_heads, width, key) if query_matrix else (n_heads, key)),
                ("w_ks", (n_heads, width, key)),
                ("w_vs", (n_heads, width, value)),
            ):
                weight = nn.Parameter(torch.empty(shape))
                nn.init.xavier_normal_(weight)
                self.register_parameter(name + part, weight)
            n_values = n_heads * value if combine else value
            self.add_module("proj" + part, nn.Linear(n_values, width, bias=False))

    def attention(self, x: Tensor, mask: Tensor) -> Tensor:
        """Returns the attention distributions [B,H,n,n]."""
        return masked_softmax(self._scores(x), mask)

    def forward(self, x: Tensor, mask: Tensor, rows: PackedRows | None = None) -> Tensor:
        contexts = self._contexts(x, mask, rows).transpose(1, 2)
        if rows is not None:
            contexts = rows.pack(contexts)
        halves = contexts.chunk(len(self._widths), dim=-1)
        combined = [
            F.linear(half.flatten(-2), weight)
            for half, weight in zip(halves, self._weights("proj", ".weight"), strict=True)
        ]
        return self.layer_norm(x + self.residual_dropout(torch.cat(combined, dim=-1)))

    def _weights(self, name: str, suffix: str = "") -> list[Tensor]:
        """Returns the parameter(s) called `name`: one, or that of content and that of position."""
        return [self.get_parameter(name + part + suffix) for part in self._widths]

    def _parts(self, x: Tensor) -> tuple[Tensor, ...]:
        return x.split(list(self._widths.values()), dim=-1)

    def _by_head(self, x: Tensor, name: str, rows: PackedRows | None = None) -> Tensor:
        """Projects the rows x [B,n,d] once for every head: [B,H,n,d_key or d_value]."""
        projected = [
            # one product with the heads side by side, [d, H * d_key]
            (part @ weight.transpose(0, 1).flatten(1)).unflatten(-1, (self.n_heads, -1))
            for part, weight in zip(self._parts(x), self._weights(name), strict=True)
        ]
        of_rows = torch.cat(projected, dim=-1)
        return (of_rows if rows is None else rows.pad(of_rows)).transpose(1, 2)

    def _scores(self, x: Tensor) -> Tensor:
        """Returns scores of each row's own query over all rows: [B,H,n,n]."""
        queries = self._by_head(x, "w_qs") * self.scale
        return queries @ self._by_head(x, "w_ks").transpose(2, 3)

    def _contexts(self, x: Tensor, mask: Tensor, rows: PackedRows | None = None) -> Tensor:
        """Returns each row's own context in every head: [B,H,n,d_value]."""
        query, key, value = (self._by_head(x, name, rows) for name in ("w_qs", "w_ks", "w_vs"))
        return F.scaled_dot_product_attention(
            query,
            key,
            value,
            attn_mask=mask[:, None, None, :],
            dropout_p=self.attention_dropout.rate if self.training else 0.0,
            scale=self.scale,
        )


class PartitionedFeedForward(nn.Module):
    """The position-wise feed-forward layer (Vaswani et al. 2017; Vu-Tran et al., eqs. 4 and 5;
    behind label attention: Mrini et al. 2020, section 2).

    x [B,n,d] -> LayerNorm(x + W2 relu(W1 x + b1) + b2) [B,n,d]. With `d_positional`, the last
    `d_positional` features have their own weights (w_1p, w_2p; else w_1c, w_2c) and half of the
    hidden features.
    """

    def __init__(self, d_model: int, d_ff: int, *, d_positional: int | None = None) -> None:
        super().__init__()
        self._widths = partition(d_model, d_positional, "cp")
        self.dropout = FeatureDropout()
        d_hidden = d_ff // len(self._widths)
        for part, width in self._widths.items():
            self.add_module("w_1" + part, nn.Linear(width, d_hidden))
            self.add_module("w_2" + part, nn.Linear(d_hidden, width))
        self.layer_norm: nn.Module = LayerNorm(d_model)

    def forward(self, x: Tensor) -> Tensor:
        parts = x.split(list(self._widths.values()), dim=-1)
        transformed = [
            self._transformed(rows, part) for part, rows in zip(self._widths, parts, strict=True)
        ]
        return self.layer_norm(x + torch.cat(transformed, dim=-1))

    def _transformed(self, x: Tensor, part: str) -> Tensor:
        into: Callable[[Tensor], Tensor] = self.get_submodule("w_1" + part)
        out: Callable[[Tensor], Tensor] = self.get_submodule("w_2" + part)
        return self.dropout(out(self.dropout(F.relu(into(x)))))
