"""The encoder of BERT (Devlin et al. 2019), RoBERTa, XLM-R, Electra and MPNet."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .dropout import Dropout
from .integers import OneSidedLinear, products
from .packed import PackedRows

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
    type_vocab_size: number of types of pieces; MPNet has none.
    relative_attention_num_buckets: classes of distances between pieces, whose bias each head adds
    to its attention (MPNet, Song et al. 2020; 0 in the others).
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
    relative_attention_num_buckets: int = 0


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
        self.first_position, self.width = sizes.first_position, sizes.hidden_size
        self.embeddings = nn.ModuleDict(
            {
                "word_embeddings": nn.Embedding(sizes.vocab_size, narrow),
                "position_embeddings": nn.Embedding(sizes.max_position_embeddings, narrow),
                "LayerNorm": nn.LayerNorm(narrow, sizes.layer_norm_eps),
            }
        )
        if sizes.type_vocab_size:
            self.embeddings["token_type_embeddings"] = nn.Embedding(sizes.type_vocab_size, narrow)
        self.embeddings_project = OneSidedLinear(narrow, d) if narrow != d else None
        layers = nn.ModuleList(BertLayer(sizes) for _ in range(sizes.num_hidden_layers))
        self.encoder = nn.ModuleDict({"layer": layers})
        self.n_buckets = sizes.relative_attention_num_buckets
        if self.n_buckets:
            self.encoder["relative_attention_bias"] = nn.Embedding(self.n_buckets, heads)
        self.dropout = Dropout(sizes.hidden_dropout_prob)
        for part in self.modules():
            if isinstance(part, nn.Linear | nn.Embedding):
                nn.init.normal_(part.weight, std=0.02)
            if isinstance(part, nn.Linear):
                nn.init.zeros_(part.bias)

    def forward(
        self,
        pieces: Tensor,
        types: Tensor,
        mask: Tensor,
        begun: Sequence[Tensor] = (),
        upto: int | None = None,
    ) -> list[Tensor]:
        """begun: outputs that are known, lowest first, of which only the last is read. upto: number
        of layers to compute; None for all."""
        there = mask.bool()
        rows = None if self.training else PackedRows(there)
        hidden = [*begun] or [self._embedded(pieces, types)]
        x = hidden.pop()
        if rows is not None:
            x = rows.pack(x)
            hidden = [rows.pack(of_layer) for of_layer in hidden]
        hidden.append(x)
        # on CPUs, attention reads each length by itself: faster than padding, on whose width sums'
        # last bits depend
        attended = self._attended(there, padded=rows is None or x.is_cuda)
        layers = cast(nn.ModuleList, self.encoder["layer"])
        for layer in layers[len(hidden) - 1 : upto]:
            x = layer(x, attended, rows)
            hidden.append(x)
        return hidden if rows is None else [rows.pad(x) for x in hidden]

    def _embedded(self, pieces: Tensor, types: Tensor) -> Tensor:
        tables: Any = self.embeddings
        positions = torch.arange(pieces.shape[1], device=pieces.device) + self.first_position
        x = tables.word_embeddings(pieces)
        if "token_type_embeddings" in tables:
            x = x + tables.token_type_embeddings(types)
        x = self.dropout(tables.LayerNorm(x + tables.position_embeddings(positions)))
        return x if self.embeddings_project is None else self.embeddings_project(x)

    def _attended(self, there: Tensor, *, padded: bool) -> Tensor | None:
        """Returns the pieces [B, 1, 1, l] that attention sees, or the biases [B, heads, l, l] of
        distances, -inf for what it doesn't see; of batches without padding, None or the biases
        [1, heads, l, l] of all."""
        if not self.n_buckets:
            return there[:, None, None] if padded else None
        positions = torch.arange(there.shape[1], device=there.device)
        buckets = distance_buckets(positions - positions[:, None], self.n_buckets)
        table = cast(nn.Embedding, self.encoder["relative_attention_bias"])
        bias = table(buckets).permute(2, 0, 1).unsqueeze(0)
        return bias.masked_fill(~there[:, None, None], -torch.inf) if padded else bias


def distance_buckets(distances: Tensor, n_buckets: int, longest: int = 128) -> Tensor:
    """Returns the class of each distance, from a piece to the one that it attends to.

    Half of the classes are for pieces behind. Of each half, the first half has a class for each
    distance, the others grow with its logarithm up to `longest` (Raffel et al. 2020, section 2.1).
    """
    half = n_buckets // 2
    exact = half // 2
    far = distances.abs()
    growth = torch.log(far.clamp(min=1) / exact) / math.log(longest / exact)
    grown = (exact + (growth * (half - exact)).long()).clamp(max=half - 1)
    return torch.where(distances > 0, half, 0) + torch.where(far < exact, far, grown)


class BertLayer(nn.Module):
    """x [B, l, d], mask [B, 1, 1, l] of pieces, or biases [B, heads, l, l] -> [B, l, d]; given
    rows, x packed, and on CPUs None or the biases of all."""

    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        d, d_ff, eps = sizes.hidden_size, sizes.intermediate_size, sizes.layer_norm_eps
        self.n_heads = sizes.num_attention_heads
        self.activation = ACTIVATIONS[sizes.hidden_act]
        self.attention_dropout = sizes.attention_probs_dropout_prob
        heads = nn.ModuleDict({name: OneSidedLinear(d, d) for name in ("query", "key", "value")})
        self.attention = nn.ModuleDict({"self": heads, "output": _dense(d, d, eps)})
        self.intermediate = nn.ModuleDict({"dense": OneSidedLinear(d, d_ff)})
        self.output = _dense(d_ff, d, eps)
        self.dropout = Dropout(sizes.hidden_dropout_prob)

    def forward(self, x: Tensor, there: Tensor | None, rows: PackedRows | None = None) -> Tensor:
        heads = cast(nn.ModuleDict, self.attention["self"])
        projected = products(cast(Any, heads.values()), x)
        if rows is None:
            mixed = self._mixed(projected, there)
        elif x.is_cuda:
            mixed = rows.pack(self._mixed([rows.pad(part) for part in projected], there))
        else:
            mixed = torch.empty_like(projected[0])
            for at, length in rows.by_length:
                near = None if there is None else there[..., :length, :length]
                parts = [part[at].unflatten(0, (-1, length)) for part in projected]
                mixed[at] = self._mixed(parts, near).flatten(0, 1)
        x = self._add(x, mixed, self.attention["output"])
        return self._add(x, self.activation(self.intermediate["dense"](x)), self.output)

    def _mixed(self, projected: list[Tensor], there: Tensor | None) -> Tensor:
        """Returns the mean values [B, l, d] that queries, keys and values [B, l, d] give."""
        query, key, value = (
            part.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for part in projected
        )
        rate = self.attention_dropout if self.training else 0.0
        seen = there if there is None or there.dtype == torch.bool else there.to(query)
        mixed = F.scaled_dot_product_attention(query, key, value, seen, dropout_p=rate)
        return mixed.transpose(1, 2).flatten(2)

    def _add(self, x: Tensor, inside: Tensor, output: Any) -> Tensor:
        return output.LayerNorm(self.dropout(output.dense(inside)) + x)


def _dense(d_in: int, d_out: int, eps: float) -> nn.ModuleDict:
    return nn.ModuleDict(
        {"dense": OneSidedLinear(d_in, d_out), "LayerNorm": nn.LayerNorm(d_out, eps)}
    )
