"""Sequences of labels: the best one (Viterbi), transitions, and spans as BIO labels.

In a BIO sequence `B-X` begins a span labelled X, `I-X` continues it and `O` is outside. X may have
a prefix of its own, as in `B-C-ARG1`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from ..trees.tree import LabelledSpan


class BestPaths(NamedTuple):
    """The best sequence of labels of each sentence."""

    labels: Tensor
    """[B, n] int64, 0 past a sequence's end."""
    score: Tensor
    """[B], the sum of the path's scores and transitions; -inf if every path is forbidden."""


@torch.no_grad()
def viterbi(
    scores: Tensor,
    lengths: Tensor,
    transitions: Tensor,
    start: Tensor | None = None,
    once: Tensor | None = None,
) -> BestPaths:
    """Returns the label sequences of highest score (Viterbi 1967; Forney 1973).

    scores: [B, n, L], of each label of each word; padding is never read. lengths: [B], in 1..n.
    transitions: [L, L]; `transitions[i, j]` is added where label j follows label i. start: [L],
    added at the first word. once: [B, k], labels that may occur at most once in their sequence; one
    may be named twice.

    Scores may be -inf; if every path is forbidden, the labels mean nothing. Ties go to the lowest
    last label, then to the lowest label before it, and so on. The work at each word grows with the
    number of transitions that differ from their row's lowest, or, into labels that may not follow
    every label, are not -inf. Each label of `once` doubles it: a path's state is its last label and
    the set of these labels it has used.

    Raises ValueError for wrong shapes, lengths, and transitions that are infinite or not a number.
    """
    _check(scores, lengths, transitions, start)
    batch, n, _ = scores.shape
    lengths = lengths.to(scores.device, torch.long)
    dtype = torch.promote_types(scores.dtype, torch.promote_types(transitions.dtype, torch.float32))
    if not batch:
        return BestPaths(lengths.new_zeros(0, n), scores.new_zeros(0, dtype=dtype))
    transitions = transitions.to(scores.device, dtype)
    once = lengths.new_zeros(batch, 0) if once is None else once.to(lengths)
    subsets = 1 << once.shape[1]
    every = torch.arange(batch, device=scores.device)

    # best[t, j, u, b]: paths up to word t with last label j that have used the labels of subset u.
    # The batch comes last, so that each label is a contiguous row. Padding is unused.
    best = scores.permute(1, 2, 0).to(dtype).unsqueeze(2).repeat(1, 1, subsets, 1)
    first = torch.full_like(best[0], -torch.inf)
    first[:, 0] = 0.0 if start is None else start.to(best).unsqueeze(1)
    uses = _uses(once)
    best[0] += _use(first, uses)
    lowest, everywhere, previous, following = _exceptions(transitions)
    added = transitions[previous, following].unsqueeze(1)
    following = following.unsqueeze(1).expand(-1, subsets * batch)
    # one buffer for all words: new memory at every word would cost more than the sums
    candidates = best.new_empty(len(previous), subsets * batch)
    for before, now in pairwise(best.flatten(2)):
        common = (before + lowest).amax(0)
        paths = torch.where(everywhere, common, -torch.inf)
        torch.index_select(before, 0, previous, out=candidates)
        candidates += added
        paths.scatter_reduce_(0, following, candidates, "amax")
        now += _use(paths, uses)

    # Finding the choices of one path again costs L, not L^2, at each word, so none were stored.
    last = lengths - 1
    score, state = best[last, :, :, every].flatten(1).max(1)
    label, used = state // subsets, state % subsets
    bits = 1 << torch.arange(once.shape[1], device=once.device)
    labels = lengths.new_zeros(n, batch)
    labels[-1] = label
    for t in range(n - 2, -1, -1):
        ends = best[t, :, 0]
        if uses:
            earlier = used & ~((once == label.unsqueeze(1)) * bits).sum(1)
            used = torch.where(t < last, earlier, used)
            ends = best[t].flatten(1).index_select(1, used * batch + every)
        choice = (ends + transitions.index_select(1, label)).max(0).indices
        label = torch.where(t < last, choice, label)
        labels[t] = label
    words = torch.arange(n, device=best.device) <= last.unsqueeze(1)
    return BestPaths(labels.T.where(words, 0), score)


def _uses(once: Tensor) -> list[tuple[Tensor, Tensor]]:
    """Returns, for each column of `once` [B, k], flat cells of [L, 2^k, B] with that last label, of
    subsets without the label and, in the same order, with it."""
    batch, k = once.shape
    every, subset = (torch.arange(size, device=once.device) for size in (batch, 1 << k))
    uses = []
    for bit in range(k):
        without = subset[(subset >> bit) % 2 == 0].unsqueeze(1)
        cells = ((once[:, bit] * len(subset) + without) * batch + every).flatten()
        uses.append((cells, cells + (batch << bit)))
    return uses


def _use(paths: Tensor, uses: list[tuple[Tensor, Tensor]]) -> Tensor:
    """Moves paths in place from the subset before their last label to the one with it. Paths that
    had used the label before become forbidden."""
    cells = paths.view(-1)
    for without, used in uses:
        cells.index_copy_(0, used, cells.index_select(0, without))
        cells.index_fill_(0, without, -torch.inf)
    return paths


def _check(scores: Tensor, lengths: Tensor, transitions: Tensor, start: Tensor | None) -> None:
    if scores.ndim != 3:
        raise ValueError(f"scores must have the shape [batch, n, labels], not {list(scores.shape)}")
    batch, n, size = scores.shape
    if transitions.shape != (size, size):
        raise ValueError(
            f"{size} labels need [{size}, {size}] transitions, not {list(transitions.shape)}"
        )
    if start is not None and start.shape != (size,):
        raise ValueError(f"{size} labels need [{size}] start scores, not {list(start.shape)}")
    for name, values in (("transitions", transitions), ("start scores", start)):
        if values is not None and not (values < torch.inf).all():
            raise ValueError(f"{name} must be finite or -inf, not inf or nan")
    if lengths.shape != (batch,):
        raise ValueError(f"{batch} sequences need {batch} lengths, not {list(lengths.shape)}")
    if batch and (int(lengths.min()) < 1 or int(lengths.max()) > n):
        raise ValueError(f"sequence lengths must be from 1 to {n}, got {lengths.tolist()}")


def _exceptions(transitions: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Splits transitions into a lowest one for each label, and pairs that differ from it.

    Returns the lowest finite transition from each label [L, 1], whether each label may follow every
    label [L, 1], and the pairs (previous, following). The maximum over both is exact for labels
    that may follow every label; all ways into other labels are among the pairs.
    """
    allowed = transitions > -torch.inf
    # a label that nothing may follow has no lowest transition, but then none may follow every label
    lowest = transitions.where(allowed, torch.inf).amin(1, keepdim=True)
    everywhere = allowed.all(0)
    pairs = allowed & ~(everywhere & (transitions == lowest))
    previous, following = pairs.nonzero(as_tuple=True)
    return lowest, everywhere.unsqueeze(1), previous, following


MOST_STATES = 1 << 24
"""Words times states of the sequences in one search: 64 MB of floats."""


@torch.no_grad()
def unique_viterbi(
    scores: Tensor,
    lengths: Tensor,
    transitions: Tensor,
    start: Tensor | None,
    unique: Tensor,
) -> BestPaths:
    """Returns the best sequences, as `viterbi`, with each label of `unique` [C] at most once.

    The first search is unconstrained, and each next search constrains the labels that the last
    result repeats. A sequence that breaks no constraint is the best of a superset of the allowed
    ones. Each further search of a sequence costs 2^k times as much, with k its constrained labels.
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
        # all sequences take as many labels as the one with the most, some repeated
        k = int(constrained[rows].sum(1).max())
        n = int(lengths[rows].max())
        for part in rows.split(max(1, (MOST_STATES >> k) // (n * scores.shape[2]))):
            known, which = constrained[part].byte().topk(k)
            once = unique[which.where(known > 0, which[:, :1])]
            found = viterbi(scores[part, :n], lengths[part], transitions, start, once)
            labels[part, :n], score[part] = found


def _repeated(labels: Tensor, lengths: Tensor, unique: Tensor) -> Tensor:
    """Returns [B, C]: whether a sequence has each label of `unique` more than once."""
    words = torch.arange(labels.shape[1], device=labels.device) < lengths.unsqueeze(1)
    return (labels.where(words, -1).unsqueeze(2) == unique).sum(1) > 1


def transition_probs(counts: Tensor) -> Tensor:
    """Returns the relative frequency of each label given the one before; unseen pairs have 0.

    counts: [L, L], how often label j follows label i in the training data; or [L], how often each
    label comes first. Raises ValueError for negative counts.

    Strubell et al. 2018 ("Predicting semantic roles") decode label scores with these probabilities.
    Their released code adds them to the logits, without logarithms and without a term for the first
    word: an unseen pair then costs at most 1, and sequences may be invalid.
    """
    if (counts < 0).any():
        raise ValueError("counts of transitions must not be negative")
    return (counts / counts.sum(-1, keepdim=True)).nan_to_num(0.0)


def bio_constraints(labels: Sequence[str]) -> tuple[Tensor, Tensor]:
    """Returns transitions [L, L] and start [L] for `viterbi`: 0 where BIO allows it, else -inf.

    `I-X` may only follow `B-X` or `I-X`. Raises ValueError for other labels than `O`, `B-X`, `I-X`.
    """
    parts = [_split(label) for label in labels]
    allowed = [[tag != "I" or before == name for tag, name in parts] for _, before in parts]
    first = [tag != "I" for tag, _ in parts]
    transitions, start = torch.tensor(allowed), torch.tensor(first)
    return transitions.float().log(), start.float().log()


def bio_to_spans(labels: Iterable[str]) -> list[LabelledSpan]:
    """Returns spans (start, end, label), `end` exclusive, in order of the text.

    Invalid sequences are read as by the released code of Strubell et al.: an `I-X` outside of a
    span begins one, and inside a span `I-Y` continues it with any label.

    Raises ValueError for a label that is not `O`, `B-X` or `I-X`.
    """
    spans: list[LabelledSpan] = []
    inside = False
    for position, label in enumerate(labels):
        tag, name = _split(label)
        if tag == "I" and inside:
            start, _, name = spans.pop()
            spans.append((start, position + 1, name))
        elif tag != "O":
            spans.append((position, position + 1, name))
        inside = tag != "O"
    return spans


def _split(label: str) -> tuple[str, str]:
    tag, _, name = label.partition("-")
    if label != "O" and (tag not in ("B", "I") or not name):
        raise ValueError(f"{label!r} is none of the BIO labels O, B-… and I-…")
    return tag, name
