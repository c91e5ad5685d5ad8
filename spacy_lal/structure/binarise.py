"""Binarisation of trees with any number of children.

A tree over n words is the list of its constituents (start, end, label) in preorder, where a unary
chain is several constituents. Charts have one label a span, and binary trees have 2n-1 spans. So
chains are joined to one label, and spans without a constituent (label 0) fill the gaps of the left
binarisation or of all binarisations.
"""

from collections import defaultdict
from collections.abc import Iterable

import torch
from torch import Tensor

from ..trees.tree import LabelledSpan
from .chart import chart_length, inside, packed_spans, span_position

JOIN = "::"
"""Separator of the labels of a joined unary chain, topmost first."""
EXACT_WORDS = 100
"""Words of the longest trees that are weighed in one chart; others are weighed node by node."""


def collapse_unaries(spans: Iterable[LabelledSpan]) -> list[LabelledSpan]:
    """Returns one label for each (start, end): unary chains are joined, topmost first."""
    chains: dict[tuple[int, int], list[str]] = {}
    for start, end, label in spans:
        chains.setdefault((start, end), []).append(label)
    return [(start, end, JOIN.join(labels)) for (start, end), labels in chains.items()]


def _borders(spans: set[tuple[int, int]]) -> list[list[int]]:
    """Returns the n + 1 borders of the n children of each span with at least 3 children. Words that
    are in no narrower span are children."""
    found = []
    # narrow spans first: outermost spans skip the words inside
    follows: dict[int, int] = {}
    for start, end in sorted(spans, key=lambda span: span[1] - span[0]):
        borders = [start]
        while borders[-1] < end:
            borders.append(follows.get(borders[-1], borders[-1] + 1))
        follows[start] = end
        if len(borders) > 3:
            found.append(borders)
    return found


def _wide_spans(labels: Tensor, starts: Tensor, ends: Tensor, n: int) -> set[tuple[int, int]]:
    """Returns the constituents of several words in labels [S], and the whole sentence."""
    wide = (labels > 0) & (ends - starts > 1)
    return {(0, n), *zip(starts[wide].tolist(), ends[wide].tolist(), strict=True)}


def left_binarisation(labels: Tensor, lengths: Tensor) -> Tensor:
    """Returns a mask [B, S] of the 2n-1 nodes of the left binarisations of trees' labels [B, S].
    All children but the last one of a node with more than two are grouped from the left."""
    n = chart_length(labels)
    starts, ends = packed_spans(n)
    nodes = torch.zeros(labels.shape, dtype=torch.bool)
    for row, (found, length) in enumerate(zip(labels.cpu(), lengths.tolist(), strict=True)):
        spans = _wide_spans(found, starts, ends, length)
        groups = [(borders[0], end) for borders in _borders(spans) for end in borders[2:-1]]
        nodes[row, span_position(n, *torch.tensor([*spans, *groups]).T)] = True
        nodes[row, :length] = True
    return nodes.to(labels.device)


def log_weight(scores: Tensor, labels: Tensor, lengths: Tensor, group: int | None = None) -> Tensor:
    """Returns the log-sum [B] of exp(score) over all binarisations of the tree with these labels.

    scores: packed charts [B, S, L]; labels [B, S]: labels of the constituents, else 0. group: a
    label that spans without a constituent may have instead of 0. Trees of more than EXACT_WORDS
    words have no gradient where gradients are off.
    """
    long = lengths > EXACT_WORDS
    if torch.is_grad_enabled() or not long.any():
        return _log_weight(scores, labels, lengths, group)
    weights = scores.new_empty(len(scores))
    for rows, weigh in ((~long, _log_weight), (long, log_weight_by_nodes)):
        if rows.any():
            weights[rows] = weigh(scores[rows], labels[rows], lengths[rows], group)
    return weights


def _log_weight(scores: Tensor, labels: Tensor, lengths: Tensor, group: int | None) -> Tensor:
    values = _values(scores, labels, group)[0]
    # finite, so that the difference of two charts never meets inf - inf
    return inside(values.masked_fill(~_compatible(labels), -1e4), lengths)


def _values(scores: Tensor, labels: Tensor, group: int | None) -> tuple[Tensor, Tensor]:
    """Returns the score of each span under its label or none, and under none, both [B, S]."""
    empty = scores[..., 0]
    if group is not None:
        empty = torch.logaddexp(empty, scores[..., group])
    own = scores.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
    return torch.where(labels > 0, own, empty), empty


def _compatible(labels: Tensor) -> Tensor:
    """Returns [B, S], True where a span crosses no constituent."""
    n = chart_length(labels)
    starts, ends = (t.to(labels.device) for t in packed_spans(n))
    batch, at = (labels > 0).nonzero(as_tuple=True)
    # constituents of a sentence, side by side: [B, most constituents of a sentence]
    counts = torch.bincount(batch, minlength=len(labels))
    column = torch.arange(len(batch), device=labels.device) - (counts.cumsum(0) - counts)[batch]
    table = starts.new_zeros(2, len(labels), max(1, int(counts.max()) if len(counts) else 1))
    table[0, batch, column] = starts[at]
    table[1, batch, column] = ends[at]
    i, j = starts.view(1, -1, 1), ends.view(1, -1, 1)
    a, b = table[0].unsqueeze(1), table[1].unsqueeze(1)
    crosses = ((i < a) & (a < j) & (j < b)) | ((a < i) & (i < b) & (b < j))
    return ~crosses.any(-1)


@torch.no_grad()
def log_weight_by_nodes(
    scores: Tensor, labels: Tensor, lengths: Tensor, group: int | None = None
) -> Tensor:
    """Returns `log_weight` [B] without charts of whole sentences.

    The binarisations of a tree's nodes are independent of each other. The log-sum over those of one
    node is the inside pass of a chart whose words are the node's children.
    """
    n = chart_length(scores)
    starts, ends = packed_spans(n)
    weights = []
    for row, length in enumerate(lengths.tolist()):
        found = labels[row].cpu()
        value, empty = _values(scores[row].cpu(), found, group)
        spans = _wide_spans(found, starts, ends, length)
        nodes = torch.tensor(sorted(spans | {(k, k + 1) for k in range(length)}))
        weight = value[span_position(n, *nodes.T)].sum()
        by_number = defaultdict(list)
        for borders in _borders(spans):
            by_number[len(borders) - 1].append(borders)
        for k, posts in by_number.items():
            children = torch.tensor(posts)
            i, j = packed_spans(k)
            chart = empty[span_position(n, children[:, i], children[:, j])]
            chart[:, :k] = chart[:, -1] = 0.0  # the children and the node itself
            weight += inside(chart, torch.full((len(chart),), k)).sum()
        weights.append(weight)
    return torch.stack(weights).to(scores.device)
