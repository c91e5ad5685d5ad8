"""Scores of every word's role for every predicate (Strubell et al. 2018, section 2.4)."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .biaffine import LabelFactors, RoundedMatrices, label_product
from .dropout import FeatureDropout
from .integers import Linear
from .settings import Settings


@dataclass(frozen=True)
class RoleScorerSettings(Settings):
    """Settings of `RoleScorer`. The numbers in brackets are the paper's.

    predicate_width, role_width: width of the perceptron's views of a word (200, 200). role_rank:
    number of rank-one matrices that the roles share; null: each role has a full matrix, as in the
    paper."""

    predicate_width: int = 200
    role_width: int = 200
    role_rank: int | None = None


def role_scores(
    factors: LabelFactors, sentences: Tensor, predicates: Tensor, added: Tensor | None = None
) -> Tensor:
    """Returns label scores [P,n,L] of all n words for P predicates (eq. 6).

    The k-th predicate is word predicates[k] of sentence sentences[k]. added [P,n,b], as wide as
    factors.right: vectors to add to the words' vectors by predicate.
    """
    predicate_vectors = factors.left[sentences, predicates]
    word_vectors = factors.right.index_select(0, sentences)
    if added is not None:
        word_vectors += added
    weight = factors.weight
    if isinstance(weight, RoundedMatrices):
        label_vectors = weight.of_left(predicate_vectors)
    elif weight.dim() == 2:
        label_vectors = predicate_vectors.unsqueeze(1) * weight[:, :-1]  # [P, L, r]
        return word_vectors @ label_vectors.transpose(1, 2) + weight[:, -1]
    else:
        label_vectors = (F.pad(predicate_vectors, (0, 1), value=1.0) @ weight).transpose(0, 1)
    # [r;1] without writing the ones behind every word
    vectors, added_to_all = label_vectors.split([word_vectors.shape[2], 1], 2)
    return torch.baddbmm(added_to_all.transpose(1, 2), word_vectors, vectors.transpose(1, 2))


class RoleScorer(nn.Module):
    """x [B,n,d_in] -> the factors of role scores, s(f, t) = [p_f;1]^T U_l [r_t;1] (eq. 6).

    One perceptron with a leaky ReLU gives a word's views as a predicate and as an argument.
    """

    def __init__(self, settings: RoleScorerSettings, d_in: int, n_labels: int) -> None:
        super().__init__()
        d_predicate, d_role = settings.predicate_width, settings.role_width
        self.sizes = [d_predicate, d_role]
        self.views = Linear(d_in, d_predicate + d_role)
        nn.init.xavier_uniform_(self.views.weight)
        nn.init.zeros_(self.views.bias)
        self.product = label_product(d_predicate, d_role, n_labels, settings.role_rank, rounds=True)
        self.dropout = FeatureDropout()

    def forward(self, x: Tensor) -> LabelFactors:
        views = self.dropout(F.leaky_relu(self.views(x), 0.1))
        return self.product.factors(*views.split(self.sizes, -1))
