"""LISA's losses: one cross-entropy for each task (Strubell et al. 2018, eq. 7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

import torch
import torch.nn.functional as F
from torch import Tensor

from ..layers.label_factors import label_scores
from ..structure.arborescence import mask_padding
from .network import LisaScores


class GoldFrames(NamedTuple):
    """Predicates of a padded batch: word predicates[k] of sentence sentences[k] [P], with role
    labels [P,n] of all words, -1 if unknown."""

    sentences: Tensor
    predicates: Tensor
    roles: Tensor


def joint_label(tag: str, is_predicate: bool) -> str:
    """Return the joint label of a tag and whether it is a predicate's, such as "VBD/True"."""
    return f"{tag}/{is_predicate}"


def split_joint_label(label: str) -> tuple[str, bool]:
    """Undo `joint_label`."""
    tag, _, is_predicate = label.rpartition("/")
    return tag, is_predicate == "True"


def allowed_joint_labels(joint: Sequence[str], tags: Sequence[str]) -> Tensor:
    """Return the joint labels that agree with known annotation [T + 1, 3, J]. Indices: a word's
    tag, and whether it is a predicate (0 or 1); the last row of each, -1, stands for unknown."""
    pairs = [split_joint_label(label) for label in joint]
    agrees = [[tag == known for tag, _ in pairs] for known in tags]
    tag_agrees = torch.tensor(agrees, dtype=torch.bool).view(len(tags), len(joint))
    predicate = torch.tensor([is_predicate for _, is_predicate in pairs], dtype=torch.bool)
    tag_agrees = torch.cat([tag_agrees, torch.ones(1, len(joint), dtype=torch.bool)])
    predicate_agrees = torch.stack([~predicate, predicate, torch.ones_like(predicate)])
    return tag_agrees.unsqueeze(1) & predicate_agrees


def joint_loss(joint: Tensor, allowed: Tensor) -> Tensor:
    """Return -log P(one of the labels that agree with gold), summed over words.
    joint, allowed: [B,n,J]. With tag and predicate known, this is the paper's cross-entropy
        (section 2.3). Words without gold or without an agreeing label don't count."""
    known = allowed.any(-1) & ~allowed.all(-1)
    joint, allowed = joint[known], allowed[known]
    agreeing = joint.masked_fill(~allowed, -torch.inf).logsumexp(-1)
    return (joint.logsumexp(-1) - agreeing).sum()


def parse_loss(
    scores: LisaScores, heads: Tensor, labels: Tensor, lengths: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the cross-entropies of heads and of relations to gold heads, summed over words.
    heads: [B,n], words from 0, a root its own head. labels: [B,n]. -1 marks missing gold."""
    known = heads >= 0
    arcs = mask_padding(cast(Tensor, scores.arcs), lengths)[known]
    arc_loss = F.cross_entropy(arcs, heads[known], reduction="sum")
    rows, at = (known & (labels >= 0)).nonzero(as_tuple=True)
    relations = label_scores(scores.relations, rows, at, heads[rows, at])
    return arc_loss, F.cross_entropy(relations, labels[rows, at], reduction="sum")


def role_loss(
    scores: LisaScores, gold: GoldFrames, smoothing: float, heads: Tensor | None = None
) -> Tensor:
    """Return the smoothed cross-entropy of role labels, summed over predicates and words."""
    role_scores = scores.roles_of(gold.sentences, gold.predicates, heads)
    known = gold.roles >= 0
    return F.cross_entropy(
        role_scores[known], gold.roles[known], reduction="sum", label_smoothing=smoothing
    )
