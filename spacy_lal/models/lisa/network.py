"""LISA as one PyTorch module, built from a JSON-able header."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ...layers.dropout import feature_dropout
from ...layers.label_factors import LabelFactors
from ...layers.lisa_encoder import LisaEncoder
from ...layers.role_paths import RolePaths
from ...layers.role_scorer import RoleScorer
from ...layers.rows import BiLSTMRows
from ..bridge.shim import TorchModule
from ..bridge.weights import Header


class LisaScores(NamedTuple):
    """What the network says of n padded words; None where it has no such scorer.

    joint [B,n,J]: part-of-speech tag and whether the word is a predicate, in one label;
    predicate, role and role_weight: the factors of `roles`; tags [B,n,T] of the BiLSTM below;
    arcs [B,n,n], the score of word j as the head of word i at [i,j], a root its own head;
    dependent, head and relation_weight: the factors of `relations`.
    paths [K,d]: the table of `path_vectors`.
    Weights are parameters; among the outputs, their gradients come back the way all others do.
    """

    joint: Tensor
    predicate: Tensor
    role: Tensor
    role_weight: Tensor
    tags: Tensor | None = None
    arcs: Tensor | None = None
    dependent: Tensor | None = None
    head: Tensor | None = None
    relation_weight: Tensor | None = None
    paths: Tensor | None = None

    @property
    def roles(self) -> LabelFactors:
        """What `role_scores` takes."""
        return LabelFactors(self.predicate, self.role, self.role_weight)

    @property
    def relations(self) -> LabelFactors:
        """What `label_scores` takes for pairs of dependent and head; ValueError without syntax."""
        if self.dependent is None or self.head is None or self.relation_weight is None:
            raise ValueError("these scores are of a model without syntax")
        return LabelFactors(self.dependent, self.head, self.relation_weight)


class LisaNetwork(TorchModule):
    """Word vectors [B,n,d_in], lengths [B] -> `LisaScores` (Strubell et al. 2018, figure 1).

    rows: settings of a `BiLSTMRows` below the encoder, which reads its states beside the word
    vectors, or None; encoder: of the `LisaEncoder`.
    The joint tags are read by a linear classifier (section 2.3) of d_tag leaky ReLUs (A.4).
    heads [B,n]: see `LisaEncoder`. d_indicator: of an embedding that tells each row's predicate,
    predicates [B], from its other words (-1: none); None: rows are encoded for all predicates.
    role_paths: see `RolePaths`.
    """

    def __init__(
        self,
        d_in: int,
        joint: Sequence[str],
        roles: Sequence[str],
        tags: Sequence[str],
        relations: Sequence[str],
        rows: dict[str, Any] | None,
        encoder: dict[str, Any],
        d_tag: int,
        d_predicate: int,
        d_role: int,
        role_rank: int | None,
        d_indicator: int | None = None,
        role_paths: bool = False,
    ) -> None:
        super().__init__()
        self.rows: BiLSTMRows | None = None
        if rows is not None:
            settings = {key: value for key, value in rows.items() if key != "kind"}
            self.rows = BiLSTMRows(d_in, max(1, len(tags)), **settings)
            d_in += self.rows.output_dim
        self.indicator: nn.Embedding | None = None
        if d_indicator is not None:
            self.indicator = nn.Embedding(2, d_indicator)
            d_in += d_indicator
        self.encoder = LisaEncoder(d_in, max(1, len(relations)), positions=rows is None, **encoder)
        width = encoder["n_heads"] * encoder["d_head"]
        self.tag_hidden = nn.Linear(width, d_tag)
        self.joint = nn.Linear(d_tag, max(1, len(joint)))
        self.roles = RoleScorer(
            width, max(1, len(roles)), d_predicate=d_predicate, d_role=d_role, rank=role_rank
        )
        self.paths: RolePaths | None = None
        if role_paths:
            self.paths = RolePaths(
                max(1, len(relations)), d_role if role_rank is None else role_rank
            )
        self.dropout = 0.0

    def set_dropout(self, rate: float) -> None:
        self.dropout = self.roles.dropout = rate
        self.encoder.set_dropout(rate)
        if self.paths is not None:
            self.paths.dropout = rate
        if self.rows is not None:
            self.rows.set_dropout(rate)

    def forward(
        self,
        x: Tensor,
        lengths: Tensor,
        heads: Tensor | None = None,
        predicates: Tensor | None = None,
    ) -> LisaScores:
        tags = None
        words = feature_dropout(x, self.dropout, self.training)
        if self.rows is not None:
            rows, tags = self.rows(x, lengths)
            # roles depend on what words mean, of which a BiLSTM trained for trees need keep little
            words = torch.cat([words, rows[:, 1:-1]], -1)
        x = words
        positions = torch.arange(x.shape[1], device=x.device)
        mask = positions < lengths.unsqueeze(1)
        if self.indicator is not None and predicates is not None:
            here = (positions == predicates.unsqueeze(1)).long()
            x = torch.cat([x, self.indicator(here)], -1)
        encoded = self.encoder(x, mask, heads)
        hidden = F.leaky_relu(self.tag_hidden(encoded.tagged), 0.1)
        joint = self.joint(feature_dropout(hidden, self.dropout, self.training))
        predicate, role, role_weight = self.roles(encoded.encoded)
        scores = LisaScores(joint, predicate, role, role_weight, tags)
        if self.paths is not None:
            scores = scores._replace(paths=self.paths())
        if encoded.relations is None:
            return scores
        dependent, head, weight = encoded.relations
        return scores._replace(
            arcs=encoded.arcs, dependent=dependent, head=head, relation_weight=weight
        )


def build_network(header: Header) -> LisaNetwork:
    return LisaNetwork(**header)
