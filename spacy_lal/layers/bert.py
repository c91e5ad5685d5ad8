"""The encoder of BERT (Devlin et al. 2019), RoBERTa, XLM-R and Electra."""

from collections.abc import Callable
from dataclasses import dataclass
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


@dataclass(frozen=True)
class BertSizes:
    """The sizes of a transformer, by the names of config.json.

    embedding_size: width of the embeddings; another width than hidden_size is projected (Electra).
    first_position: position of a text's first piece; RoBERTa's follow that of padding.
    hidden_dropout_prob, attention_probs_dropout_prob: dropout rate of sublayers and attention.
    """

    hidden_size: int
    embedding_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    vocab_size: int
    max_position_embeddings: int
    first_position: int
    type_vocab_size: int
    hidden_act: str
    hidden_dropout_prob: float
    attention_probs_dropout_prob: float
    layer_norm_eps: float


class Bert(nn.Module):
    """Pieces, types, mask [B, l] -> outputs of the embeddings and of each layer [B, l, d].

    mask: 1 where there is a piece; every row has one. Post-norm Transformer layers (Vaswani et al.
    2017, section 3.1) over embeddings, with Hugging Face's parameter names.
    """

    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        d, heads, narrow = sizes.hidden_size, sizes.num_attention_heads, sizes.embedding_size
        if d % heads:
            raise ValueError(f"{d} features can't be shared out evenly to {heads} heads")
        self.first_position = sizes.first_position
        self.embeddings = nn.ModuleDict(
            {
                "word_embeddings": nn.Embedding(sizes.vocab_size, narrow),
                "position_embeddings": nn.Embedding(sizes.max_position_embeddings, narrow),
                "token_type_embeddings": nn.Embedding(sizes.type_vocab_size, narrow),
                "LayerNorm": nn.LayerNorm(narrow, sizes.layer_norm_eps),
            }
        )
        self.embeddings_project = nn.Linear(narrow, d) if narrow != d else None
        layers = nn.ModuleList(BertLayer(sizes) for _ in range(sizes.num_hidden_layers))
        self.encoder = nn.ModuleDict({"layer": layers})
        self.dropout = Dropout(sizes.hidden_dropout_prob)
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
        for layer in cast(nn.ModuleList, self.encoder["layer"]):
            x = layer(x, there[:, None, None], rows)
            hidden.append(x)
        return hidden if rows is None else [rows.pad(x) for x in hidden]


class BertLayer(nn.Module):
    """x [B, l, d], mask [B, 1, 1, l] of pieces -> [B, l, d]; given rows, both packed."""

    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        d, d_ff, eps = sizes.hidden_size, sizes.intermediate_size, sizes.layer_norm_eps
        self.n_heads = sizes.num_attention_heads
        self.activation = ACTIVATIONS[sizes.hidden_act]
        self.attention_dropout = sizes.attention_probs_dropout_prob
        heads = nn.ModuleDict({name: nn.Linear(d, d) for name in ("query", "key", "value")})
        self.attention = nn.ModuleDict({"self": heads, "output": _dense(d, d, eps)})
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(d, d_ff)})
        self.output = _dense(d_ff, d, eps)
        self.dropout = Dropout(sizes.hidden_dropout_prob)

    def forward(self, x: Tensor, there: Tensor, rows: PackedRows | None = None) -> Tensor:
        heads = cast(nn.ModuleDict, self.attention["self"])
        projected = [linear(x) for linear in heads.values()]
        if rows is not None:
            projected = [rows.pad(part) for part in projected]
        query, key, value = (
            part.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for part in projected
        )
        rate = self.attention_dropout if self.training else 0.0
        mixed = F.scaled_dot_product_attention(query, key, value, there, dropout_p=rate)
        mixed = mixed.transpose(1, 2).flatten(2)
        x = self._add(x, mixed if rows is None else rows.pack(mixed), self.attention["output"])
        return self._add(x, self.activation(self.intermediate["dense"](x)), self.output)

    def _add(self, x: Tensor, inside: Tensor, output: Any) -> Tensor:
        sum_: Tensor = output.LayerNorm(self.dropout(output.dense(inside)) + x)
        return sum_


def _dense(d_in: int, d_out: int, eps: float) -> nn.ModuleDict:
    return nn.ModuleDict({"dense": nn.Linear(d_in, d_out), "LayerNorm": nn.LayerNorm(d_out, eps)})
