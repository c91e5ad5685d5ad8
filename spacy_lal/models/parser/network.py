"""A parser as one PyTorch module, built from a JSON-able header."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from torch import Tensor

from ...layers.biaffine_spans import BiaffineLabels, BiaffineSpans
from ...layers.dependency_scorer import DependencyScorer
from ...layers.encoder import LabelAttentionEncoder
from ...layers.label_factors import LabelFactors
from ...layers.rows import BiLSTMRows, BranchRows, PositionRows, row_mask
from ...layers.span_attention import SpanTransformer
from ...layers.span_scorer import SpanScorer
from ..bridge.shim import TorchModule
from ..bridge.weights import Header


class Scores(NamedTuple):
    """What the network says of padded sentences; None where it has no such scorer.

    labels: packed charts of label scores [B, S, L], label 0 "no constituent"; tags [B, n, T];
    arcs [B, n, n+1], the score of head h (0 the root) for word d + 1 at [d, h]; relations
    [B, n, n+1, R] of these arcs, or [B, n, 1, R] if they don't depend on the head.
    In two stages, instead of `labels`: spans, packed charts [B, S], and what label scores of chosen
    spans are computed from, left and right [B, n+1, .] and weight (see `LabelFactors`). The weight
    is a parameter; among the outputs, its gradient comes back the way all others do.
    """

    tags: Tensor
    labels: Tensor | None = None
    arcs: Tensor | None = None
    relations: Tensor | None = None
    spans: Tensor | None = None
    left: Tensor | None = None
    right: Tensor | None = None
    weight: Tensor | None = None

    @property
    def factors(self) -> LabelFactors:
        """What `label_scores` takes; ValueError without a second stage."""
        if self.left is None or self.right is None or self.weight is None:
            raise ValueError("these scores have no second stage")
        return LabelFactors(self.left, self.right, self.weight)


class ParserNetwork(TorchModule):
    """Word vectors [B, n, d_in], lengths [B] -> `Scores`.

    Rows (`layers/rows.py`), the encoder with its Label Attention Layer (`layers/encoder.py`),
    and what is read off its annotations: fenceposts and one of two span scorers, arcs and
    relations (Mrini et al. 2020, section 3).

    d_hidden: of the scorer of all labels of all spans; None leaves it out. spans: settings of the
    two-stage scorer, with `d_label` and `label_rank` of its labels and, for the spans, `kind`
    "biaffine" (`BiaffineSpans`) or "transformer" (`SpanTransformer`); None leaves it out.
    dependencies: settings of the `DependencyScorer` and `read`, what it reads: "words", the
    annotations of START (for the root) and of the words, or "fenceposts", as the released code
    does; None leaves it out.
    """

    def __init__(
        self,
        d_in: int,
        labels: list[str],
        tags: list[str],
        rows: dict[str, Any],
        encoder: dict[str, Any],
        d_hidden: int | None = None,
        relations: Sequence[str] = (),
        dependencies: dict[str, Any] | None = None,
        spans: dict[str, Any] | None = None,
    ) -> None:
        super().__init__()
        settings = dict(rows)
        kinds = {"bilstm": BiLSTMRows, "positions": PositionRows, "branches": BranchRows}
        self.rows = kinds[settings.pop("kind")](d_in, max(1, len(tags)), **settings)
        around = self.rows.d_around
        self.encoder = LabelAttentionEncoder(
            self.rows.output_dim - around, d_around=around, **encoder
        )
        width = self.encoder.output_dim
        n_labels = len(labels) + 1
        self.scorer: SpanScorer | None = None
        if d_hidden is not None:
            self.scorer = SpanScorer(width, d_hidden, n_labels)
        self.spans: BiaffineSpans | SpanTransformer | None = None
        if spans is not None:
            settings = dict(spans)
            d_label, rank = settings.pop("d_label"), settings.pop("label_rank")
            scorer = {"biaffine": BiaffineSpans, "transformer": SpanTransformer}
            self.spans = scorer[settings.pop("kind")](width, **settings)
            self.labels = BiaffineLabels(width, n_labels, d_label, rank)
        self.dependencies: DependencyScorer | None = None
        if dependencies is not None:
            settings = dict(dependencies)
            self.read_fenceposts = settings.pop("read") == "fenceposts"
            self.dependencies = DependencyScorer(width, max(1, len(relations)), **settings)

    def set_dropout(self, rate: float) -> None:
        self.rows.set_dropout(rate)
        self.encoder.set_dropout(rate)
        for scorer in (self.scorer, self.dependencies):
            if scorer is not None:
                scorer.dropout = rate
        if self.spans is not None:
            self.spans.set_dropout(rate)
            self.labels.set_dropout(rate)

    def forward(self, x: Tensor, lengths: Tensor) -> Scores:
        rows, tags = self.rows(x, lengths)
        if tags is None:
            # as of a treebank without tags: one for all words, with nothing to learn
            tags = x.new_zeros(*x.shape[:2], 1)
        annotations = self.encoder(rows, row_mask(lengths, x.shape[1]))
        scores = Scores(tags)
        fenceposts = self.encoder.fenceposts(annotations)
        if self.scorer is not None:
            scores = scores._replace(labels=self.scorer(fenceposts))
        if self.spans is not None:
            left, right, weight = self.labels(fenceposts)
            spans = self.spans(fenceposts, lengths)
            scores = scores._replace(spans=spans, left=left, right=right, weight=weight)
        if self.dependencies is not None:
            words = fenceposts if self.read_fenceposts else annotations[:, :-1]
            arcs, relations = self.dependencies(words)
            scores = scores._replace(arcs=arcs, relations=relations)
        return scores


def build_network(header: Header) -> ParserNetwork:
    return ParserNetwork(**header)
