"""The Label Attention Layer: attention heads that stand for labels."""

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .integers import IntegerMatrix, rounded_rows
from .layer_norm import LayerNorm
from .packed import PackedRows
from .partitioned_attention import PartitionedSelfAttention, masked_softmax
from .precision import Precision
from .prepared import Prepared
from .settings import Settings


@dataclass(frozen=True)
class EncoderSettings(Settings):
    """Self-attention layers and the Label Attention Layer (`spacy-lal.LabelAttentionEncoder.v1`).

    heads: number of label attention heads; 0 leaves the layer out. key_width, value_width,
    projection_width: d_k, d_v, d_proj of a head. self_attention_layers: number of layers before
    label attention (Mrini et al. 2020, table 5), each with a feed-forward layer of
    feed_forward_width. partition_width: width of the position half where content and position are
    partitioned; label_partitioned: in label attention too. label_feed_forward: a position-wise
    feed-forward layer after label attention, residual_dropout: dropout in its heads' residual
    (table 1). query: one query vector per head, or a query matrix; combine: concatenate the heads,
    or project them to the model's width as self-attention does (table 2).
    arrangement: annotate with label attention's output ("stack", Mrini et al. 2020) or with the
    rows and it side by side ("concatenate"). "concatenate" is for rows whose halves are two
    directions, not content and position; with `spacy-lal.BranchRows.v1` the other branch stands
    beside it. halves: fenceposts take half of every head's output, or half of the heads (Vu-Tran et
    al., figure 2 and eqs. 13-15). scale: divide attention scores by the root of the key's width
    (the paper) or of the model's width (its code).
    """

    name: ClassVar[str] = "spacy-lal.LabelAttentionEncoder.v1"
    heads: int = 64
    key_width: int = 64
    value_width: int = 64
    projection_width: int = 16
    self_attention_layers: int = 0
    self_attention_heads: int = 8
    self_attention_key_width: int = 64
    feed_forward_width: int = 1024
    partition_width: int | None = None
    label_feed_forward: bool = False
    arrangement: Literal["stack", "concatenate"] = "concatenate"
    scale: Literal["key", "model"] = "key"
    query: Literal["vector", "matrix"] = "vector"
    combine: Literal["concatenate", "project"] = "concatenate"
    residual_dropout: bool = False
    label_partitioned: bool = True
    halves: Literal["head", "whole"] = "head"

    @property
    def sums_wide(self) -> bool:
        """Whether annotations of rounded rows are the same in every batch, to the bit: see
        `LabelAttention.made`."""
        constant = (self.query == "vector" and self.combine == "concatenate") or not self.heads
        return constant and not self.self_attention_layers and not self.label_feed_forward

    @property
    def label_partition_width(self) -> int | None:
        """Width of the position half in label attention."""
        return self.partition_width if self.label_partitioned else None


STEPS = 1 << 16
"""Steps of rounded attention, from 0 to a sentence's largest row scale."""


class RoundedQueries(NamedTuple):
    """Constant queries on rounded rows, for results that are the same in every batch, to the bit:
    attention is rounded, too, so that sums over rows are sums of integers, exact in float32."""

    queries: IntegerMatrix
    """[H,d_model], of constant queries on rows, scaled."""
    reduce_proj: IntegerMatrix
    """[d_proj,d_model]"""

    def __call__(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the averages of rows x [B,n,d_model] by each query [H,B,d_model], and rows times
        reduce_proj [B,n,d_proj], in float64: see `wide_if_rounded`."""
        batch, n, _ = x.shape
        rows = rounded_rows(x.flatten(0, 1))
        scores = self.queries.product(rows, None).double().view(batch, n, -1).transpose(1, 2)
        weights = masked_softmax(scores.unsqueeze(2), mask).squeeze(2)
        scales = rows.scale.double().view(batch, 1, n)
        step = scales.masked_fill(~mask.unsqueeze(1), 0.0).amax(2, keepdim=True).div_(STEPS)
        sums = weights.mul_(scales / step).round_().float() @ rows.values.view(x.shape)
        reduced = self.reduce_proj.product(rows, None).double().view(batch, n, -1)
        return sums.double().mul_(step).transpose(0, 1), reduced


class Merged(NamedTuple):
    """Weights of a label attention layer, and products of them."""

    queries: Tensor | None
    """[H,d_model], constant queries on rows, scaled."""
    reduce: Tensor | None
    """[d_proj,d_value], proj and reduce_proj in one."""
    contexts: list[Tensor]
    """V_h, proj and reduce_proj in one, of each part [H,d_proj,d_part]: for constant queries."""
    rounded: RoundedQueries | None = None
    """What averages rows in 8-bit predictions."""


class LabelAttention(PartitionedSelfAttention, Prepared):
    """The Label Attention Layer (Mrini et al. 2020, section 2, eqs. 1-4, figures 2 to 4).

    x [B,n,d_model], mask [B,n] -> [B,n,H * d_proj], or [B,n,d_model] with combine "project". One
    learned query q_h a head attends over the sentence, and every row receives the head's context:

        a_h = softmax(q_h (X K_h)^T / sqrt(d_key))           [1,n]
        c_h = a_h X V_h                                      [1,d_value]
        y_h = LayerNorm((X + c_h proj) reduce_proj)          [n,d_proj]

    The output holds the heads side by side. All heads share proj, reduce_proj and the layer norm.
    In the variants of table 2, a query "matrix" computes a query from each row; combine "project"
    concatenates and projects the heads as self-attention does.

    Constant queries avoid tensors of size n x d_key or n x d_value: q_h (X K_h)^T = (K_h q_h) X^T,
    a_h (X V_h) = (a_h X) V_h, and reduce_proj is applied to contexts and to rows apart, in one
    matrix with V_h and proj unless residual dropout stands between. Padded rows must be finite.
    """

    def __init__(self, settings: EncoderSettings, d_model: int) -> None:
        projects = settings.combine == "project"
        super().__init__(
            d_model,
            settings.heads,
            settings.key_width,
            settings.value_width,
            d_positional=settings.label_partition_width,
            query_matrix=settings.query == "matrix",
            combine=projects,
            scale=settings.scale,
            residual_dropout=None if settings.residual_dropout else 0.0,
        )
        self.combine = settings.combine
        self.output_dim = d_model if projects else settings.heads * settings.projection_width
        if not projects:
            self.reduce_proj = nn.Linear(d_model, settings.projection_width, bias=False)
            self.layer_norm = LayerNorm(settings.projection_width)

    def forward(self, x: Tensor, mask: Tensor, rows: PackedRows | None = None) -> Tensor:
        if self.combine == "project":
            return super().forward(x, mask)
        rounded = self.prepared().rounded
        if rounded is not None:
            pooled, of_rows = rounded(x, mask)
            reduced = self._of_pooled(pooled)
        else:
            reduced = self._reduced_contexts(x, mask)
            of_rows = F.linear(x, self.reduce_proj.weight)
        assert isinstance(self.layer_norm, LayerNorm)
        if self.query_matrix:
            normalised = self.layer_norm(reduced.transpose(1, 2) + of_rows.unsqueeze(2))
        else:
            normalised = self.layer_norm.normalise_sums(reduced.squeeze(2), of_rows)
        return normalised.flatten(2)

    def _scores(self, x: Tensor) -> Tensor:
        """Returns scores [B,H,1,n] of the H constant queries, or [B,H,n,n] of matrix queries."""
        if self.query_matrix:
            return super()._scores(x)
        queries = self.prepared().queries
        return F.linear(x.to(queries), queries).transpose(1, 2).unsqueeze(2)

    def made(self, precision: Precision) -> Merged:
        """Returns what constant queries and the heads' concatenation need of the weights: float64,
        as in `wide_if_rounded`, where what reads the output may round it."""
        queries = reduce = None
        if not self.query_matrix:
            # K_h q_h: a query on the rows themselves, [H,d]
            of_parts = zip(self._weights("w_qs"), self._weights("w_ks"), strict=True)
            rows = [(keys @ query.unsqueeze(2)).squeeze(2) for query, keys in of_parts]
            queries = torch.cat(rows, dim=1) * self.scale
        if self.combine != "project":
            parts = self._parts(self.reduce_proj.weight)
            products = zip(parts, self._weights("proj", ".weight"), strict=True)
            reduce = torch.cat([part @ weight for part, weight in products], dim=-1)
        if queries is None or reduce is None:
            return Merged(queries, reduce, [])
        parts = reduce.chunk(len(self._widths), dim=-1)
        of_parts = zip(self._weights("w_vs"), parts, strict=True)
        contexts = [part @ values.transpose(1, 2) for values, part in of_parts]
        if precision == "int8":
            rounded = RoundedQueries(IntegerMatrix(queries), IntegerMatrix(self.reduce_proj.weight))
            wide = [matrix.double() for matrix in contexts]
            return Merged(queries.double(), reduce, wide, rounded)
        return Merged(queries, reduce, contexts)

    def unread(self) -> list[str]:
        if self.query_matrix or self.combine == "project":
            return []
        return [name for name, _ in self.named_parameters() if name.startswith(("w_", "proj"))]

    def _reduced_contexts(self, x: Tensor, mask: Tensor) -> Tensor:
        """Returns one context a head [B,H,1,d_proj], or, of matrix queries, one a row."""
        if self.query_matrix or self.residual_dropout.active:
            return self._reduced(self._contexts(x, mask))
        return self._of_pooled(self._pooled(x, mask))

    def _of_pooled(self, pooled: Tensor) -> Tensor:
        """Returns the contexts [B,H,1,d_proj] of averaged rows [H,B,d_model]."""
        parts = zip(self._parts(pooled), self.prepared().contexts, strict=True)
        # the larger matrix first: 1.5 times as fast where a batch has few sentences
        reduced = [weight @ part.transpose(1, 2) for part, weight in parts]
        return torch.stack(reduced).sum(0).permute(2, 0, 1).unsqueeze(2)

    def _pooled(self, x: Tensor, mask: Tensor) -> Tensor:
        """Returns the rows a_h X, averaged by each constant query [H,B,d]."""
        weights = self.attention_dropout(masked_softmax(self._scores(x), mask))
        return (weights.squeeze(2) @ x.to(weights)).transpose(0, 1)

    def _contexts(self, x: Tensor, mask: Tensor, rows: PackedRows | None = None) -> Tensor:
        """Returns one context a head [B,H,1,d_value], or, of matrix queries, one a row."""
        if self.query_matrix:
            return super()._contexts(x, mask)
        parts = zip(self._parts(self._pooled(x, mask)), self._weights("w_vs"), strict=True)
        contexts = [part @ values for part, values in parts]
        # contiguous, or reducing them becomes B * H products instead of one
        return torch.cat(contexts, dim=-1).transpose(0, 1).unsqueeze(2).contiguous()

    def _reduced(self, contexts: Tensor) -> Tensor:
        """Applies proj and reduce_proj to contexts [B,H,m,d_value]: [B,H,m,d_proj]."""
        reduce, projections = self.reduce_proj.weight, self._weights("proj", ".weight")
        if self.residual_dropout.active:
            halves = zip(contexts.chunk(len(projections), dim=-1), projections, strict=True)
            projected = [F.linear(half, weight) for half, weight in halves]
            return F.linear(self.residual_dropout(torch.cat(projected, dim=-1)), reduce)
        return F.linear(contexts, self.prepared().reduce)
