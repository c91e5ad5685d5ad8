"""Attention over an encoder's layers, token by token (Kaneko and Komachi 2019)."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .dropout import Dropout
from .integers import IntegerMatrix, rounded_rows
from .precision import Precision
from .prepared import Prepared
from .settings import Settings

TOKENS = 256
"""Tokens whose keys and values, of all layers, are in memory at one time if weights are rounded."""


@dataclass(frozen=True)
class LayerAttentionSettings(Settings):
    """Settings of `LayerAttention`.

    heads: the number of heads J, which share the width. pooling: "attention", or a baseline of the
    paper (section 4.3): "average" (AvgL), the mean of the values over the layers, or "last", the
    last layer alone.
    attention_dropout: dropout rate of the layers' outputs, of the keys and of the attention, which
    is not normalised again.
    """

    name: ClassVar[str] = "spacy-lal.MHMLA.v1"
    heads: int = 12
    pooling: Literal["attention", "average", "last"] = "attention"
    attention_dropout: float = 0.3

    def build(self, header: dict[str, Any]) -> "LayerAttention":
        return LayerAttention(header["d"], header["n_layers"], len(header["labels"]), self)


class KeysAndValues(NamedTuple):
    """Rounded weights of the keys of one layer and of what its heads mix, and their biases."""

    matrix: IntegerMatrix
    bias: Tensor


class LayerAttention(Prepared):
    """Multi-head multi-layer attention, then a linear classifier (section 3.2, eqs. 4 to 10).

    h [L,N,d], the outputs of L layers for N tokens -> logits [N, n_classes]. For every layer l and
    head j of J: v_lj = W_v h_l + b_v, k_lj = relu(W_k h_l + b_k), d/J features each, and a_lj = w_a
    · k_lj + b_a. With alpha_j = softmax over the layers of a_j, head j is the sum over layers of
    alpha_lj v_lj. W_o classifies all heads side by side. Merged with W_v it is one small matrix if
    there are few classes, so values are never computed, which halves the cost of a token.

    8-bit predictions round h, whose rows must be the same in every batch, to the bit.
    """

    def __init__(
        self, d: int, n_layers: int, n_classes: int, settings: LayerAttentionSettings
    ) -> None:
        super().__init__()
        n_heads = settings.heads
        if n_heads < 1 or d % n_heads:
            raise ValueError(f"{d} features can't be shared out evenly to {n_heads} heads")
        self.n_heads = n_heads
        self.pooling = settings.pooling
        # or values are smaller than their votes for so many classes
        self.votes = n_heads * n_classes <= d
        self.dropout = Dropout(settings.attention_dropout)
        self.output = nn.Linear(d, n_classes)
        if self.pooling == "last":
            return
        self.value = _weight(n_layers, d)
        self.value_bias = nn.Parameter(torch.zeros(n_layers, d))
        if self.pooling == "attention":
            self.key = _weight(n_layers, d)
            self.key_bias = nn.Parameter(torch.zeros(n_layers, d))
            bound = 1 / math.sqrt(d // n_heads)
            self.score = nn.Parameter(torch.empty(n_layers, d).uniform_(-bound, bound))
            self.score_bias = nn.Parameter(torch.zeros(n_layers, n_heads))

    def made(self, precision: Precision) -> list[KeysAndValues] | None:
        """Returns the rounded weights of each layer, for such products."""
        if precision != "int8" or self.pooling != "attention":
            return None
        weights, biases = self._mixed_by_heads()
        rows = torch.cat([self.key, weights.flatten(1, 2)], 1)
        biases = torch.cat([self.key_bias, biases.flatten(1)], 1)
        return [KeysAndValues(IntegerMatrix(w), b) for w, b in zip(rows, biases, strict=True)]

    def forward(self, h: Tensor) -> Tensor:
        h = self.dropout(h)
        if self.pooling == "last":
            return cast(Tensor, self.output(h[-1]))
        if layers := cast(list[KeysAndValues] | None, self.prepared()):
            return torch.cat([self._of_rounded(part, layers) for part in h.split(TOKENS, 1)])
        weights, biases = self._mixed_by_heads()
        if self.pooling == "average":
            mean = torch.einsum("lnd,ljvd->njv", h, weights) / len(h)
            return self._classified(mean + biases.mean(0))
        v = torch.baddbmm(biases.flatten(1).unsqueeze(1), h, weights.flatten(1, 2).transpose(1, 2))
        alpha = self.dropout(self._attention(h))
        return self._classified(torch.einsum("lnj,lnjv->njv", alpha, self._heads(v)))

    def _mixed_by_heads(self) -> tuple[Tensor, Tensor]:
        """Returns weights [L,J,V,d] and biases [L,J,V] of what the heads mix: values, V = d/J
        features, or their votes for the classes, V = n_classes."""
        weights, biases = self._heads(self.value, 1), self._heads(self.value_bias)
        if not self.votes:
            return weights, biases
        output = self._heads(self.output.weight)
        return (
            torch.einsum("cjv,ljvd->ljcd", output, weights),
            torch.einsum("cjv,ljv->ljc", output, biases),
        )

    def _classified(self, mixed: Tensor) -> Tensor:
        """Returns logits [N,n_classes] of what the heads have mixed [N,J,V]."""
        if self.votes:
            return mixed.sum(1) + self.output.bias
        return cast(Tensor, self.output(mixed.flatten(1)))

    def _of_rounded(self, h: Tensor, layers: list[KeysAndValues]) -> Tensor:
        d = h.shape[2]
        scores, mixed_by_heads = [], []
        for x, (matrix, bias), score in zip(h, layers, self.score, strict=True):
            product = matrix.product(rounded_rows(x), bias)
            scores.append(self._heads(product[:, :d].relu_().mul_(score)).sum(-1))
            mixed_by_heads.append(self._heads(product[:, d:]))
        alpha = self._over_layers(torch.stack(scores)).unsqueeze(-1)
        mixed = alpha[0] * mixed_by_heads[0]
        for weight, of_layer in zip(alpha[1:], mixed_by_heads[1:], strict=True):
            mixed.addcmul_(weight, of_layer)
        return self._classified(mixed)

    def attention(self, h: Tensor) -> Tensor:
        """Returns alpha [L,N,J], which sums to one over the layers; uniform for "average"."""
        if self.pooling == "attention":
            return self._attention(h)
        alpha = h.new_zeros(*h.shape[:2], self.n_heads)
        if self.pooling == "average":
            return alpha + 1 / len(h)
        alpha[-1] = 1.0
        return alpha

    def _attention(self, h: Tensor) -> Tensor:
        keys = F.relu(torch.baddbmm(self.key_bias.unsqueeze(1), h, self.key.transpose(1, 2)))
        keys = self.dropout(keys) * self.score.unsqueeze(1)
        return self._over_layers(self._heads(keys).sum(-1))

    def _over_layers(self, scores: Tensor) -> Tensor:
        return torch.softmax(scores + self.score_bias.unsqueeze(1), 0)

    def _heads(self, x: Tensor, dim: int = -1) -> Tensor:
        return x.unflatten(dim, (self.n_heads, -1))


def _weight(n_layers: int, d: int) -> nn.Parameter:
    """Returns one matrix [d,d] a layer (Xavier uniform); rows of head j stand together."""
    bound = math.sqrt(3 / d)
    return nn.Parameter(torch.empty(n_layers, d, d).uniform_(-bound, bound))
