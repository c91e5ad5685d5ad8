"""The label attention parser as one PyTorch module, built from a JSON-able header."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from ..layers.encoder import LabelAttentionEncoder
from ..layers.rows import BiLSTMRows, PositionRows, row_mask
from ..layers.span_scorer import SpanScorer
from .bridge import Header, TorchModule


class ParserNetwork(TorchModule):
    """Word vectors [B, n, d_in], lengths [B] -> label scores [B, S, L], tag scores [B, n, T].

    Rows (`layers/rows.py`), the encoder with its Label Attention Layer (`layers/encoder.py`),
    fenceposts, span scorer: Mrini et al. 2020, figure 4, constituency half. The chart is packed by
    width (`structure/chart.py`); label 0 is "no constituent".
    """

    def __init__(
        self,
        d_in: int,
        labels: list[str],
        tags: list[str],
        rows: dict[str, Any],
        encoder: dict[str, Any],
        d_hidden: int,
    ) -> None:
        super().__init__()
        settings = dict(rows)
        kind = {"bilstm": BiLSTMRows, "positions": PositionRows}[settings.pop("kind")]
        self.rows = kind(d_in, max(1, len(tags)), **settings)
        self.encoder = LabelAttentionEncoder(self.rows.output_dim, **encoder)
        self.scorer = SpanScorer(self.encoder.output_dim, d_hidden, len(labels) + 1)

    def set_dropout(self, rate: float) -> None:
        self.rows.set_dropout(rate)
        for layer in self.encoder.modules():
            for dropout in ("attention_dropout", "relu_dropout", "residual_dropout"):
                if hasattr(layer, dropout):
                    setattr(layer, dropout, rate)
        if self.encoder.label_attention is not None:
            # off in the paper's best model
            self.encoder.label_attention.residual_dropout = 0.0
        self.scorer.dropout = rate

    def forward(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        rows, tags = self.rows(x, lengths)
        annotations = self.encoder(rows, row_mask(lengths, x.shape[1]))
        return self.scorer(self.encoder.fenceposts(annotations)), tags


def build_network(header: Header) -> ParserNetwork:
    return ParserNetwork(**header)
