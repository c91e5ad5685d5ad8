"""BERT's encoder (Devlin et al. 2019), and RoBERTa's, XLM-R's and Electra's, which are like it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .dropout import Dropout
from .packed import PackedRows, rows_of

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu": F.gelu,
    "gelu_new": partial(F.gelu, approximate="tanh"),
    "relu": F.relu,
}
"""Activation functions by their names in config.json."""


class Bert(nn.Module):
    """Pieces, types, mask [B, l] -> the embeddings' output and that of each layer [B, l, d].

    mask: 1 where there is a piece; every row has one. Parameters have the names that Hugging Face's
    library gives them. Post-norm Transformer layers (Vaswani et al. 2017, section 3.1) over the sum
    of word, position and type embeddings.

    first_position: of a text's first piece; RoBERTa's positions begin behind that of padding.
    d_embedding: of the embeddings; if it isn't d, they are projected (Electra).
    dropout: of sublayers' outputs, attention_dropout: of attention; both the model's own.
    """

    def __init__(
        self,
        *,
        d: int,
        n_layers: int,
        n_heads: int,
        d_ff: int,
        d_embedding: int,
        words: int,
        positions: int,
        types: int,
        first_position: int,
        activation: str,
        dropout: float,
        attention_dropout: float,
        eps: float,
    ) -> None:
        super().__init__()
        if d % n_heads:
            raise ValueError(f"{d} features can't be shared out evenly to {n_heads} heads")
        self.first_position = first_position
        self.embeddings = nn.Module()
        self.embeddings.word_embeddings = nn.Embedding(words, d_embedding)
        self.embeddings.position_embeddings = nn.Embedding(positions, d_embedding)
        self.embeddings.token_type_embeddings = nn.Embedding(types, d_embedding)
        self.embeddings.LayerNorm = nn.LayerNorm(d_embedding, eps)
        self.embeddings_project: nn.Linear | None = None
        if d_embedding != d:
            self.embeddings_project = nn.Linear(d_embedding, d)
        self.encoder = nn.Module()
        self.encoder.layer = nn.ModuleList(
            BertLayer(d, n_heads, d_ff, ACTIVATIONS[activation], dropout, attention_dropout, eps)
            for _ in range(n_layers)
        )
        self.dropout = Dropout(dropout)
        for part in self.modules():
            if isinstance(part, nn.Linear | nn.Embedding):
                nn.init.normal_(part.weight, std=0.02)
            if isinstance(part, nn.Linear):
                nn.init.zeros_(part.bias)

    def forward(self, pieces: Tensor, types: Tensor, mask: Tensor) -> list[Tensor]:
        tables: Any = self.embeddings
        positions = torch.arange(pieces.shape[1], device=pieces.device) + self.first_position
        x = tables.word_embeddings(pieces) + tables.token_type_embeddings(types)
        x = self.dropout(tables.LayerNorm(x + tables.position_embeddings(positions)))
        if self.embeddings_project is not None:
            x = self.embeddings_project(x)
        there = mask.bool()
        rows = rows_of(there, training=self.training)
        if rows is not None:
            x = rows.pack(x)
        hidden = [x]
        for layer in cast(nn.ModuleList, self.encoder.layer):
            x = layer(x, there[:, None, None], rows)
            hidden.append(x)
        return hidden if rows is None else [rows.pad(x) for x in hidden]


class BertLayer(nn.Module):
    """x [B, l, d], which pieces are there [B, 1, 1, l] -> [B, l, d]; given rows, both packed."""

    def __init__(
        self,
        d: int,
        n_heads: int,
        d_ff: int,
        activation: Callable[[Tensor], Tensor],
        dropout: float,
        attention_dropout: float,
        eps: float,
    ) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.activation = activation
        self.attention_dropout = attention_dropout
        self.attention = nn.Module()
        heads = nn.Module()
        for name in ("query", "key", "value"):
            heads.add_module(name, nn.Linear(d, d))
        self.attention.add_module("self", heads)
        self.attention.output = _dense(d, d, eps)
        self.intermediate = _dense(d, d_ff)
        self.output = _dense(d_ff, d, eps)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, there: Tensor, rows: PackedRows | None = None) -> Tensor:
        attention: Any = self.attention
        linears: Any = attention.get_submodule("self")
        projected = [linear(x) for linear in (linears.query, linears.key, linears.value)]
        if rows is not None:
            projected = [rows.pad(part) for part in projected]
        query, key, value = (
            part.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for part in projected
        )
        rate = self.attention_dropout if self.training else 0.0
        mixed = F.scaled_dot_product_attention(query, key, value, there, dropout_p=rate)
        mixed = mixed.transpose(1, 2).flatten(2)
        x = self._add(x, mixed if rows is None else rows.pack(mixed), attention.output)
        inner: Any = self.intermediate
        return self._add(x, self.activation(inner.dense(x)), self.output)

    def _add(self, x: Tensor, inside: Tensor, output: Any) -> Tensor:
        sum_: Tensor = output.LayerNorm(self.dropout(output.dense(inside)) + x)
        return sum_


def _dense(d_in: int, d_out: int, eps: float | None = None) -> nn.Module:
    """A linear layer and, given its eps, the normalisation of what comes out of it."""
    module = nn.Module()
    module.dense = nn.Linear(d_in, d_out)
    if eps is not None:
        module.LayerNorm = nn.LayerNorm(d_out, eps)
    return module
