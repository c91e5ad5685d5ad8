"""From word vectors to the rows START, words, STOP that label attention reads.

All forms predict a tag for every word on the way and feed their belief about it, the expected
tag embedding, to what follows; so a parser needs no tagger in front of it. A BiLSTM may do without.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from .bilstm import BiLSTM
from .dropout import FeatureDropout
from .layer_norm import LayerNorm


def row_mask(lengths: Tensor, n: int) -> Tensor:
    """[B, n+2], True at START, the sentence's words and STOP."""
    return torch.arange(n + 2, device=lengths.device) < (lengths + 2).unsqueeze(1)


def with_start_and_stop(words: Tensor, lengths: Tensor, start: Tensor, stop: Tensor) -> Tensor:
    """Words [B, n, d] -> rows [B, n+2, d], STOP right after each sentence's last word."""
    batch, n, d = words.shape
    rows = torch.cat([start.expand(batch, 1, d), words, words.new_zeros(batch, 1, d)], 1)
    position = torch.arange(n + 2, device=words.device)
    at_stop = position == (lengths + 1).unsqueeze(1)
    rows = torch.where(at_stop.unsqueeze(-1), stop, rows)
    return rows * row_mask(lengths, n).unsqueeze(-1)


class BiLSTMInputEncoder(nn.Module):
    """Word vectors [B, n, d_in] -> rows [B, n+2, 2 * d_hidden], tag scores [B, n, T].

    The tags are read off the lower `tag_depth` layers of `depth`. With a tag_depth of 0 it is a
    plain BiLSTM of `depth` layers, and there are no tag scores (Zhang et al. 2020). A depth of 0
    leaves the LSTM out, too: the words' vectors are the rows, d_in wide.
    """

    d_around = 0

    def __init__(
        self,
        d_in: int,
        n_tags: int,
        *,
        d_hidden: int,
        depth: int,
        tag_depth: int,
        d_tag: int,
        mixed_precision: bool = False,
    ) -> None:
        super().__init__()
        if not 0 <= tag_depth < max(1, depth):
            raise ValueError(
                f"tag_depth must be from 0 to depth - 1, got tag_depth = {tag_depth} and depth "
                f"= {depth}"
            )
        self.output_dim = 2 * d_hidden if depth else d_in
        self.lower = BiLSTM(d_in, d_hidden, tag_depth or depth, mixed_precision=mixed_precision)
        self.upper: BiLSTM | None = None
        if tag_depth:
            self.tag_scores = nn.Linear(2 * d_hidden, n_tags)
            self.tag_embedding = nn.Parameter(torch.randn(n_tags, d_tag) * 0.3)
            self.upper = BiLSTM(
                2 * d_hidden + d_tag, d_hidden, depth - tag_depth, mixed_precision=mixed_precision
            )
        self.start = nn.Parameter(torch.randn(self.output_dim) * 0.1)
        self.stop = nn.Parameter(torch.randn(self.output_dim) * 0.1)
        self.dropout = FeatureDropout()

    def forward(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor | None]:
        states, tags = self.lower(x, lengths), None
        if self.upper is not None:
            tags = self.tag_scores(self.dropout(states))
            expected = torch.softmax(tags, -1) @ self.tag_embedding
            states = self.upper(torch.cat([states, expected], -1), lengths)
        states = self.dropout(states)
        return with_start_and_stop(states, lengths, self.start, self.stop), tags


def with_positions(content: Tensor, table: Tensor) -> Tensor:
    """Rows [B, n, d] and the positions' embeddings [N, p] side by side: [B, n, d + p]."""
    n = content.shape[1]
    if n > len(table):
        raise ValueError(
            f"a sentence of {n - 2} words, but the model has {len(table) - 2} positions: lower "
            "max_sentence_length or train with more positions"
        )
    return torch.cat([content, table[:n].expand(len(content), -1, -1)], -1)


class PositionInputEncoder(nn.Module):
    """Word vectors [B, n, d_in] -> rows [B, n+2, d_model], tag scores [B, n, T].

    The input of Mrini et al. 2020 (section 3.1): content, the sum of the projected word vector
    and the tag embedding, beside a position embedding. That it is learned, that each is half of
    d_model, and the layer norm are of the released code.
    """

    d_around = 0

    def __init__(self, d_in: int, n_tags: int, *, d_model: int, max_length: int) -> None:
        super().__init__()
        self.output_dim = d_model
        d_content = d_model - d_model // 2
        self.content = nn.Linear(d_in, d_content, bias=False)
        self.tag_scores = nn.Linear(d_in, n_tags)
        self.tag_embedding = nn.Parameter(torch.randn(n_tags, d_content) * 0.3)
        self.start = nn.Parameter(torch.randn(d_content))
        self.stop = nn.Parameter(torch.randn(d_content))
        self.positions = nn.Parameter(torch.randn(max_length + 2, d_model // 2))
        self.layer_norm = LayerNorm(d_model)
        self.dropout = FeatureDropout()

    def forward(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        tags = self.tag_scores(self.dropout(x))
        content = self.content(x) + torch.softmax(tags, -1) @ self.tag_embedding
        content = with_start_and_stop(content, lengths, self.start, self.stop)
        content = self.dropout(content)
        return self.layer_norm(with_positions(content, self.positions)), tags


class BranchInputEncoder(nn.Module):
    """Two branches side by side (Vu-Tran et al., section 2.1): rows [B, n+2, d_around + d_model].

    One branch, the first d_around features, is the words' vectors, of a pretrained encoder, or of
    a BiLSTM over them (`bilstm`, settings of `BiLSTMInputEncoder`): it goes around the encoder. The
    other, d_model wide, is what the encoder's self-attention and label attention read: content
    beside learned positions, each half of it. content "tag": the expected embedding of the word's
    part-of-speech tag; "word": its projected vector (both compared in the paper's table 3).
    """

    def __init__(
        self,
        d_in: int,
        n_tags: int,
        *,
        d_model: int,
        max_length: int,
        content: str,
        bilstm: dict[str, Any] | None,
    ) -> None:
        super().__init__()
        if content not in ("tag", "word"):
            raise ValueError(f"content must be 'tag' or 'word', not {content!r}")
        self.bilstm = None if bilstm is None else BiLSTMInputEncoder(d_in, n_tags, **bilstm)
        if content == "tag" and self.bilstm is not None and self.bilstm.upper is None:
            raise ValueError("content = 'tag' needs a BiLSTM that predicts tags, tag_depth > 0")
        self.d_around = d_in if self.bilstm is None else self.bilstm.output_dim
        self.output_dim = self.d_around + d_model
        if self.bilstm is None:
            self.tag_scores = nn.Linear(d_in, n_tags)
            self.around_start = nn.Parameter(torch.randn(d_in) * 0.1)
            self.around_stop = nn.Parameter(torch.randn(d_in) * 0.1)
        d_content = d_model - d_model // 2
        self.content = nn.Linear(
            n_tags if content == "tag" else self.d_around, d_content, bias=False
        )
        self.reads_tags = content == "tag"
        if self.reads_tags:
            nn.init.normal_(self.content.weight)
        self.start = nn.Parameter(torch.randn(d_content))
        self.stop = nn.Parameter(torch.randn(d_content))
        self.positions = nn.Parameter(torch.randn(max_length + 2, d_model // 2))
        self.layer_norm = LayerNorm(d_model)
        self.dropout = FeatureDropout()

    def forward(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor | None]:
        tags: Tensor | None
        if self.bilstm is not None:
            around, tags = self.bilstm(x, lengths)
        else:
            words = self.dropout(x)
            tags = self.tag_scores(words)
            around = with_start_and_stop(words, lengths, self.around_start, self.around_stop)
        word_content = around[:, 1:-1]
        if self.reads_tags:
            assert tags is not None
            word_content = torch.softmax(tags, -1)
        content = with_start_and_stop(self.content(word_content), lengths, self.start, self.stop)
        content = self.dropout(content)
        return torch.cat(
            [around, self.layer_norm(with_positions(content, self.positions))], -1
        ), tags
