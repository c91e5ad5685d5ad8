"""The Berkeley Neural Parser as one PyTorch module, built from a JSON-able header."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from ...bridge.weights import Header
from ...encoders.transformers import build_transformer
from ...layers.char_lstm import CharLSTM
from ...layers.dropout import FeatureDropout
from ...layers.input_encoders import row_mask, with_positions
from ...layers.packed import rows_of
from ...layers.partitioned_attention import PartitionedFeedForward, PartitionedSelfAttention
from ...layers.span_scorer import SpanScorer, fenceposts
from ...parsing.network import OneStageScores
from .settings import BeneparSizes


class BeneparNetwork(nn.Module):
    """Words of sentences -> tag scores and charts (Kitaev and Klein 2018; Kitaev et al. 2019).

    The vectors of words, START and STOP come from a pretrained encoder, projected, or from their
    characters; content beside a learned position goes through self-attention in which the two
    attend apart (Kitaev and Klein 2018, section 3). A span is the difference of two fenceposts.
    """

    def __init__(self, header: Header) -> None:
        super().__init__()
        sizes = BeneparSizes.from_json(header["settings"])
        n_tags = len(header["tags"])
        d, half = sizes.width, sizes.width // 2
        norm = nn.LayerNorm
        self.content: CharLSTM | Pretrained
        self.project: nn.Linear | None = None
        if sizes.character_width is not None:
            n_characters = max(header["characters"].values()) + 1
            self.content = CharLSTM(n_characters, sizes.character_width, half // 2)
        else:
            self.content = Pretrained(header["transformer"])
            d_content = half if sizes.positions else d
            self.project = nn.Linear(self.content.width, d_content, bias=False)
        self.positions: nn.Parameter | None = None
        if sizes.positions:
            self.positions = nn.Parameter(torch.randn(sizes.positions, half))
            self.layer_norm = norm(d)
        self.dropout = FeatureDropout()
        self.attention_layers = nn.ModuleList(
            PartitionedSelfAttention(d, sizes.heads, sizes.key_width, d_positional=half, norm=norm)
            for _ in range(sizes.layers)
        )
        self.feed_forward_layers = nn.ModuleList(
            PartitionedFeedForward(d, sizes.feed_forward_width, d_positional=half, norm=norm)
            for _ in range(sizes.layers)
        )
        n_labels = len(header["labels"]) + 1
        self.scorer = SpanScorer(d, sizes.hidden_width, n_labels, standard_norm=True)
        self.tags: nn.Sequential | None = None
        if sizes.tag_width is not None:
            width = sizes.tag_width
            self.tags = nn.Sequential(
                nn.Linear(d, width), norm(width), nn.ReLU(), nn.Linear(width, n_tags)
            )

    def forward(self, inputs: tuple[Tensor, ...], rows: Tensor, lengths: Tensor) -> OneStageScores:
        """inputs: of what gives words their vectors. rows [B, n+2]: those of START, words, STOP."""
        annotations = self.annotate(inputs, rows, lengths)
        words = annotations[:, 1:-1]
        # as of a treebank without tags: one for all words
        tags = words.new_zeros(*words.shape[:2], 1) if self.tags is None else self.tags(words)
        return OneStageScores(tags, self.scorer(fenceposts(annotations)))

    def annotate(self, inputs: tuple[Tensor, ...], rows: Tensor, lengths: Tensor) -> Tensor:
        """[B, n+2, d]; with self-attention, the even features stand before the odd ones, so that
        each half has of content and position."""
        mask = row_mask(lengths, rows.shape[1] - 2)
        x = self.content(*inputs)[rows] * mask.unsqueeze(-1)
        if self.project is not None:
            x = self.project(x)
        if self.positions is None:
            return x
        x = self.layer_norm(with_positions(self.dropout(x), self.positions))
        packed = rows_of(mask, training=self.training)
        if packed is not None:
            x = packed.pack(x)
        layers = zip(self.attention_layers, self.feed_forward_layers, strict=True)
        for attention, feed_forward in layers:
            x = feed_forward(attention(x, mask, packed))
        if packed is not None:
            x = packed.pad(x)
        return torch.cat([x[..., 0::2], x[..., 1::2]], -1)


class Pretrained(nn.Module):
    """Pieces, types, mask [W, l] -> the states of all windows, one below the other [W * l', d].

    l' is l, or l + 1 with T5, whose decoder begins with a piece of its own.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__()
        self.transformer = build_transformer(config)
        self.width = int(config["d_model" if reads_shifted(config) else "hidden_size"])

    def forward(self, pieces: Tensor, types: Tensor, mask: Tensor) -> Tensor:
        states: Tensor = self.transformer(pieces, types, mask)[-1]
        return states.flatten(0, 1)


def reads_shifted(config: dict[str, Any]) -> bool:
    """Whether a state stands before that of the first piece: of an encoder with a decoder."""
    return config["model_type"] == "t5"
