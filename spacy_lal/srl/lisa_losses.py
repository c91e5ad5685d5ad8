"""LISA's losses: one cross-entropy a task (Strubell et al. 2018, eq. 7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from ..layers.label_factors import label_scores
from .network import LisaScores, mask_words


class GoldFrames(NamedTuple):
    """The predicates of a padded batch: word predicates[k] of sentence sentences[k] [P], and the
    role label of every word for each of them [P,n], -1 where it is not known."""

    sentences: Tensor
    predicates: Tensor
    roles: Tensor


def joint_label(tag: str, is_predicate: bool) -> str:
    """The label of a word's tag and whether it is a predicate, as "VBD/True"."""
    return f"{tag}/{is_predicate}"


def split_joint_label(label: str) -> tuple[str, bool]:
    """Undo `joint_label`."""
    tag, _, is_predicate = label.rpartition("/")
    return tag, is_predicate == "True"


def allowed_joint_labels(joint: Sequence[str], tags: Sequence[str]) -> Tensor:
    """Which joint labels agree with what is known of a word: [T + 1, 3, J].

    The first index is a word's tag, the second whether it is a predicate (0 or 1); -1, the last
    row of each, says that this is not known.
    """
    pairs = [split_joint_label(label) for label in joint]
    agrees = [[tag == known for tag, _ in pairs] for known in tags]
    tag_agrees = torch.tensor(agrees, dtype=torch.bool).view(len(tags), len(joint))
    predicate = torch.tensor([is_predicate for _, is_predicate in pairs], dtype=torch.bool)
    tag_agrees = torch.cat([tag_agrees, torch.ones(1, len(joint), dtype=torch.bool)])
    predicate_agrees = torch.stack([~predicate, predicate, torch.ones_like(predicate)])
    return tag_agrees.unsqueeze(1) & predicate_agrees


def joint_loss(joint: Tensor, allowed: Tensor) -> Tensor:
    """-log P(one of the labels that agree with gold), summed over words.

    joint [B,n,J], allowed [B,n,J]. With tag and predicate known that is cross-entropy, the paper's
    (section 2.3), whose gold labels are always whole. Words of which nothing is known, or which
    nothing agrees with, do not count.
    """
    known = allowed.any(-1) & ~allowed.all(-1)
    joint, allowed = joint[known], allowed[known]
    agreeing = joint.masked_fill(~allowed, -torch.inf).logsumexp(-1)
    return (joint.logsumexp(-1) - agreeing).sum()


def parse_loss(
    scores: LisaScores, heads: Tensor, labels: Tensor, lengths: Tensor
) -> tuple[Tensor, Tensor]:
    """Cross-entropy of heads and of the relations to gold heads, each summed over words.

    heads [B,n] by words counted from 0, a root its own head, and labels [B,n]; -1 where there is
    no gold. Padding is nobody's head.
    """
    assert scores.arcs is not None
    known = heads >= 0
    arcs = mask_words(scores.arcs, lengths)[known]
    arc_loss = F.cross_entropy(arcs, heads[known], reduction="sum")
    rows, at = (known & (labels >= 0)).nonzero(as_tuple=True)
    relations = label_scores(scores.relations, rows, at, heads[rows, at])
    return arc_loss, F.cross_entropy(relations, labels[rows, at], reduction="sum")


def role_loss(
    scores: LisaScores, gold: GoldFrames, smoothing: float, heads: Tensor | None = None
) -> Tensor:
    """Cross-entropy of role labels with label smoothing, summed over predicates and words.

    heads: see `LisaScores.roles_of`.
    """
    role_scores = scores.roles_of(gold.sentences, gold.predicates, heads)
    known = gold.roles >= 0
    return F.cross_entropy(
        role_scores[known], gold.roles[known], reduction="sum", label_smoothing=smoothing
    )
