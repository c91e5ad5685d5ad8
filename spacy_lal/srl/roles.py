"""LISA's scores of roles, from a network's output and the heads that its paths go by."""

from __future__ import annotations

import torch
from torch import Tensor

from ..layers.label_factors import label_scores
from ..layers.role_paths import path_vectors
from ..layers.role_scorer import role_scores
from ..structure.paths import dependency_paths
from .network import LisaScores


def scores_of_roles(
    scores: LisaScores, sentences: Tensor, predicates: Tensor, heads: Tensor | None
) -> Tensor:
    """Scores [P,n,L] of the role labels of all words for P predicates.

    heads [B,n]: for a model with paths, which go by them and the model's relations of them.
    """
    added = None
    if scores.paths is not None:
        if heads is None:
            raise ValueError("a model with role_paths = true needs heads, and got none")
        paths = dependency_paths(heads, sentences, predicates)
        relations = _relations(scores, heads)
        added = path_vectors(scores.paths, paths, relations, sentences, predicates)
    return role_scores(scores.roles, sentences, predicates, added)


@torch.no_grad()
def _relations(scores: LisaScores, heads: Tensor) -> Tensor:
    """The best relation of every word to the head given [B,n]."""
    rows, at = torch.ones_like(heads, dtype=torch.bool).nonzero(as_tuple=True)
    pair_scores = label_scores(scores.relations, rows, at, heads[rows, at])
    return pair_scores.argmax(-1).view(heads.shape)


@torch.no_grad()
def likely_heads(scores: LisaScores, lengths: Tensor, given: Tensor | None = None) -> Tensor:
    """Each word's most probable head [B,n], a root its own, or the one given, if it is not -1."""
    if scores.arcs is None:
        raise ValueError(
            "this model finds no heads (syntax_layer = null), so it has no scores of heads"
        )
    words = torch.arange(scores.arcs.shape[1], device=scores.arcs.device)
    words = words < lengths.to(words.device).unsqueeze(1)
    heads = scores.arcs.masked_fill(~words.unsqueeze(1), -torch.inf).argmax(-1)
    return heads if given is None else torch.where(given >= 0, given, heads)
