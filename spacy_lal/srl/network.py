"""LISA as one PyTorch module, built from a JSON-able header."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..bridge.weights import Header
from ..layers.dropout import FeatureDropout
from ..layers.input_encoders import BiLSTMInputEncoder
from ..layers.label_factors import LabelFactors
from ..layers.role_paths import RolePaths
from ..layers.role_scorer import RoleScorer
from .settings import LisaSettings


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
            raise ValueError(
                "this model finds no heads (syntax_layer = null), so it has no scores of relations"
            )
        return LabelFactors(self.dependent, self.head, self.relation_weight)


class LisaNetwork(nn.Module):
    """Word vectors [B,n,d_in], lengths [B] -> `LisaScores` (Strubell et al. 2018, figure 1).

    A BiLSTM, if the settings have one, stands below the encoder, which reads its states beside the
    word vectors. The joint tags are read by a linear classifier (section 2.3) of leaky
    ReLUs (A.4). heads [B,n]: see `LisaEncoder`. An indicator is an embedding that tells each row's
    predicate, predicates [B], from its other words (-1: none); without one, rows are encoded for
    all predicates.
    """

    def __init__(
        self,
        settings: LisaSettings,
        d_in: int,
        *,
        joint: int,
        roles: int,
        tags: int,
        relations: int,
    ) -> None:
        """joint, roles, tags, relations: how many names there are of each."""
        super().__init__()
        self.input_encoder: BiLSTMInputEncoder | None = None
        if settings.input_encoder is not None:
            self.input_encoder = settings.input_encoder.build(d_in, tags)
            d_in += self.input_encoder.output_dim
        self.indicator: nn.Embedding | None = None
        if settings.indicator_width is not None:
            self.indicator = nn.Embedding(2, settings.indicator_width)
            d_in += settings.indicator_width
        self.encoder = settings.build_encoder(d_in, relations)
        self.tag_hidden = nn.Linear(settings.width, settings.tag_width)
        self.joint = nn.Linear(settings.tag_width, joint)
        self.roles = RoleScorer(
            settings.width,
            roles,
            d_predicate=settings.predicate_width,
            d_role=settings.role_width,
            rank=settings.role_rank,
        )
        self.paths: RolePaths | None = None
        if settings.role_paths:
            width = settings.role_width if settings.role_rank is None else settings.role_rank
            self.paths = RolePaths(relations, width)
        self.dropout = FeatureDropout()

    def forward(
        self,
        x: Tensor,
        lengths: Tensor,
        heads: Tensor | None = None,
        predicates: Tensor | None = None,
    ) -> LisaScores:
        tags = None
        words = self.dropout(x)
        if self.input_encoder is not None:
            rows, tags = self.input_encoder(x, lengths)
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
        joint = self.joint(self.dropout(hidden))
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
    """The network of a header: d_in, `settings`, and the names of its outputs."""
    sizes = {name: max(1, len(header[name])) for name in ("joint", "roles", "tags", "relations")}
    return LisaNetwork(LisaSettings.from_json(header["settings"]), header["d_in"], **sizes)
