"""Scores of dependency arcs and of their relations."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch.nn.functional as F
from torch import Tensor, nn

from .biaffine import Biaffine, LabelFactors
from .dropout import FeatureDropout
from .integers import Linear, products
from .settings import Settings


@dataclass(frozen=True)
class DependencySettings(Settings):
    """Biaffine scores of heads and relations (`spacy-lal.BiaffineDependencies.v1`).

    arc_width, relation_width: width of the projections. relation_of: score relations of dependent
    and head, P(l | d, h), as the paper says ("pair"), or of the dependent alone, as head and as
    dependent, as in the paper's released code. read: the annotations of the words, or the
    fenceposts of spans (the released code). dropout: rate for projected rows; None: the rate of the
    training."""

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


class DependencyScorer(nn.Module):
    """Biaffine scores of heads (Mrini et al. 2020, section 3.3, eq. 10) and of relations.

    x [B,n+1,d_in], row 0 the root and row k word k -> arcs [B,n,n+1], the score of head h for word
    d + 1 at [d,h]; and the factors of relations: views of all n+1 heads (or, of the dependent
    alone, of the n words as heads) and of n dependents. Only relations of chosen arcs are ever
    scored. Projections have a ReLU or, given a `slope`, a leaky one. Dropout is the same in all
    rows of a sentence.
    """

    def __init__(
        self,
        settings: DependencySettings,
        d_in: int,
        n_relations: int,
        *,
        slope: float = 0.0,
        linear: type[nn.Linear] = nn.Linear,
    ) -> None:
        """linear: the class of the projections."""
        super().__init__()
        self.relation_of, self.slope = settings.relation_of, slope
        d_arc, d_relation = settings.arc_width, settings.relation_width
        self.arc_head = linear(d_in, d_arc)
        self.arc_dependent = linear(d_in, d_arc)
        self.relation_head = linear(d_in, d_relation)
        self.relation_dependent = linear(d_in, d_relation)
        rounds = issubclass(linear, Linear)
        self.arc = Biaffine(d_arc, d_arc, rounds=rounds)
        self.relation = Biaffine(d_relation, d_relation, n_relations, rounds=rounds)
        self.dropout = FeatureDropout(settings.dropout)

    def forward(self, x: Tensor) -> tuple[Tensor, LabelFactors]:
        projections = self.arc_head, self.arc_dependent, self.relation_head, self.relation_dependent
        heads, dependents, governors, governed = map(self._view, products(projections, x))
        dependents, governed = dependents[:, 1:], governed[:, 1:]
        arcs = self.arc(heads, dependents).squeeze(-1).transpose(1, 2)
        if self.relation_of == "dependent":
            governors = governors[:, 1:]
        return arcs, self.relation.factors(governors, governed)

    def _view(self, projected: Tensor) -> Tensor:
        return self.dropout(F.leaky_relu(projected, self.slope))
