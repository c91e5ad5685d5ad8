"""Linguistically-informed self-attention: the encoder of Strubell et al. 2018 (section 2)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, cast

from torch import Tensor, nn
from torch.nn import functional as F

from .dropout import Dropout
from .label_factors import LabelFactors
from .syntactic_attention import LisaLayer, SyntacticScorer, attend_to_heads, sinusoids

SyntacticHead = Literal["biaffine", "copied"]


class Encoded(NamedTuple):
    """What tasks read of n words, each normalised: `tagged` [B,n,d] after the layer of tags,
    `encoded` [B,n,d] after the last; arcs [B,n,n] and the factors of relations, see
    `SyntacticScorer`, None without syntax."""

    tagged: Tensor
    encoded: Tensor
    arcs: Tensor | None = None
    relations: LabelFactors | None = None


class LisaEncoder(nn.Module):
    """x [B,n,d_in], mask [B,n] -> `Encoded`, of d = n_heads * d_head.

    A projection with a leaky ReLU, sinusoids for `positions` (not where a layer below has read the
    words in order), `n_layers` of self-attention. Tags are
    read after `tag_layer` of them, counted from 1. In `syntax_layer` one head is the parser
    (section 2.2): "biaffine" as in the paper, whose scorer reads what that layer's other heads
    read; "copied" as in the released code, where it reads the normalised output of the layer below
    and its scores are handed over. None: no syntax, self-attention alone. `governors` [B,n], of
    each word the index of its head, itself for a root, -1 where unknown, takes the place of
    predicted ones: gold heads in training, parses from elsewhere when predicting.

    dropout: the layers' own rate; None: the training's. The parser's perceptron has the training's.
    """

    def __init__(
        self,
        d_in: int,
        n_relations: int,
        *,
        n_layers: int,
        n_heads: int,
        d_head: int,
        d_ff: int,
        ff_depth: int,
        tag_layer: int,
        syntax_layer: int | None,
        syntactic_head: SyntacticHead,
        d_arc: int,
        d_relation: int,
        dropout: float | None,
        positions: bool = True,
    ) -> None:
        super().__init__()
        width = n_heads * d_head
        self.tag_layer, self.syntax_layer = tag_layer, syntax_layer
        self.positions = positions
        self.project = nn.Linear(d_in, width)
        nn.init.xavier_uniform_(self.project.weight)
        nn.init.zeros_(self.project.bias)
        self.layers = nn.ModuleList(
            LisaLayer(
                n_heads,
                d_head,
                d_ff,
                depth=ff_depth,
                syntactic=k == syntax_layer,
                dropout=dropout,
            )
            for k in range(1, n_layers + 1)
        )
        # layers whose output a task reads; the norm of the syntactic layer itself is in its place
        read = {tag_layer, n_layers}
        self.parser: SyntacticScorer | None = None
        self.copied = syntactic_head == "copied"
        if syntax_layer is not None:
            self.parser = SyntacticScorer(width, n_relations, d_arc=d_arc, d_relation=d_relation)
            if self.copied:
                read.add(syntax_layer - 1)
        self.task_norms = nn.ModuleDict({str(k): nn.LayerNorm(width, eps=1e-6) for k in read})
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor, governors: Tensor | None = None) -> Encoded:
        x = F.leaky_relu(self.project(x), 0.1)
        if self.positions:
            x = x + sinusoids(x.shape[1], x.shape[2], x)
        x = self.dropout(x)
        tagged = x
        arcs = relations = None
        for k, layer in enumerate(cast(Iterable[LisaLayer], self.layers), 1):
            normed = layer.norm(x)
            syntax = None
            if k == self.syntax_layer and self.parser is not None:
                arcs, relations = self.parser(x if self.copied else normed)
                syntax = attend_to_heads(arcs, mask, governors)
            x = layer(normed, mask, syntax)
            if str(k) in self.task_norms:
                x = self.task_norms[str(k)](x)
            if k == self.tag_layer:
                tagged = x
        return Encoded(tagged, x, arcs, relations)
