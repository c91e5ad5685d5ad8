"""A pretrained transformer as a module: from padded pieces to the vectors of tokens."""

from __future__ import annotations

import re
from typing import Any, Literal

import torch
from torch import Tensor, nn

from ..bridge.weights import Header
from ..layers.precision import bfloat16_products
from .batches import PieceBatch, Pooling
from .transformers import build_transformer, padding_of, width_and_depth

Output = Literal["last", "mix", "all"]
LAYER = re.compile(r"(?:^|\.)layers?\.(\d+)\.")
"""Says in a parameter's name of which layer it is: "encoder.layer.3.…" of BERT and its kin,
"layer.3.…" of XLNet, "layers.3.…" of ModernBERT."""


class LayerMix(nn.Module):
    """A softmax-weighted sum of layers [k, n, d] -> [n, d], times a factor (Peters et al. 2018).

    Section 3.2, eq. 1: gamma sum_j softmax(weights)_j h_j.
    """

    def __init__(self, n_layers: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(n_layers))
        self.gamma = nn.Parameter(torch.ones(1))

    def forward(self, layers: Tensor) -> Tensor:
        return self.gamma * torch.einsum("k,knd->nd", torch.softmax(self.weights, 0), layers)


class PretrainedNetwork(nn.Module):
    """Batches of pieces -> the vectors of all tokens [tokens, width]; zeros for one without pieces.

    transformer: the contents of its config.json. output: "last", the last layer; "mix", a learned
    mix of the last `layers`; "all", all layers but the embeddings, side by side. pooling: which of
    a token's pieces gives its vector: "first", "last", or "mean", their mean. trained_from: the
    lowest layer that is trained; 0 is the embeddings.
    """

    def __init__(
        self,
        transformer: dict[str, Any],
        *,
        output: Output,
        layers: int,
        pooling: Pooling,
        trained_from: int,
    ) -> None:
        super().__init__()
        self.transformer = build_transformer(transformer)
        self.padding = padding_of(transformer)
        self.width, self.n_layers = width_and_depth(transformer)
        if output == "mix" and not 1 <= layers <= self.n_layers:
            raise ValueError(f"layers must be from 1 to {self.n_layers}, got {layers}")
        self.output, self.pooling = output, pooling
        self.first = {"last": self.n_layers, "mix": self.n_layers - layers + 1, "all": 1}[output]
        self.mix = LayerMix(layers) if output == "mix" else None
        _freeze(self.transformer, trained_from)

    @property
    def output_dim(self) -> int:
        return self.width * (self.n_layers if self.output == "all" else 1)

    def forward(self, batches: list[PieceBatch], n_tokens: int, lower_precision: bool) -> Tensor:
        """lower_precision: with products of bfloat16 numbers, where the processor has them."""
        given = next(self.transformer.parameters())
        if not batches:
            return given.new_zeros(n_tokens, self.output_dim)
        tokens = torch.cat([batch.tokens for batch in batches])
        vectors = torch.cat([self._of_tokens(batch, lower_precision) for batch in batches])
        if self.pooling != "mean":
            return vectors.new_zeros(n_tokens, self.output_dim).index_copy(0, tokens, vectors)
        pieces = torch.bincount(tokens, minlength=n_tokens).clamp(min=1).unsqueeze(1)
        sums = vectors.new_zeros(n_tokens, self.output_dim).index_add(0, tokens, vectors)
        return sums / pieces

    def _of_tokens(self, batch: PieceBatch, lower_precision: bool) -> Tensor:
        """The outputs for the wanted pieces [k, output_dim]."""
        device = batch.pieces.device.type
        with bfloat16_products(device, lower_precision):
            hidden = self.transformer(batch.pieces, batch.types, batch.mask)[self.first :]
        rows = [layer.flatten(0, 1)[batch.rows] for layer in hidden]
        if lower_precision:
            rows = [layer.float() for layer in rows]
        if self.mix is not None:
            mixed: Tensor = self.mix(torch.stack(rows))
            return mixed
        return torch.cat(rows, -1)


def _freeze(transformer: Any, trained_from: int) -> None:
    """Take the gradient from the embeddings and the layers below `trained_from`.

    Raises ValueError if no parameter's name says of which layer it is.
    """
    if trained_from <= 0:
        return
    layer = 0
    for name, parameter in transformer.named_parameters():
        if named := LAYER.search(name):
            layer = int(named[1]) + 1
            frozen = layer < trained_from
        else:
            # what is behind the layers, such as a last norm, stays trained
            frozen = not layer or "embed" in name
        if frozen:
            parameter.requires_grad_(False)
    if not layer:
        raise ValueError(
            f"trained_from = {trained_from}, and no parameter of this transformer says of which "
            "layer it is: only trained_from = 0 is possible"
        )


def build_network(header: Header) -> PretrainedNetwork:
    """The network of a header."""
    return PretrainedNetwork(header["transformer"], **header["settings"])
