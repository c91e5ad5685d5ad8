"""Scores of dependency arcs and of their relations."""

from __future__ import annotations

from typing import Literal

import torch.nn.functional as F
from torch import Tensor, nn

from .biaffine import Biaffine
from .dropout import FeatureDropout

RelationOf = Literal["pair", "dependent"]


class DependencyScorer(nn.Module):
    """Biaffine scores of heads (Mrini et al. 2020, section 3.3, eq. 10) and of relations, for which
    the paper has no equation.

    x [B,n+1,d_in], row 0 the root and row k word k -> arcs [B,n,n+1], the score of head h for
    word d + 1 at [d,h]; relations [B,n,n+1,R], the scores of that arc's relations.

    `relation_of="pair"` scores relations of dependent and head, P(l | d, h), as the paper says;
    `"dependent"` of the dependent alone, in its roles of head and of dependent, as the released
    code does: relations are [B,n,1,R] then. Every row is projected to d_arc as a head and as a
    dependent, and to d_relation twice more, each with a ReLU behind, or, with a `slope`, a leaky
    one. Dropout drops projected features, the same ones in all rows of a sentence; `dropout` is its
    rate, None the training's.
    """

    def __init__(
        self,
        d_in: int,
        n_relations: int,
        *,
        d_arc: int,
        d_relation: int,
        relation_of: RelationOf = "pair",
        dropout: float | None = None,
        slope: float = 0.0,
    ) -> None:
        super().__init__()
        if relation_of not in ("pair", "dependent"):
            raise ValueError(f"relation_of must be 'pair' or 'dependent', not {relation_of!r}")
        self.relation_of, self.slope = relation_of, slope
        self.arc_head = nn.Linear(d_in, d_arc)
        self.arc_dependent = nn.Linear(d_in, d_arc)
        self.relation_head = nn.Linear(d_in, d_relation)
        self.relation_dependent = nn.Linear(d_in, d_relation)
        self.arc = Biaffine(d_arc, d_arc)
        self.relation = Biaffine(d_relation, d_relation, n_relations)
        self.dropout = FeatureDropout(dropout)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        heads, dependents = self._view(self.arc_head, x), self._view(self.arc_dependent, x[:, 1:])
        arcs = self.arc(heads, dependents).squeeze(-1).transpose(1, 2)
        governors = self._view(self.relation_head, x)
        governed = self._view(self.relation_dependent, x[:, 1:])
        if self.relation_of == "dependent":
            return arcs, self.relation.position_by_position(governors[:, 1:], governed).unsqueeze(2)
        return arcs, self.relation(governors, governed).transpose(1, 2)

    def _view(self, projection: nn.Linear, x: Tensor) -> Tensor:
        view: Tensor = self.dropout(F.leaky_relu(projection(x), self.slope))
        return view
