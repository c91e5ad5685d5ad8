"""Attention over an encoder's layers, token by token (Kaneko and Komachi 2019)."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .dropout import Dropout
from .settings import Settings


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


class LayerAttention(nn.Module):
    """Multi-head multi-layer attention, then a linear classifier (section 3.2, eqs. 4 to 10).

    h [L,N,d], the outputs of L layers for N tokens -> logits [N, n_classes]. For every layer l and
    head j of J: v_lj = W_v h_l + b_v, k_lj = relu(W_k h_l + b_k), d/J features each, and a_lj = w_a
    · k_lj + b_a. With alpha_j = softmax over the layers of a_j, head j is the sum over layers of
    alpha_lj v_lj. W_o classifies all heads side by side. Merged with W_v it is one small matrix if
    there are few classes, so values are never computed, which halves the cost of a token.
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

    def forward(self, h: Tensor) -> Tensor:
        h = self.dropout(h)
        if self.pooling == "last":
            return self.output(h[-1])
        n_layers, n_tokens, d = h.shape
        heads = (self.n_heads, d // self.n_heads)
        n_classes = len(self.output.weight)
        if self.pooling == "attention" and self.n_heads * n_classes > d:
            # values are smaller than their votes for so many classes
            v = torch.baddbmm(self.value_bias.unsqueeze(1), h, self.value.transpose(1, 2))
            alpha = self.dropout(self._attention(h))
            mixed = torch.einsum("lnj,lnjv->njv", alpha, v.unflatten(-1, heads))
            return self.output(mixed.flatten(1))
        output = self.output.weight.view(-1, *heads)
        # each class's weights and biases by layer and head: [L,J,C,d], [L,J,C]
        values = torch.einsum("cjv,ljvd->ljcd", output, self.value.view(n_layers, *heads, d))
        biases = torch.einsum("cjv,ljv->ljc", output, self.value_bias.view(n_layers, *heads))
        if self.pooling == "average":
            mean = torch.einsum("lnd,lcd->nc", h, values.sum(1)) / n_layers
            return mean + biases.sum(1).mean(0) + self.output.bias
        votes = torch.baddbmm(
            biases.flatten(1).unsqueeze(1), h, values.flatten(1, 2).transpose(1, 2)
        ).view(n_layers, n_tokens, self.n_heads, n_classes)
        alpha = self.dropout(self._attention(h))
        return torch.einsum("lnj,lnjc->nc", alpha, votes) + self.output.bias

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
        head_keys = keys.unflatten(-1, (self.n_heads, h.shape[2] // self.n_heads))
        scores = head_keys.sum(-1) + self.score_bias.unsqueeze(1)
        return torch.softmax(scores, 0)


def _weight(n_layers: int, d: int) -> nn.Parameter:
    """Returns one matrix [d,d] a layer (Xavier uniform); rows of head j stand together."""
    bound = math.sqrt(3 / d)
    return nn.Parameter(torch.empty(n_layers, d, d).uniform_(-bound, bound))
