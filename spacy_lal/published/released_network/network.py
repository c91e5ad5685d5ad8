"""Published parsers as modules, built from headers: what they read of sentences, and its scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from torch import Tensor, nn

from ...bridge.weights import Header
from ...layers.biaffine_spans import BiaffineLabels, BiaffineSpans, BiaffineSpanSettings
from ...layers.dependency_scorer import DependencyScorer, DependencySettings
from ...layers.encoder import LabelAttentionEncoder
from ...layers.input_encoders import row_mask
from ...layers.label_attention import EncoderSettings
from ...layers.span_scorer import SpanScorer, fenceposts
from ...parsing.network import OneStageScores, TwoStageScores
from ...parsing.settings import Abilities
from .reading import RowBatch
from .rows import ContentRows, RecurrentRows, RowSizes

Format = Literal["lal-parser", "supar-constituency", "supar-dependency"]
SLOPE = 0.1
"""Of supar's leaky ReLU."""


@dataclass(frozen=True)
class ReleasedSettings(Abilities):
    """What a component asks of a parser's settings; `interpret` can't read its attention heads."""

    format: Format
    predicts_tags: bool = False
    free_relations: bool = True

    @property
    def finds_trees(self) -> bool:
        return self.format != "supar-dependency"

    @property
    def finds_heads(self) -> bool:
        return self.format != "supar-constituency"

    @property
    def two_stages(self) -> bool:
        return self.format == "supar-constituency"


class ReleasedLal(nn.Module):
    """The released LAL parser (Mrini et al. 2020): numbers of rows, lengths [B] -> scores.

    A sentence's scores are those that the released code gives it alone; in a batch that code gives
    heads the queries of others.
    """

    def __init__(self, header: Header) -> None:
        super().__init__()
        sizes, settings = header["sizes"], header["settings"]
        d_model, partitioned = settings["d_model"], settings["partitioned"]
        self.rows = ContentRows(
            _row_sizes(header),
            header["transformer"],
            d_model=d_model,
            positions=sizes["positions"],
            partitioned=partitioned,
            side_by_side=settings["use_cat"],
        )
        encoder = EncoderSettings(
            heads=sizes["label_heads"],
            key_width=settings["lal_d_kv"],
            value_width=settings["lal_d_kv"],
            projection_width=settings["lal_d_proj"],
            self_attention_layers=settings["num_layers"],
            self_attention_heads=settings["num_heads"],
            self_attention_key_width=settings["d_kv"],
            feed_forward_width=settings["d_ff"],
            partition_width=d_model // 2 if partitioned else None,
            label_feed_forward=settings["lal_pwff"],
            arrangement="stack",
            scale="model",
            query="matrix" if settings["lal_q_as_matrix"] else "vector",
            combine="project" if settings["lal_combine_as_self"] else "concatenate",
            residual_dropout=settings["lal_resdrop"],
            label_partitioned=settings["lal_partitioned"],
        )
        self.encoder = LabelAttentionEncoder(encoder, d_model)
        width = self.encoder.output_dim
        self.scorer = SpanScorer(width, settings["d_label_hidden"], len(header["labels"]) + 1)
        dependencies = DependencySettings(
            settings["d_biaffine"], settings["d_label_hidden"], relation_of="dependent"
        )
        self.dependencies = DependencyScorer(dependencies, width, len(header["relations"]))

    def forward(self, batch: RowBatch, lengths: Tensor) -> OneStageScores:
        rows = self.rows(batch)
        n = rows.shape[1] - 2
        posts = self.encoder.fenceposts(self.encoder(rows, row_mask(lengths, n)))
        arcs, relations = self.dependencies(posts)
        return OneStageScores(_no_tags(rows, n), self.scorer(posts), arcs, relations)


class SuparSpans(nn.Module):
    """supar's CRF over binary trees (Zhang et al. 2020): numbers of rows, lengths [B]."""

    def __init__(self, header: Header) -> None:
        super().__init__()
        self.rows = _recurrent_rows(header)
        width, settings = self.rows.output_dim, header["settings"]
        spans = BiaffineSpanSettings(settings["n_span_mlp"], settings["n_label_mlp"])
        self.spans = BiaffineSpans(spans, width)
        self.labels = BiaffineLabels(spans, width, len(header["labels"]) + 1)

    def forward(self, batch: RowBatch, lengths: Tensor) -> TwoStageScores:
        rows = self.rows(batch, lengths + 2)
        posts = fenceposts(rows)
        left, right, weight = self.labels(posts)
        spans = self.spans(posts, lengths)
        return TwoStageScores(_no_tags(rows, rows.shape[1] - 2), spans, left, right, weight)


class SuparArcs(nn.Module):
    """supar's biaffine scores of heads (Dozat and Manning 2017): numbers of rows, lengths [B]."""

    def __init__(self, header: Header) -> None:
        super().__init__()
        self.rows = _recurrent_rows(header)
        settings = header["settings"]
        self.dependencies = DependencyScorer(
            DependencySettings(settings["n_arc_mlp"], settings["n_rel_mlp"]),
            self.rows.output_dim,
            len(header["relations"]),
            slope=SLOPE,
        )

    def forward(self, batch: RowBatch, lengths: Tensor) -> OneStageScores:
        rows = self.rows(batch, lengths + 1)
        arcs, relations = self.dependencies(rows)
        return OneStageScores(_no_tags(rows, rows.shape[1] - 1), None, arcs, relations)


def build_network(header: Header) -> nn.Module:
    """The network of a header. Raises KeyError for a format that is none of these."""
    networks: dict[str, Any] = {
        "lal-parser": ReleasedLal,
        "supar-constituency": SuparSpans,
        "supar-dependency": SuparArcs,
    }
    network: nn.Module = networks[header["format"]](header)
    return network


def _row_sizes(header: Header) -> RowSizes:
    values: dict[str, Any] = header["sizes"]["rows"]
    return RowSizes(**values)


def _recurrent_rows(header: Header) -> RecurrentRows:
    sizes = header["sizes"]
    return RecurrentRows(
        _row_sizes(header),
        header["transformer"],
        d_in=sizes["d_in"],
        d_hidden=sizes["d_hidden"],
        depth=sizes["depth"],
        unknown=sizes["unknown"],
    )


def _no_tags(rows: Tensor, n: int) -> Tensor:
    """As of a treebank without tags: one for all words."""
    return rows.new_zeros(len(rows), n, 1)
