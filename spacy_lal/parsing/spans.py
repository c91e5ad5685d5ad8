"""Settings of the span scorers of two stages."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from ..layers.biaffine_spans import BiaffineLabels, BiaffineSpans
from ..layers.settings import Settings
from ..layers.span_attention import SpanTransformer


@dataclass(frozen=True)
class BiaffineSpanSettings(Settings):
    """Biaffine scores of spans and, in a second stage, of labels (`spacy-lal.BiaffineSpans.v1`).

    Zhang et al. 2020, section 3.3, whose widths are the defaults; 1024 and 250 in Vu-Tran et al.
    span_width, label_width: of the perceptrons over fenceposts. label_rank: share this number of
    rank-one matrices among the labels, instead of a full matrix for each.
    """

    name: ClassVar[str] = "spacy-lal.BiaffineSpans.v1"
    span_width: int = 500
    label_width: int = 100
    label_rank: int | None = None

    def build(self, d_in: int) -> BiaffineSpans:
        return BiaffineSpans(d_in, self.span_width)

    def build_labels(self, d_in: int, n_labels: int) -> BiaffineLabels:
        return BiaffineLabels(d_in, n_labels, self.label_width, self.label_rank)


@dataclass(frozen=True)
class TransformerSpanSettings(Settings):
    """SpanFormer's scores of spans, and biaffine ones of labels (`spacy-lal.TransformerSpans.v1`).

    Floquet et al., sections 2.2 and 3.1. span_width: of the perceptrons over fenceposts;
    biaffine_width: of a span's vector, and biaffine_rank how many rank-one matrices its components
    share (null gives each a full one, biaffine_width (span_width + 1)^2 numbers, 120 million with
    the paper's widths); width: what it is projected to, in which `layers` transformer layers with
    `heads` heads work. normalise: layer normalisation of each head's output, or of their
    concatenation. label_width, label_rank: as in `spacy-lal.BiaffineSpans.v1`.
    """

    name: ClassVar[str] = "spacy-lal.TransformerSpans.v1"
    span_width: int = 500
    biaffine_width: int = 480
    biaffine_rank: int | None = 64
    width: int = 48
    heads: int = 3
    layers: int = 1
    feed_forward_width: int = 96
    normalise: Literal["head", "concatenation"] = "head"
    label_width: int = 100
    label_rank: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.layers < 0:
            raise ValueError(f"layers must not be negative, got {self.layers}")

    def build(self, d_in: int) -> SpanTransformer:
        return SpanTransformer(
            d_in,
            self.span_width,
            d_biaffine=self.biaffine_width,
            rank=self.biaffine_rank,
            d=self.width,
            n_heads=self.heads,
            n_layers=self.layers,
            d_ff=self.feed_forward_width,
            normalise=self.normalise,
        )

    def build_labels(self, d_in: int, n_labels: int) -> BiaffineLabels:
        return BiaffineLabels(d_in, n_labels, self.label_width, self.label_rank)


SpanSettings = BiaffineSpanSettings | TransformerSpanSettings
