"""Trees of any number of children, and the binary trees that stand for them.

A tree over n words is the list of its constituents (start, end, label) in preorder: outer before
inner, the nodes of a unary chain as several constituents over the same words, topmost first.
Charts have one label a span and binary trees 2n-1 spans; so chains are joined to one label, and
nodes that are no constituents, of label 0 in a chart, fill the gaps: those of the left
binarisation, or of all binarisations together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import torch
from torch import Tensor

from ..trees.tree import LabelledSpan
from .chart import chart_length, inside, packed_spans, span_position

JOIN = "::"
"""Between the labels of a unary chain that are one label of a chart, topmost first."""
EXACT_WORDS = 100
"""Trees of longer sentences are weighed node by node."""


def collapse_unaries(spans: Iterable[LabelledSpan]) -> list[LabelledSpan]:
    """One label for each (start, end): those of a unary chain joined, topmost first."""
    chains: dict[tuple[int, int], list[str]] = {}
    for start, end, label in spans:
        chains.setdefault((start, end), []).append(label)
    return [(start, end, JOIN.join(labels)) for (start, end), labels in chains.items()]


def _borders(spans: set[tuple[int, int]]) -> list[list[int]]:
    """The borders of the children of each span with at least 3 children: n + 1 of n.

    Words that are in no narrower span are children.
    """
    found = []
    # narrow ones first: what lies in a span is known by the ends of its outermost spans
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
    """The constituents of several words in a chart of labels [S], and the whole sentence."""
    wide = (labels > 0) & (ends - starts > 1)
    return {(0, n), *zip(starts[wide].tolist(), ends[wide].tolist(), strict=True)}


def left_binarisation(labels: Tensor, lengths: Tensor) -> Tensor:
    """The 2n-1 nodes [B, S] of the left binarisations of trees.

    labels [B, S]: of their constituents, else 0. All children but the last one of a node with more
    than two are grouped from the left.
    """
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
    """The log-sum [B] of exp(score) over the binary trees that stand for one with these labels.

    scores: packed charts [B, S, L]; labels [B, S]: of the constituents, else 0. So no binarisation
    is imposed. group: a label that spans without a constituent may have instead of 0. Has no
    gradient over more than EXACT_WORDS words where gradients are off.
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
    """The score of each span under its label or none, and under none, both [B, S]."""
    empty = scores[..., 0]
    if group is not None:
        empty = torch.logaddexp(empty, scores[..., group])
    own = scores.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
    return torch.where(labels > 0, own, empty), empty


def _compatible(labels: Tensor) -> Tensor:
    """[B, S] True where a span crosses no constituent."""
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
    """`log_weight` [B] without charts of whole sentences.

    Spans that cross no constituent lie between two children of one: the binarisations of a tree are
    those of its nodes, each independent of the others, and the log-sum over a node's is the inside
    pass of a chart whose words are its children.
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
