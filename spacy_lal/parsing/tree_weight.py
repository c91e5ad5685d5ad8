"""The weight of a tree found in a long sentence, node by node."""

from __future__ import annotations

from collections import defaultdict

import torch
from torch import Tensor

from ..structure.chart import chart_length, inside, packed_spans, span_position
from .joint import EXACT_WORDS
from .losses import log_weight


def tree_log_weight(
    scores: Tensor, labels: Tensor, lengths: Tensor, sub_head: int | None
) -> Tensor:
    """`losses.log_weight` [B] of trees that were found, in long sentences node by node."""
    long = lengths > EXACT_WORDS
    if not long.any():
        return log_weight(scores, labels, lengths, sub_head)
    weights = scores.new_empty(len(scores))
    for rows, weigh in ((~long, log_weight), (long, log_weight_by_nodes)):
        if rows.any():
            weights[rows] = weigh(scores[rows], labels[rows], lengths[rows], sub_head)
    return weights


def log_weight_by_nodes(
    scores: Tensor, labels: Tensor, lengths: Tensor, sub_head: int | None = None
) -> Tensor:
    """`losses.log_weight` [B] without charts of whole sentences.

    Spans that cross no constituent lie between two children of one: the binarisations of a tree are
    those of its nodes, each independent of the others, and the log-sum over a node's is the inside
    pass of a chart whose words are its children. No gradients.
    """
    n = chart_length(scores)
    starts, ends = packed_spans(n)
    weights = []
    for row, length in enumerate(lengths.tolist()):
        row_scores, found = scores[row].cpu(), labels[row].cpu()
        empty = row_scores[:, 0]
        if sub_head is not None:
            empty = torch.logaddexp(empty, row_scores[:, sub_head])
        value = torch.where(found > 0, row_scores.gather(1, found.unsqueeze(1)).squeeze(1), empty)
        wide = (found > 0) & (ends - starts > 1)
        spans = {(0, length), *zip(starts[wide].tolist(), ends[wide].tolist(), strict=True)}
        words = {(k, k + 1) for k in range(length)}
        nodes = torch.tensor(sorted(spans | words))
        weight = value[span_position(n, *nodes.T)].sum()
        for posts in _fenceposts(spans).values():
            children = torch.tensor(posts)
            k = children.shape[1] - 1
            i, j = packed_spans(k)
            chart = empty[span_position(n, children[:, i], children[:, j])]
            chart[:, :k] = chart[:, -1] = 0.0  # the children and the node itself
            weight += inside(chart, torch.full((len(chart),), k)).sum()
        weights.append(weight)
    return torch.stack(weights).to(scores.device)


def _fenceposts(spans: set[tuple[int, int]]) -> dict[int, list[list[int]]]:
    """Of every span with at least 3 children where these begin, and where the last one ends; by
    their number. Words that are in no narrower span are children."""
    by_number = defaultdict(list)
    # narrow ones first: what lies in a span is known by the ends of its outermost spans
    follows: dict[int, int] = {}
    for start, end in sorted(spans, key=lambda span: span[1] - span[0]):
        posts = [start]
        while posts[-1] < end:
            posts.append(follows.get(posts[-1], posts[-1] + 1))
        follows[start] = end
        if len(posts) > 3:
            by_number[len(posts)].append(posts)
    return by_number
