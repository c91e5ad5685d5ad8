"""Linguistically-informed self-attention: the encoder of Strubell et al. 2018 (section 2)."""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .biaffine import Biaffine, LabelFactors
from .dropout import Dropout, FeatureDropout
from .integers import IntegerMatrix, Linear, rounded_rows
from .packed import runs_of_length
from .precision import Precision
from .prepared import Prepared
from .settings import Settings


@dataclass(frozen=True)
class LisaEncoderSettings(Settings):
    """Settings of `LisaEncoder`. The numbers in brackets are the paper's.

    layers, heads, head_width: number of self-attention layers, number of their heads, width of a
    head (10 or 12, 8 and 25). feed_forward_width, feed_forward_depth: width and number of the
    hidden layers between two self-attention layers (800, 2). tag_layer: the layer, counted from 1,
    after which tags and predicates are found (3). syntax_layer: the layer one of whose heads is the
    parser (6); the layers above use its output; null: self-attention without syntax.
    syntactic_head: "biaffine", the head itself is the parser (the paper); "copied", the head copies
    the scores of a parser on the layer below (the released code). arc_width, relation_width: width
    of the parser's views of a word (500, 100). layer_dropout: dropout rate of self-attention and
    feed-forward layers (0.1); null: the rate of the training, as everywhere else.
    """

    layers: int = 4
    heads: int = 8
    head_width: int = 25
    feed_forward_width: int = 800
    feed_forward_depth: int = 2
    tag_layer: int = 2
    syntax_layer: int | None = 3
    syntactic_head: Literal["biaffine", "copied"] = "biaffine"
    arc_width: int = 500
    relation_width: int = 100
    layer_dropout: float | None = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("tag_layer", "syntax_layer"):
            layer = getattr(self, name)
            if layer is not None and not 1 <= layer <= self.layers:
                raise ValueError(f"{name} must be from 1 to {self.layers}, got {layer}")
        if self.syntactic_head == "copied" and self.syntax_layer == 1:
            raise ValueError("with syntactic_head = 'copied' syntax_layer must be at least 2")

    @property
    def width(self) -> int:
        """Width of self-attention."""
        return self.heads * self.head_width


def sinusoids(n: int, width: int, like: Tensor) -> Tensor:
    """Positions [n, width]: sines, then cosines, of timescales from 1 to 10,000. Section 2.1 names
    sinusoids; the formula is the released code's."""
    half = width // 2
    # bfloat16 has no odd numbers above 256
    dtype = torch.promote_types(like.dtype, torch.float32)
    exponents = torch.arange(half, dtype=dtype, device=like.device) / max(1, half - 1)
    timescales = torch.exp(exponents * -math.log(1e4))
    angles = torch.arange(n, dtype=dtype, device=like.device).unsqueeze(1) * timescales
    return F.pad(torch.cat([angles.sin(), angles.cos()], 1), (0, width % 2)).to(like.dtype)


class SyntacticScorer(Prepared):
    """The deep biaffine parser (Dozat and Manning 2017) that is also an attention head (eq. 4).

    x [B,n,d] -> arcs [B,n,n], the score of word j as the head of word i at [i,j], where the root's
    dependent is its own head; and the factors of relation scores, with dependents as left and heads
    as right ends. Arc scores begin as zero.
    """

    def __init__(self, settings: LisaEncoderSettings, n_relations: int) -> None:
        super().__init__()
        d_arc, d_relation = settings.arc_width, settings.relation_width
        self.sizes = [d_arc, d_relation] * 2
        self.views = Linear(settings.width, sum(self.sizes))
        self.arc = nn.Parameter(torch.zeros(d_arc + 1, d_arc))
        self.relation = Biaffine(d_relation, d_relation, n_relations, rounds=True)
        self.dropout = FeatureDropout()

    def made(self, precision: Precision) -> IntegerMatrix | None:
        """Returns the rounded matrix of arcs, for such products."""
        return IntegerMatrix(self.arc[:-1].T) if precision == "int8" else None

    def forward(self, x: Tensor) -> tuple[Tensor, LabelFactors]:
        views = self.dropout(F.leaky_relu(self.views(x), 0.1))
        dependent, governed, head, governor = views.split(self.sizes, -1)
        matrix: IntegerMatrix | None = self.prepared()
        if matrix is None:
            of_dependent = dependent @ self.arc[:-1] + self.arc[-1]
        else:
            rows = rounded_rows(dependent.flatten(0, 1))
            of_dependent = matrix.product(rows, self.arc[-1]).view_as(head).double()
        arcs = of_dependent @ head.to(of_dependent).transpose(1, 2)
        return arcs, self.relation.factors(governed, governor)


def attend_to_heads(arcs: Tensor, mask: Tensor, governors: Tensor | None = None) -> Tensor:
    """Returns the attention weights [B,n,n] of the syntactic head.

    They are a softmax over possible heads (eqs. 4 and 5), or, where `governors` [B,n] gives a
    word's head, that head alone (sections 2.2 and 2.5); -1: unknown. arcs [B,n,n]; mask [B,n], True
    at words: padding is nobody's head.
    """
    weights = torch.softmax(arcs.masked_fill(~mask.unsqueeze(1), -torch.inf), -1)
    if governors is None:
        return weights
    given = F.one_hot(governors.clamp(min=0), arcs.shape[-1]).to(weights.dtype)
    return torch.where((governors >= 0).unsqueeze(-1), given, weights)


class SyntacticAttention(nn.Module):
    """Multi-head self-attention (eqs. 2 and 3) [B,n,d] -> [B,n,d].

    With `syntactic`, the last head receives its attention weights from outside and computes only
    values. mask [B,n] is True at words: padding receives no attention. Where the output's layer
    rounds its rows, each length is read by itself: sums' last bits depend on the padded width.
    """

    def __init__(self, settings: LisaEncoderSettings, *, syntactic: bool = False) -> None:
        super().__init__()
        width = settings.width
        self.n_heads, self.d_head = settings.heads, settings.head_width
        self.n_own = self.n_heads - syntactic
        d_projected = (2 * self.n_own + self.n_heads) * self.d_head
        self.queries_keys_values = Linear(width, d_projected, bias=False)
        self.output = Linear(width, width, bias=False)
        for weight in (self.queries_keys_values.weight, self.output.weight):
            nn.init.xavier_uniform_(weight)
        self.dropout = Dropout(settings.layer_dropout)

    def forward(self, x: Tensor, mask: Tensor, syntax: Tensor | None = None) -> Tensor:
        batch, n, _ = x.shape
        own = self.n_own
        projected = self.queries_keys_values(x).view(batch, n, -1, self.d_head).transpose(1, 2)
        queries, keys, values = projected.split([own, own, self.n_heads], 1)
        if self.output.prepared():
            mixed = x.new_zeros(batch, n, self.n_heads, self.d_head).transpose(1, 2)
            for which, upto in runs_of_length(mask.sum(1)):
                own_heads = (part[which, :own, :upto] for part in (queries, keys, values))
                mixed[which, :own, :upto] = F.scaled_dot_product_attention(*own_heads)
                if syntax is not None:
                    weights = syntax[which, :upto, :upto].to(x.dtype)
                    mixed[which, -1, :upto] = weights @ values[which, -1, :upto]
        else:
            logits = (queries * self.d_head**-0.5) @ keys.transpose(2, 3)
            weights = torch.softmax(logits.masked_fill(~mask[:, None, None], -torch.inf), -1)
            if syntax is not None:
                weights = torch.cat([weights, syntax.unsqueeze(1)], 1)
            mixed = self.dropout(weights) @ values
        return self.output(mixed.transpose(1, 2).flatten(2))


class LisaLayer(nn.Module):
    """Self-attention, then a position-wise network (eq. 1): x [B,n,d] -> [B,n,d], not normalised.

    Residual connections start from normalised vectors. Forward takes norm(x), since the syntactic
    head may read it. Hidden layers are leaky ReLUs.
    """

    def __init__(self, settings: LisaEncoderSettings, *, syntactic: bool = False) -> None:
        super().__init__()
        width, hidden = settings.width, settings.feed_forward_width
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.attention = SyntacticAttention(settings, syntactic=syntactic)
        self.feed_forward_norm = nn.LayerNorm(width, eps=1e-6)
        widths = [width, *[hidden] * settings.feed_forward_depth]
        self.hidden = nn.ModuleList(Linear(a, b, bias=False) for a, b in pairwise(widths))
        self.output = Linear(hidden, width, bias=False)
        self.dropout = Dropout(settings.layer_dropout)

    def forward(self, normed: Tensor, mask: Tensor, syntax: Tensor | None = None) -> Tensor:
        attended = self.attention(normed, mask, syntax)
        x = self.feed_forward_norm(normed + self.dropout(attended))
        hidden = x
        for layer in self.hidden:
            hidden = self.dropout(F.leaky_relu(layer(hidden), 0.1))
        dropped: Tensor = self.dropout(self.output(hidden))
        return x + dropped


class Encoded(NamedTuple):
    """Vectors of n words for the tasks, each normalised.

    `tagged` [B,n,d] after the layer of tags, `encoded` [B,n,d] after the last; arcs [B,n,n] and the
    factors of relations; None without syntax.
    """

    tagged: Tensor
    encoded: Tensor
    arcs: Tensor | None = None
    relations: LabelFactors | None = None


class LisaEncoder(nn.Module):
    """x [B,n,d_in], mask [B,n] -> `Encoded`.

    A projection with a leaky ReLU, sinusoids for `positions` (unless a layer below is recurrent),
    and the layers. In `syntax_layer` one head is the parser (section 2.2), whose scorer has the
    input of that layer's other heads, or, "copied", the normalised output of the layer below.
    `governors` [B,n], word indices, a root's own, -1 where unknown, replace predicted heads.
    """

    def __init__(
        self, settings: LisaEncoderSettings, d_in: int, n_relations: int, *, positions: bool = True
    ) -> None:
        super().__init__()
        self.tag_layer, self.syntax_layer = settings.tag_layer, settings.syntax_layer
        self.positions = positions
        self.project = Linear(d_in, settings.width)
        nn.init.xavier_uniform_(self.project.weight)
        nn.init.zeros_(self.project.bias)
        self.layers = nn.ModuleList(
            LisaLayer(settings, syntactic=k == self.syntax_layer)
            for k in range(1, settings.layers + 1)
        )
        # layers whose output a task reads; the norm of the syntactic layer itself is in its place
        read = {self.tag_layer, settings.layers}
        self.parser: SyntacticScorer | None = None
        self.copied = settings.syntactic_head == "copied"
        if self.syntax_layer is not None:
            self.parser = SyntacticScorer(settings, n_relations)
            if self.copied:
                read.add(self.syntax_layer - 1)
        self.task_norms = nn.ModuleDict(
            {str(k): nn.LayerNorm(settings.width, eps=1e-6) for k in read}
        )
        self.dropout = Dropout(settings.layer_dropout)

    def projected(self, x: Tensor) -> Tensor:
        """Returns what the layers read of words [..., d_in], before positions: [..., d]."""
        return F.leaky_relu(self.project(x), 0.1)

    def forward(
        self,
        x: Tensor,
        mask: Tensor,
        governors: Tensor | None = None,
        *,
        is_projected: bool = False,
    ) -> Encoded:
        """is_projected: whether x is what `projected` returns [B,n,d]."""
        x = x if is_projected else self.projected(x)
        if self.positions:
            x = x + sinusoids(x.shape[1], x.shape[2], x)
        x = self.dropout(x)
        tagged = x
        arcs = relations = None
        for k, layer in enumerate(self.layers, 1):
            assert isinstance(layer, LisaLayer)
            normed = layer.norm(x)
            syntax = None
            if k == self.syntax_layer and self.parser is not None:
                arcs, relations = self.parser(x if self.copied else normed)
                syntax = attend_to_heads(arcs, mask, governors)
                arcs = arcs.to(x.dtype)
            x = layer(normed, mask, syntax)
            if str(k) in self.task_norms:
                x = self.task_norms[str(k)](x)
            if k == self.tag_layer:
                tagged = x
        return Encoded(tagged, x, arcs, relations)
