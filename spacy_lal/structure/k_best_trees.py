"""The k best trees: CKY with sorted lists of k scores (Huang and Chiang 2005, algorithm 2).

Trees are n-ary with labels. Each is found once, as its left binarisation: the first children of a
node with more than two are grouped under an *empty* span, which is no constituent. So empty spans
of several words are left children, and right children of several words are constituents. If the
whole sentence is empty, the tree has several nodes under TOP.

A span has two lists: its best trees as a left child or whole sentence, at `[i, j]` of the square
tables, and as a right child, at `[j, i]`. An entry is a split, a rank in the list of either child,
and a label. The search covers only entries that fewer than k others precede in all ranks.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

from .chart import chart_length, span_position, spans_of_width, split_sums, width_slice


class KBest(NamedTuple):
    """The k best trees of each sentence of a batch, the best first."""

    scores: Tensor
    """[B, k], -inf where there are fewer than k trees; a tree of score -inf is none."""
    spans: Tensor
    """[B, k, S], True at the 2n-1 spans of the binary tree."""
    labels: Tensor
    """[B, k, S], 1..A at spans that are constituents, 0 at empty ones and outside the tree."""


@torch.no_grad()
def k_best(constituent: Tensor, empty: Tensor, lengths: Tensor, k: int) -> KBest:
    """Returns the k highest-scoring trees of each sentence.

    constituent: packed charts [B, S, A], the score of a span as a constituent with each of A
    labels; empty: [B, S], its score as none; lengths: words of each sentence [B], 1..n. A tree's
    score is the sum over its left binarisation's spans. -inf excludes.
    """
    n, lengths = chart_length(constituent), lengths.to(constituent.device)
    values, labels = _choices(constituent, empty, n, k)
    shape, device = (len(constituent), n + 1, n + 1), constituent.device
    best = values.new_zeros(shape)
    lists = values.new_full((*shape, k), -math.inf)
    # split, rank of the left child, rank of the right child, label
    origins = torch.zeros(*shape, k, 4, dtype=torch.int32, device=device)
    for width in range(1, n + 1):
        here = width_slice(n, width)
        if width > 1:
            below, below_origins = _best_splits(best, lists, width, k)
        else:
            below = values.new_zeros(len(values), n, 1)
            below_origins = origins.new_zeros(len(values), n, 1, 3)
        _, first, second = _candidates(1, below.shape[-1], values.shape[-1], k).to(device)
        # both roles of a span differ in its own value alone: [B, roles, n-width+1, entries]
        sums = below[:, None, :, first] + values[:, :, here, second]
        scores, at = sums.topk(min(k, sums.shape[-1]), -1)
        label = labels[:, :, here].gather(-1, second[at])
        split_origins = below_origins.unsqueeze(1).expand(-1, at.shape[1], -1, -1, -1)
        split_origins = split_origins.gather(-2, first[at].unsqueeze(-1).expand(-1, -1, -1, -1, 3))
        starts = torch.arange(n + 1 - width, device=device)
        near, far = torch.stack([starts, starts + width]), torch.stack([starts + width, starts])
        lists[:, near, far, : at.shape[-1]] = scores
        origins[:, near, far, : at.shape[-1]] = torch.cat([split_origins, label.unsqueeze(-1)], -1)
        spans_of_width(best, width).copy_(scores[..., 0].movedim(1, 0))
    rows = torch.arange(len(values), device=device)
    return _trace(lists[rows, 0, lengths], origins, lengths, constituent.shape[1])


def _choices(constituent: Tensor, empty: Tensor, n: int, k: int) -> tuple[Tensor, Tensor]:
    """Returns spans' best values and labels as left and right children, both [B, 2, S, up to k]."""
    both = torch.cat([empty.unsqueeze(-1), constituent], -1).unsqueeze(1).repeat(1, 2, 1, 1)
    # single words come first in a packed chart
    both[:, 1, n:, 0] = -math.inf
    values, at = both.topk(min(k, both.shape[-1]), -1)
    return values, at.int()


@lru_cache
@torch.inference_mode(False)
def _candidates(splits: int, first: int, second: int, k: int) -> Tensor:
    """Returns the ranks [3, number] of splits, sorted by their best entry, and in two lists that an
    entry of the k best can have: few enough entries precede it in all ranks."""
    ranks = [
        (split, r, s)
        for split in range(min(splits, k))
        for r in range(min(first, k - split))
        for s in range(min(second, (k - split) // (r + 1)))
    ]
    return torch.tensor(ranks).T


def _best_splits(best: Tensor, lists: Tensor, width: int, k: int) -> tuple[Tensor, Tensor]:
    """Returns the k best sums of children of the spans of `width` [B, n-width+1, k].

    best: [B, n+1, n+1], the heads of `lists` [B, n+1, n+1, k]. Also returns the split and the
    children's ranks of each sum [B, n-width+1, k, 3].
    """
    sums = split_sums(best, width)
    starts = torch.arange(sums.shape[1], device=best.device).unsqueeze(1)
    splits = sums.topk(min(k, width - 1), -1).indices + starts + 1
    rows = torch.arange(len(best), device=best.device).view(-1, 1, 1)
    left, right = lists[rows, starts, splits], lists[rows, starts + width, splits]
    split, first, second = _candidates(splits.shape[-1], k, k, k).to(best.device)
    scores, at = (left[..., split, first] + right[..., split, second]).topk(k, -1)
    origins = torch.stack([splits.gather(-1, split[at]), first[at], second[at]], -1)
    return scores, origins.int()


def _trace(scores: Tensor, origins: Tensor, lengths: Tensor, size: int) -> KBest:
    """Walks down from all roots with scores [B, k], all spans of one depth at a time; size: S."""
    n = origins.shape[1] - 1
    spans = torch.zeros(*scores.shape, size, dtype=torch.bool, device=scores.device)
    labels = torch.zeros_like(spans, dtype=torch.long)
    rows, trees = (scores > -math.inf).nonzero(as_tuple=True)
    # sentence, number of its tree, place in the tables, rank there
    nodes = torch.stack([rows, trees, torch.zeros_like(rows), lengths[rows], trees])
    while nodes.shape[1]:
        rows, trees, near, far, rank = nodes
        split, first, second, label = origins[rows, near, far, rank].long().T
        starts, ends = torch.minimum(near, far), torch.maximum(near, far)
        at = span_position(n, starts, ends)
        spans[rows, trees, at] = True
        labels[rows, trees, at] = label
        left = torch.stack([rows, trees, starts, split, first])
        right = torch.stack([rows, trees, ends, split, second])
        wide = ends - starts > 1
        nodes = torch.cat([left[:, wide], right[:, wide]], 1)
    return KBest(scores, spans, labels)
