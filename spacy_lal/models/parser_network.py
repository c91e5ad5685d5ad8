"""The label attention parser as one PyTorch module, built from a JSON-able header."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from torch import Tensor

from ..layers.dependency_scorer import DependencyScorer
from ..layers.encoder import LabelAttentionEncoder
from ..layers.rows import BiLSTMRows, PositionRows, row_mask
from ..layers.span_scorer import SpanScorer
from .bridge import Header, TorchModule


class Scores(NamedTuple):
    """What the network says of padded sentences; None where it has no such scorer.

    labels: packed charts of label scores [B, S, L], label 0 "no constituent"; tags [B, n, T];
    arcs [B, n, n+1], the score of head h (0 the root) for word d + 1 at [d, h]; relations
    [B, n, n+1, R] of these arcs, or [B, n, 1, R] if they don't depend on the head.
    """

    labels: Tensor | None
    tags: Tensor
    arcs: Tensor | None
    relations: Tensor | None


class ParserNetwork(TorchModule):
    """Word vectors [B, n, d_in], lengths [B] -> `Scores`.

    Rows (`layers/rows.py`), the encoder with its Label Attention Layer (`layers/encoder.py`),
    and what is read off its annotations: fenceposts and the span scorer, arcs and relations
    (Mrini et al. 2020, figure 4).

    d_hidden: of the span scorer; None leaves it out. dependencies: settings of the
    `DependencyScorer` and `read`, what it reads: "words", the annotations of START (for the root)
    and of the words, or "fenceposts", as the released code does; None leaves it out.
    """

    def __init__(
        self,
        d_in: int,
        labels: list[str],
        tags: list[str],
        rows: dict[str, Any],
        encoder: dict[str, Any],
        d_hidden: int | None,
        relations: Sequence[str] = (),
        dependencies: dict[str, Any] | None = None,
    ) -> None:
        super().__init__()
        settings = dict(rows)
        kind = {"bilstm": BiLSTMRows, "positions": PositionRows}[settings.pop("kind")]
        self.rows = kind(d_in, max(1, len(tags)), **settings)
        self.encoder = LabelAttentionEncoder(self.rows.output_dim, **encoder)
        width = self.encoder.output_dim
        self.scorer: SpanScorer | None = None
        if d_hidden is not None:
            self.scorer = SpanScorer(width, d_hidden, len(labels) + 1)
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

    def forward(self, x: Tensor, lengths: Tensor) -> Scores:
        rows, tags = self.rows(x, lengths)
        annotations = self.encoder(rows, row_mask(lengths, x.shape[1]))
        labels = arcs = relations = None
        fenceposts = self.encoder.fenceposts(annotations)
        if self.scorer is not None:
            labels = self.scorer(fenceposts)
        if self.dependencies is not None:
            words = fenceposts if self.read_fenceposts else annotations[:, :-1]
            arcs, relations = self.dependencies(words)
        return Scores(labels, tags, arcs, relations)


def build_network(header: Header) -> ParserNetwork:
    return ParserNetwork(**header)
