"""Settings of a parser's network: its encoder, what scores heads, and all together."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from ..layers.dependency_scorer import DependencyScorer
from ..layers.encoder import LabelAttentionEncoder
from ..layers.settings import Settings
from .input_encoders import InputEncoder
from .spans import SpanSettings


@dataclass(frozen=True)
class EncoderSettings(Settings):
    """Self-attention layers and the Label Attention Layer (`spacy-lal.LabelAttentionEncoder.v1`).

    The rows of the tables 1, 2 and 5 of Mrini et al. 2020 are values of these settings.

    heads: label attention heads; 0 leaves the layer out. key_width, value_width,
    projection_width: d_k, d_v, d_proj of a head. self_attention_layers: before label attention
    (table 5), each with a feed-forward layer of feed_forward_width. partition_width: width of
    the position half where content and position are partitioned; label_partitioned: in label
    attention too. label_feed_forward: a position-wise feed-forward layer after label attention,
    residual_dropout: dropout in its heads' residual (table 1). query: one query vector a head, or
    a query matrix; combine: concatenate the heads, or project them back to the model's width as
    self-attention does (table 2).
    arrangement: annotate with label attention's output ("stack", Mrini et al. 2020) or with the
    rows and it side by side ("concatenate"), which is for rows whose halves are two directions, not
    content and position; with `spacy-lal.BranchRows.v1` the other branch stands beside it. halves:
    fenceposts take half of every head's output, or half of the heads (Vu-Tran et al., figure 2 and
    eqs. 13-15). scale: divide attention scores by the root of the key's width (the paper) or of the
    model's (its released code).
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

    def build(self, d_model: int, d_around: int) -> LabelAttentionEncoder:
        return LabelAttentionEncoder(
            d_model,
            d_around=d_around,
            n_layers=self.self_attention_layers,
            n_heads=self.self_attention_heads,
            d_key=self.self_attention_key_width,
            d_ff=self.feed_forward_width,
            d_positional=self.partition_width,
            n_label_heads=self.heads,
            d_label_key=self.key_width,
            d_label_value=self.value_width,
            d_label_proj=self.projection_width,
            label_d_positional=self.partition_width if self.label_partitioned else None,
            label_feed_forward=self.label_feed_forward,
            label_query_matrix=self.query == "matrix",
            label_combine=self.combine,
            drops_label_residual=self.residual_dropout,
            arrangement=self.arrangement,
            halves=self.halves,
            scale=self.scale,
        )


@dataclass(frozen=True)
class DependencySettings(Settings):
    """Biaffine scores of heads and relations (`spacy-lal.BiaffineDependencies.v1`).

    arc_width, relation_width: of the projections. relation_of: score relations of dependent and
    head (the paper) or of the dependent alone (its released code). read: the annotations of the
    words, or the fenceposts that spans are made of (the released code). dropout: of the projected
    rows; None for the training's.
    """

    name: ClassVar[str] = "spacy-lal.BiaffineDependencies.v1"
    arc_width: int = 400
    relation_width: int = 100
    relation_of: Literal["pair", "dependent"] = "pair"
    read: Literal["words", "fenceposts"] = "words"
    dropout: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dropout is not None and not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must be at least 0 and less than 1, not {self.dropout}")

    def build(self, d_in: int, n_relations: int) -> DependencyScorer:
        return DependencyScorer(
            d_in,
            n_relations,
            d_arc=self.arc_width,
            d_relation=self.relation_width,
            relation_of=self.relation_of,
            dropout=self.dropout,
        )


@dataclass(frozen=True)
class ParserSettings(Settings):
    """What a config decides about a parser's network.

    hidden_width: of the scorer of all labels of all spans; None leaves it out, and so does None
    for what scores heads and relations (`dependencies`) or the spans of two stages (`spans`).
    """

    name: ClassVar[str] = "parser"
    input_encoder: InputEncoder
    encoder: EncoderSettings
    hidden_width: int | None = None
    dependencies: DependencySettings | None = None
    spans: SpanSettings | None = None

    @property
    def predicts_tags(self) -> bool:
        return self.input_encoder.predicts_tags
