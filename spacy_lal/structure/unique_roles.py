"""The best label sequences in which some labels occur at most once."""

from __future__ import annotations

import torch
from torch import Tensor

from .sequence import BestPaths, viterbi

MOST_STATES = 1 << 24
"""Of all words of the sequences that are searched together: 64 MB of 32-bit floats."""


@torch.no_grad()
def unique_viterbi(
    scores: Tensor,
    lengths: Tensor,
    transitions: Tensor,
    start: Tensor | None,
    unique: Tensor,
) -> BestPaths:
    """As `viterbi`, of the sequences in which each label of `unique` [C] occurs at most once.

    Exact. The first search has no such constraint, and each next one constrains those labels which
    the sequence before has more than once. A sequence that breaks no constraint is the best of a
    set that has all allowed ones in it, so it is the best of these. The cost is that of one search,
    and for every sequence that is searched again 2^k times as much, with k its constrained labels.
    """
    labels, score = viterbi(scores, lengths, transitions, start)
    lengths, unique = lengths.to(labels), unique.to(labels)
    constrained = torch.zeros(len(labels), len(unique), dtype=torch.bool, device=labels.device)
    rows = torch.arange(len(labels), device=labels.device)
    while True:
        # a repeated label that is constrained already: every allowed sequence has -inf
        repeated = _repeated(labels[rows], lengths[rows], unique) & ~constrained[rows]
        broken = repeated.any(1)
        rows = rows[broken]
        if not len(rows):
            return BestPaths(labels, score)
        constrained[rows] |= repeated[broken]
        # as many labels of each sequence as of that with the most: what is not constrained is
        # replaced by one that is
        k = int(constrained[rows].sum(1).max())
        n = int(lengths[rows].max())
        for part in rows.split(max(1, (MOST_STATES >> k) // (n * scores.shape[2]))):
            known, which = constrained[part].byte().topk(k)
            once = unique[which.where(known > 0, which[:, :1])]
            found = viterbi(scores[part, :n], lengths[part], transitions, start, once)
            labels[part, :n], score[part] = found


def _repeated(labels: Tensor, lengths: Tensor, unique: Tensor) -> Tensor:
    """Which of the labels `unique` each sequence has more than once: [B, C]."""
    words = torch.arange(labels.shape[1], device=labels.device) < lengths.unsqueeze(1)
    return (labels.where(words, -1).unsqueeze(2) == unique).sum(1) > 1
