"""LISA's marginal probabilities of a teacher as training targets of another LISA: of joint labels,
and of the role labels of each likely predicate (Hinton et al. 2015). See
`parsing/teacher_marginals.py`, which keeps them on the Doc with the parser's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy
import torch
from numpy.typing import NDArray
from spacy.tokens import Doc
from torch import Tensor

from ..annotations.frames import get_frames
from ..batching.sentences import Sentence
from ..layers.biaffine import label_scores
from ..parsing.teacher_marginals import (
    FINAL_SHARE,
    Targets,
    dense_targets,
    keep_likely,
    soft_word_loss,
)
from ..structure.arborescence import mask_padding
from .gold_frames import OUTSIDE, split_joint_label
from .network import LisaBatch, LisaScores

LEAST_PREDICATE = 0.05
"""Least probability of a predicate whose roles are targets."""


@torch.no_grad()
def find_frame_targets(
    pipe: Any, batch: LisaBatch, row: int, doc: Doc, targets: Targets
) -> Targets:
    """Return targets with those of a `lisa_srl`: joint labels, and roles but for "O".

    batch: scores of sentences, of which `row` is that of the Doc. doc: the sentence with its final
    frames, which have FINAL_SHARE of the probability of a role, as final heads have elsewhere.
    """
    n = len(doc)
    scores = _of_row(batch.scores, row, n)
    joint = torch.softmax(scores.joint[0], -1)
    targets = keep_likely(targets, "joint", joint, pipe.cfg["joint"])
    verbs = torch.tensor([split_joint_label(label)[1] for label in pipe.cfg["joint"]])
    certainty = joint[:, verbs.to(joint.device)].sum(-1)
    predicates = (certainty >= LEAST_PREDICATE).nonzero().squeeze(1)
    names = pipe.cfg["roles"]
    heads = None
    if scores.paths is not None:
        given = None if batch.heads is None else batch.heads[row : row + 1, :n]
        heads = scores.likely_heads(torch.tensor([n]), given)
    first = torch.zeros_like(predicates)
    roles = torch.softmax(scores.roles_of(first, predicates, heads), -1)
    number = {name: k for k, name in enumerate(names)}
    at = {i: k for k, i in enumerate(predicates.tolist())}
    for frame in get_frames(doc, pipe.spans_key):
        if (k := at.get(frame.predicate.i)) is None:
            continue
        final = torch.full((n,), number[OUTSIDE], device=roles.device)
        for span in frame.spans:
            final[span.start : span.end] = number.get(f"I-{span.label_}", number[OUTSIDE])
            final[span.start] = number.get(f"B-{span.label_}", number[OUTSIDE])
        roles[k] *= 1 - FINAL_SHARE
        roles[k, torch.arange(n), final] += FINAL_SHARE
    roles[..., number[OUTSIDE]] = 0.0
    targets = keep_likely(targets, "roles", roles, names)
    places = targets.places["roles"]
    places[:, 0] = predicates.cpu().numpy()[places[:, 0]]
    return targets


def _of_row(scores: LisaScores, row: int, n: int) -> LisaScores:
    """Return the scores of one sentence of n words, as a batch of one."""
    rows = {
        name: of[row : row + 1, :n]
        for name in ("joint", "predicate", "role", "arcs", "dependent", "head")
        if (of := getattr(scores, name)) is not None
    }
    if "arcs" in rows:
        rows["arcs"] = rows["arcs"][..., :n]
    return scores._replace(**rows)


def has_frames(targets: Targets) -> bool:
    """Return whether a teacher's LISA is among the targets."""
    return "roles" in targets.places


def likely_heads(targets: Targets) -> NDArray[numpy.int64]:
    """Return the likeliest head of each word [n], by words; a root is its own head."""
    places, p = targets.places["heads"], targets.probabilities["heads"]
    words, heads = places[numpy.argsort(p, kind="stable")].T
    likeliest = numpy.zeros(words.max(initial=-1) + 1, dtype=numpy.int64)
    likeliest[words] = heads  # the last of each word stays
    return numpy.where(likeliest == 0, numpy.arange(len(likeliest)), likeliest - 1)


class TaughtFrames(NamedTuple):
    """Targets of a padded batch.

    rows: indices of its sentences with targets. tags [R,n,T], joint [R,n,J], relations [R,n,L], and
    heads [R,n,n] with roots as their own heads: probabilities. sentences, predicates [P]: row and
    word of each likely predicate. roles [P,n,L]: probability of its role labels, times that of the
    predicate; 0 outside the sentence. The probability of a role that the student lacks trains
    nothing.
    """

    rows: Tensor
    tags: Tensor
    joint: Tensor
    heads: Tensor
    relations: Tensor
    sentences: Tensor
    predicates: Tensor
    roles: Tensor

    def with_heads(self, heads: Tensor) -> Tensor:
        """Return heads [B,n] with the likeliest ones of sentences with targets."""
        return heads.index_copy(0, self.rows, self.heads.argmax(-1))


def batch_targets(
    members: Sequence[Sentence],
    of_docs: Sequence[Targets | None],
    like: Tensor,
    cfg: dict[str, Any],
) -> TaughtFrames | None:
    """Return the targets of the sentences of a batch, None without any. like: a tensor [B,n,...].
    cfg: the student's names by kind."""
    found = [(k, t) for k, s in enumerate(members) if (t := of_docs[s.doc]) is not None]
    if not found:
        return None
    rows, taught = map(list, zip(*found, strict=True))
    index = {
        kind: {name: k for k, name in enumerate(cfg[kind])}
        for kind in ("tags", "joint", "relations", "roles")
    }
    n, verbs = like.shape[1], [split_joint_label(label)[1] for label in cfg["joint"]]
    joint = dense_targets(taught, "joint", like, index["joint"])
    by_root = dense_targets(taught, "heads", like, None)
    certainty = joint[..., torch.tensor(verbs, device=like.device)].sum(-1)
    pairs: list[tuple[int, int]] = []
    entries: list[NDArray[numpy.int64]] = []
    values: list[NDArray[numpy.float32]] = []
    for k, targets in enumerate(taught):
        # a role that the student lacks has the last number
        numbers = numpy.array([index["roles"].get(name, -1) for name in targets.names])
        places, p = targets.places["roles"], targets.probabilities["roles"]
        words, frame = numpy.unique(places[:, 0], return_inverse=True)
        entries.append(
            numpy.column_stack([len(pairs) + frame, places[:, 1], numbers[places[:, 2]]])
        )
        values.append(p)
        pairs += [(k, word) for word in words.tolist()]
    at = torch.tensor(pairs, dtype=torch.long, device=like.device).view(-1, 2)
    roles = like.new_zeros(len(pairs), n, len(index["roles"]) + 1)
    places_of = torch.from_numpy(numpy.concatenate(entries)).to(like.device)
    of_places = torch.from_numpy(numpy.concatenate(values)).to(like)
    roles.index_put_(tuple(places_of.T), of_places, accumulate=True)
    lengths = torch.tensor([len(members[rows[k]].words) for k, _ in pairs], device=like.device)
    within = torch.arange(n, device=like.device) < lengths.unsqueeze(1)
    roles[..., index["roles"][OUTSIDE]] = (1 - roles.sum(-1)).clamp(min=0) * within
    roles = roles[..., :-1]
    of_rows = torch.tensor(rows, device=like.device)
    return TaughtFrames(
        of_rows,
        dense_targets(taught, "tags", like, index["tags"]),
        joint,
        by_root[..., 1:] + by_root[..., :1] * torch.eye(n, dtype=like.dtype, device=like.device),
        dense_targets(taught, "relations", like, index["relations"]),
        of_rows[at[:, 0]],
        at[:, 1],
        roles * certainty[at[:, 0], at[:, 1], None, None],
    )


def soft_role_loss(scores: LisaScores, taught: TaughtFrames, heads: Tensor | None) -> Tensor:
    """Return the cross-entropy of role labels with the teacher's, summed over predicates and words.
    heads [B,n]: those that role paths go by."""
    found = scores.roles_of(taught.sentences, taught.predicates, heads)
    return soft_word_loss(found, taught.roles)


def soft_parse_losses(
    scores: LisaScores, taught: TaughtFrames, lengths: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the cross-entropies of arcs and of relations of the likeliest heads, summed."""
    assert scores.arcs is not None
    arcs = mask_padding(scores.arcs, lengths)[taught.rows]
    heads = taught.heads.argmax(-1)
    rows = taught.rows.unsqueeze(1).expand_as(heads)
    words = torch.arange(heads.shape[1], device=heads.device).expand_as(heads)
    relations = label_scores(scores.relations, rows.flatten(), words.flatten(), heads.flatten())
    relations = relations.view(*heads.shape, -1)
    return soft_word_loss(arcs, taught.heads), soft_word_loss(relations, taught.relations)
