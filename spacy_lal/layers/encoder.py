"""The encoder: self-attention layers, the Label Attention Layer, and what spans are made of."""

from typing import Literal

import torch
from torch import Tensor, nn

from .label_attention import Combine, LabelAttention
from .partitioned_attention import PartitionedFeedForward, PartitionedSelfAttention, Scale
from .span_scorer import halves as halves_of

Arrangement = Literal["stack", "concatenate"]
Halves = Literal["head", "whole"]


class LabelAttentionEncoder(nn.Module):
    """Rows [B,n,d_model] of START, words, STOP -> annotations [B,n,output_dim].

    `n_layers` self-attention layers, each followed by a feed-forward layer, then the Label
    Attention Layer with `n_label_heads` heads (none if 0), by default followed by a feed-forward
    layer too (Mrini et al. 2020, sections 2 and 3.1, figure 4).

    `arrangement="stack"` annotates with the last layer's output, as Mrini et al. do;
    `"concatenate"` with the rows that enter label attention and its output side by side: there the
    rows' halves are the two directions of an LSTM.

    `d_around`: so many features of every row, the first ones, go around all layers and stand
    first in the annotation (Vu-Tran et al.: the pretrained encoder's branch, figure 1, eq. 12);
    rows are [B,n,d_around+d_model] then. `halves`: what a fencepost takes of label attention's
    output is half of every "head" (Mrini et al.; figure 2 of Vu-Tran et al.), or half of the
    "whole" vector, that is, of the heads (their eqs. 13-15).
    """

    def __init__(
        self,
        d_model: int,
        *,
        n_layers: int = 0,
        n_heads: int = 8,
        d_key: int = 64,
        d_ff: int = 2048,
        d_positional: int | None = None,
        n_label_heads: int = 0,
        d_label_key: int = 128,
        d_label_value: int | None = None,
        d_label_proj: int = 128,
        label_d_positional: int | None = None,
        label_query_matrix: bool = False,
        label_combine: Combine = "concatenate",
        label_feed_forward: bool = True,
        arrangement: Arrangement = "stack",
        d_around: int = 0,
        halves: Halves = "head",
        scale: Scale = "key",
        drops_label_residual: bool = False,
    ) -> None:
        super().__init__()
        if arrangement not in ("stack", "concatenate"):
            raise ValueError(f"arrangement must be 'stack' or 'concatenate', not {arrangement!r}")
        if halves not in ("head", "whole"):
            raise ValueError(f"halves must be 'head' or 'whole', not {halves!r}")
        self.d_model = d_model
        self.d_around = d_around
        self.arrangement = arrangement
        self.attention_layers = nn.ModuleList(
            PartitionedSelfAttention(
                d_model,
                n_heads,
                d_key,
                d_positional=d_positional,
                scale=scale,
            )
            for _ in range(n_layers)
        )
        self.feed_forward_layers = nn.ModuleList(
            PartitionedFeedForward(
                d_model,
                d_ff,
                d_positional=d_positional,
            )
            for _ in range(n_layers)
        )
        self.label_attention: LabelAttention | None = None
        self.label_feed_forward: PartitionedFeedForward | None = None
        if n_label_heads:
            self.label_attention = LabelAttention(
                d_model,
                n_label_heads,
                d_label_key,
                d_label_key if d_label_value is None else d_label_value,
                d_label_proj,
                d_positional=label_d_positional,
                query_matrix=label_query_matrix,
                combine=label_combine,
                scale=scale,
                residual_dropout=drops_label_residual,
            )
        if self.label_attention is not None and label_feed_forward:
            self.label_feed_forward = PartitionedFeedForward(
                self.label_attention.output_dim,
                d_ff,
                # The released code calls the last d_positional features of the output positions,
                # although label attention has mixed content and position; kept for its weights.
                d_positional=label_d_positional,
            )
        d_label = d_model if self.label_attention is None else self.label_attention.output_dim
        concatenated = arrangement == "concatenate" and self.label_attention is not None
        # Features of a row are [content ; position] unless a Label Attention Layer follows.
        self._deinterleave = self.label_attention is None and d_positional is not None
        self.halves_heads = label_combine == "concatenate" and halves == "head"
        # what stands side by side in an annotation: its width, and its heads if each is halved
        self._parts: list[tuple[int, int | None]] = [
            (d_around, None),
            (d_model if concatenated else 0, None),
            (d_label, n_label_heads if n_label_heads and self.halves_heads else None),
        ]
        self._with_rows = concatenated
        self.output_dim = sum(width for width, _ in self._parts)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Annotate rows x [B,n,d_around+d_model]; mask [B,n] is True for real rows."""
        rows = self.encode(x, mask)
        annotations = rows
        if self.label_attention is not None:
            annotations = self.label_attention(rows, mask)
        if self.label_feed_forward is not None:
            annotations = self.label_feed_forward(annotations)
        parts = [annotations]
        if self._with_rows:
            parts.insert(0, rows)
        if self.d_around:
            parts.insert(0, x[..., : self.d_around])
        return torch.cat(parts, dim=-1) if len(parts) > 1 else annotations

    def encode(self, x: Tensor, mask: Tensor) -> Tensor:
        """The rows [B,n,d_model] as they enter label attention."""
        x = x[..., self.d_around :]
        for attention, feed_forward in zip(
            self.attention_layers, self.feed_forward_layers, strict=True
        ):
            x = feed_forward(attention(x, mask))
        return x

    def attention(self, x: Tensor, mask: Tensor) -> Tensor:
        """The label attention distributions [B,H,1 or n,n] of rows x [B,n,d_around+d_model]."""
        if self.label_attention is None:
            raise ValueError("this encoder has no Label Attention Layer")
        return self.label_attention.attention(self.encode(x, mask), mask)

    def fenceposts(self, annotations: Tensor) -> Tensor:
        """Annotations [B,n+2,output_dim] -> fenceposts [B,n+1,output_dim].

        Fencepost k takes the first half of every part of row k, then the second half of every
        part of row k + 1 (Mrini et al. 2020, section 3.2, eq. 5; Vu-Tran et al., eqs. 13-15).
        """
        if self._deinterleave:
            d = self.d_around
            own = annotations[..., d:]
            annotations = torch.cat([annotations[..., :d], own[..., 0::2], own[..., 1::2]], -1)
        parts = annotations.split([width for width, _ in self._parts], dim=-1)
        cut = [
            halves_of(part, heads)
            for part, (width, heads) in zip(parts, self._parts, strict=True)
            if width
        ]
        return torch.cat(
            [first[:, :-1] for first, _ in cut] + [second[:, 1:] for _, second in cut], dim=-1
        )
