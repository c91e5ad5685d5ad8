"""Attention among the spans of a sentence, at a cost linear in their number (SpanFormer)."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..structure.chart import pack, packed_spans, spans_within
from .biaffine import Biaffine, FactorisedBiaffine
from .biaffine_spans import BiaffineSpanSettings, SpanViews
from .dropout import FeatureDropout

Normalise = Literal["head", "concatenation"]


@dataclass(frozen=True)
class TransformerSpanSettings(BiaffineSpanSettings):
    """SpanFormer's span scores and biaffine label scores (`spacy-lal.TransformerSpans.v1`).

    Floquet et al., sections 2.2 and 3.1. span_width: width of the perceptrons over fenceposts.
    biaffine_width: width of a span's vector; biaffine_rank: number of rank-one matrices that its
    components share (null gives each a full one, biaffine_width (span_width + 1)^2 numbers, 120
    million with the paper's widths). width: width of `layers` transformer layers with `heads`
    heads, to which the vector is projected. normalise: layer normalisation of each head's output,
    as equations for one head read, or of their concatenation. label_width, label_rank: as in
    `spacy-lal.BiaffineSpans.v1`.
    """

    name: ClassVar[str] = "spacy-lal.TransformerSpans.v1"
    biaffine_width: int = 480
    biaffine_rank: int | None = 64
    width: int = 48
    heads: int = 3
    layers: int = 1
    feed_forward_width: int = 96
    normalise: Normalise = "head"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.layers < 0:
            raise ValueError(f"layers must not be negative, got {self.layers}")

    def build(self, d_in: int) -> nn.Module:
        return SpanTransformer(self, d_in)


CHUNK_SIZE = 1 << 16
"""Values of spans in one step of prediction: with what is computed of them they fit the cache."""


class LinearSpanAttention(nn.Module):
    """O = LayerNorm(Q (K^T V)), Q = H W_q, K = H W_k, V = H W_v (Floquet et al., section 2.2).

    W_q and K^T V are all that the spans of a sentence share: `mixture` [B,d,d]. Given the mixture,
    spans are independent: x [B,S,d], mixture -> [B,S,d]. Only the layer normalisation bounds the
    sums."""

    def __init__(self, d: int, n_heads: int, *, normalise: Normalise = "head") -> None:
        super().__init__()
        if d % n_heads:
            raise ValueError(f"{d} features can't be shared out evenly to {n_heads} heads")
        self.n_heads = n_heads
        self.query = nn.Linear(d, d, bias=False)
        self.key = nn.Linear(d, d, bias=False)
        self.value = nn.Linear(d, d, bias=False)
        self.per_head = normalise == "head"
        self.layer_norm = nn.LayerNorm(d // n_heads if self.per_head else d)

    def mixture(self, x: Tensor, mask: Tensor) -> Tensor:
        """Returns W_q (K^T V) of all heads, side by side: x [B,S,d], mask [B,S] -> [B,d,d]. One sum
        over the spans in the mask suffices, H^T H in K^T V = W_k^T (H^T H) W_v."""
        gram = (x * mask.unsqueeze(2)).mT @ x
        query, key, value = (
            layer.weight.unflatten(0, (self.n_heads, -1))
            for layer in (self.query, self.key, self.value)
        )
        heads = query.mT @ (key @ gram.unsqueeze(1) @ value.mT)
        return heads.transpose(1, 2).flatten(2)

    def forward(self, x: Tensor, mixture: Tensor) -> Tensor:
        out = x @ mixture
        if self.per_head:
            out = out.unflatten(2, (self.n_heads, -1))
        normalised: Tensor = self.layer_norm(out)
        return normalised.flatten(2)


class SpanTransformerLayer(nn.Module):
    """Linear attention, then a two-layer perceptron, both with residuals: x [B,S,d], mask [B,S] ->
    [B,S,d]. Spans outside of the mask are in no sum of the attention."""

    def __init__(self, d: int, n_heads: int, d_ff: int, *, normalise: Normalise = "head") -> None:
        super().__init__()
        self.attention = LinearSpanAttention(d, n_heads, normalise=normalise)
        self.inner = nn.Linear(d, d_ff)
        self.outer = nn.Linear(d_ff, d)
        self.dropout = FeatureDropout()

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        x = x + self.dropout(self.attention(x, self.attention.mixture(x, mask)))
        return x + self.dropout(self.outer(self.inner(x).relu_()))


class SpanTransformer(nn.Module):
    """SpanFormer's span scorer (Floquet et al., sections 2.2 and 3.1): scores [B,S] of fenceposts.

    fenceposts [B,n+1,d_in], lengths [B]. With a biaffine_rank, the product's mixture and the
    projection merge to one small matrix.
    """

    def __init__(self, settings: TransformerSpanSettings, d_in: int) -> None:
        super().__init__()
        d_span, d_biaffine, d = settings.span_width, settings.biaffine_width, settings.width
        self.views = SpanViews(d_in, d_span)
        self.product: Biaffine | FactorisedBiaffine
        if settings.biaffine_rank is None:
            self.product = Biaffine(d_span, d_span, d_biaffine)
        else:
            self.product = FactorisedBiaffine(d_span, d_span, d_biaffine, settings.biaffine_rank)
        self.projection = nn.Linear(d_biaffine, d)
        self.layers = nn.ModuleList(
            SpanTransformerLayer(
                d, settings.heads, settings.feed_forward_width, normalise=settings.normalise
            )
            for _ in range(settings.layers)
        )
        self.score = nn.Linear(d, 1)
        nn.init.zeros_(self.score.weight)

    def span_vectors(self, left: Tensor, right: Tensor) -> Tensor:
        """Returns the vectors of all spans [B,S,d] from views of their ends [B,n+1,d_span]."""
        if not isinstance(self.product, FactorisedBiaffine):
            return self.projection(pack(self.product(left, right)))
        mixture, projection = self.product.mixture, self.projection
        weight = projection.weight @ mixture.weight
        bias = projection.bias + projection.weight @ mixture.bias
        u, v, _ = self.product.factors(left, right)
        starts, ends = (t.to(u.device) for t in packed_spans(u.shape[1] - 1))
        return F.linear(u.index_select(1, starts) * v.index_select(1, ends), weight, bias)

    def forward(self, fenceposts: Tensor, lengths: Tensor) -> Tensor:
        mask = spans_within(fenceposts.shape[1] - 1, lengths)
        size = len(mask)
        if fenceposts.is_cpu and not torch.is_grad_enabled():
            size = max(1, CHUNK_SIZE // (mask.shape[1] * self.score.in_features))
        scores = []
        for *views, there in zip(
            *(view.split(size) for view in self.views(fenceposts)), mask.split(size), strict=True
        ):
            x = self.span_vectors(*views)
            for layer in self.layers:
                x = layer(x, there)
            scores.append(self.score(x).squeeze(2))
        return torch.cat(scores)
