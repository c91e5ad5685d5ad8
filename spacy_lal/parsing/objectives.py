"""Losses of parsers: registered objectives of trees, and the loss of heads."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import cast

import torch.nn.functional as F
from torch import Tensor

from ..structure.arborescence import mask_padding
from ..structure.distributions import LabelledTrees, Trees


class Objective(ABC):
    """A loss of constituents."""

    probabilistic = True
    """Whether scores are trained as log-probabilities."""
    labels_root = False
    """Whether the whole sentence is a constituent of all trees, also in training."""

    @abstractmethod
    def __call__(self, trees: Trees, gold: Tensor) -> Tensor:
        """Return the loss of each sentence [B]; gold labels of all spans [B, S], 0 for none."""


class CRFObjective(Objective):
    """The tree CRF's negative log-likelihood (`spacy-lal.crf_objective.v1`): -log p(T*)."""

    def __call__(self, trees: Trees, gold: Tensor) -> Tensor:
        return trees.cross_entropy(gold)


@dataclass(frozen=True)
class MarginObjective(Objective):
    """Max-margin loss of the label attention parser (`spacy-lal.margin_objective.v1`).

    max(0, max_T [s(T) + Delta(T, T*)] - s(T*)), Mrini et al. 2020, section 3.2, eqs. 8 and 9.
    labels_root: search and decode only trees with the whole sentence as a constituent, as in the
        released program (`spacy-lal.margin_objective.v2`). If T* has no such constituent, the
        maximum may be below s(T*).
    """

    labels_root: bool = False
    probabilistic = False

    def __call__(self, trees: Trees, gold: Tensor) -> Tensor:
        return cast(LabelledTrees, trees).margin(gold).clamp(min=0)


def make_margin_objective_v2() -> Objective:
    """The max-margin loss over trees that have the whole sentence as a constituent."""
    return MarginObjective(labels_root=True)


def word_loss(scores: Tensor, gold: Tensor) -> Tensor:
    """Cross-entropy of scores [B, n, C], summed over words; gold [B, n], -1 for none."""
    return F.cross_entropy(scores.flatten(0, 1), gold.flatten(), ignore_index=-1, reduction="sum")


def dependency_loss(
    arcs: Tensor, relations: Tensor, heads: Tensor, labels: Tensor, lengths: Tensor
) -> tuple[Tensor, Tensor]:
    """Cross-entropy of heads and of relations, each summed over words (Mrini et al. 2020, section
    3.3, eq. 11: L_d = -log P(h | d) - log P(l | d, h)).

    arcs [B, n, n+1]; relations [B, n, R] of words to their heads; heads [B, n], 0 the root; labels
    [B, n], the relations; -1 marks words without gold, which don't count.
    """
    arc_loss = word_loss(mask_padding(arcs, lengths), heads)
    return arc_loss, word_loss(relations, labels.masked_fill(heads < 0, -1))
