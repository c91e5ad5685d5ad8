"""Published parsers as modules, built from headers: what they read of sentences, and its scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from torch import Tensor, nn

from ...bridge.weights import Header
from ...layers.biaffine_spans import BiaffineLabels, BiaffineSpans
from ...layers.dependency_scorer import DependencyScorer
from ...layers.encoder import LabelAttentionEncoder
from ...layers.input_encoders import row_mask
from ...layers.span_scorer import SpanScorer, fenceposts
from ...parsing.network import OneStageScores, TwoStageScores
from ...parsing.settings import EncoderSettings
from .reading import RowBatch
from .rows import ContentRows, RecurrentRows, RowSizes

Format = Literal["lal-parser", "supar-constituency", "supar-dependency"]
SLOPE = 0.1
"""Of supar's leaky ReLU."""


@dataclass(frozen=True)
class ReleasedSettings:
    """What a component asks of a parser's settings.

    free_relations: the relation to the root is one as others are, also between words. encoder: no
    heads, for `interpret` can't read those that a released network may have.
    """

    format: Format
    predicts_tags: bool = False
    free_relations: bool = True
    encoder: ClassVar[EncoderSettings] = EncoderSettings(heads=0)

    @property
    def spans(self) -> str | None:
        return "spacy-lal.BiaffineSpans.v1" if self.format == "supar-constituency" else None

    @property
    def dependencies(self) -> str | None:
        return None if self.spans else "spacy-lal.BiaffineDependencies.v1"


class ReleasedLal(nn.Module):
    """The released LAL parser (Mrini et al. 2020): numbers of rows, lengths [B] -> scores.

    A sentence's scores are those that the released code gives it alone; in a batch that code gives
    heads the queries of others.
    """

    def __init__(self, header: Header) -> None:
        super().__init__()
        sizes, settings = header["sizes"], header["settings"]
        d_model, partitioned = settings["d_model"], settings["partitioned"]
        d_positional = d_model // 2 if partitioned else None
        self.rows = ContentRows(
            _row_sizes(header),
            header["transformer"],
            d_model=d_model,
            positions=sizes["positions"],
            partitioned=partitioned,
            side_by_side=settings["use_cat"],
        )
        self.encoder = LabelAttentionEncoder(
            d_model,
            n_layers=settings["num_layers"],
            n_heads=settings["num_heads"],
            d_key=settings["d_kv"],
            d_ff=settings["d_ff"],
            d_positional=d_positional,
            n_label_heads=sizes["label_heads"],
            d_label_key=settings["lal_d_kv"],
            d_label_proj=settings["lal_d_proj"],
            label_d_positional=d_positional if settings["lal_partitioned"] else None,
            label_query_matrix=settings["lal_q_as_matrix"],
            label_combine="project" if settings["lal_combine_as_self"] else "concatenate",
            label_feed_forward=settings["lal_pwff"],
            drops_label_residual=settings["lal_resdrop"],
            scale="model",
        )
        width = self.encoder.output_dim
        self.scorer = SpanScorer(width, settings["d_label_hidden"], len(header["labels"]) + 1)
        self.dependencies = DependencyScorer(
            width,
            len(header["relations"]),
            d_arc=settings["d_biaffine"],
            d_relation=settings["d_label_hidden"],
            relation_of="dependent",
        )

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
        self.spans = BiaffineSpans(width, settings["n_span_mlp"])
        n_labels = len(header["labels"]) + 1
        self.labels = BiaffineLabels(width, n_labels, settings["n_label_mlp"], None)

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
            self.rows.output_dim,
            len(header["relations"]),
            d_arc=settings["n_arc_mlp"],
            d_relation=settings["n_rel_mlp"],
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
