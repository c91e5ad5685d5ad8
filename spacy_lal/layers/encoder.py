"""The encoder: self-attention layers, the Label Attention Layer, and fenceposts."""

import torch
from torch import Tensor, nn

from .label_attention import EncoderSettings, LabelAttention
from .packed import rows_of
from .partitioned_attention import PartitionedFeedForward, PartitionedSelfAttention


class LabelAttentionEncoder(nn.Module):
    """Rows [B,n,d_around+d_model] of START, words, STOP -> annotations [B,n,output_dim].

    Self-attention and feed-forward layers, then the Label Attention Layer (Mrini et al. 2020,
    sections 2 and 3.1, figure 4). d_around: number of features, the first of every row, that bypass
    all layers and stand first in the annotation (Vu-Tran et al., figure 1, eq. 12).
    """

    def __init__(self, settings: EncoderSettings, d_model: int, d_around: int = 0) -> None:
        super().__init__()
        self.d_around = d_around
        d_positional, d_ff = settings.partition_width, settings.feed_forward_width
        self.attention_layers = nn.ModuleList()
        self.feed_forward_layers = nn.ModuleList()
        for _ in range(settings.self_attention_layers):
            attention = PartitionedSelfAttention(
                d_model,
                settings.self_attention_heads,
                settings.self_attention_key_width,
                settings.self_attention_key_width,
                d_positional=d_positional,
                scale=settings.scale,
            )
            self.attention_layers.append(attention)
            feed_forward = PartitionedFeedForward(d_model, d_ff, d_positional=d_positional)
            self.feed_forward_layers.append(feed_forward)
        self.label_attention: LabelAttention | None = None
        self.label_feed_forward: PartitionedFeedForward | None = None
        d_label = d_model
        if settings.heads:
            self.label_attention = LabelAttention(settings, d_model)
            d_label = self.label_attention.output_dim
            if settings.label_feed_forward:
                # The released code takes the output's last features for positions, although label
                # attention has mixed content and position; kept for its weights.
                self.label_feed_forward = PartitionedFeedForward(
                    d_label, d_ff, d_positional=settings.label_partition_width
                )
        self._with_rows = settings.arrangement == "concatenate" and settings.heads > 0
        # Rows are [content ; position] unless a Label Attention Layer follows.
        self._deinterleave = not settings.heads and d_positional is not None
        self.halves_heads = settings.combine == "concatenate" and settings.halves == "head"
        # parts of an annotation: width, and number of heads, each of which is halved
        self._parts = [(d_around, 1)] if d_around else []
        if self._with_rows:
            self._parts.append((d_model, 1))
        self._parts.append((d_label, settings.heads if settings.heads and self.halves_heads else 1))
        self.output_dim = sum(width for width, _ in self._parts)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Annotates rows x [B,n,d_around+d_model]; mask [B,n] is True for real rows."""
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
        """Returns the input rows [B,n,d_model] of label attention."""
        x = x[..., self.d_around :]
        packed = rows_of(mask, training=self.training) if len(self.attention_layers) else None
        if packed is not None:
            x = packed.pack(x)
        for attention, feed_forward in zip(
            self.attention_layers, self.feed_forward_layers, strict=True
        ):
            x = feed_forward(attention(x, mask, packed))
        return x if packed is None else packed.pad(x)

    def fenceposts(self, annotations: Tensor) -> Tensor:
        """Annotations [B,n+2,output_dim] -> fenceposts [B,n+1,output_dim].

        Fencepost k takes the first half of every part of row k, then the second half of every part
        of row k + 1 (Mrini et al. 2020, section 3.2, eq. 5; Vu-Tran et al., eqs. 13-15).
        """
        if self._deinterleave:
            d = self.d_around
            own = annotations[..., d:]
            annotations = torch.cat([annotations[..., :d], own[..., 0::2], own[..., 1::2]], -1)
        parts = annotations.split([width for width, _ in self._parts], dim=-1)
        cut = [halves(part, n) for part, (_, n) in zip(parts, self._parts, strict=True)]
        return torch.cat([first[:, :-1] for first, _ in cut] + [last[:, 1:] for _, last in cut], -1)


def halves(annotations: Tensor, n_heads: int) -> tuple[Tensor, Tensor]:
    """Splits each head of rows [B,n,D] into first and second half (Mrini et al. 2020, section 2 and
    figure 6)."""
    heads = annotations.unflatten(-1, (n_heads, -1))
    middle = heads.shape[-1] // 2
    return heads[..., :middle].flatten(2), heads[..., middle:].flatten(2)
