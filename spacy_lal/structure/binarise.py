"""Binarisation of trees with any number of children.

A tree over n words is the list of its constituents (start, end, label) in preorder, where a unary
chain is several constituents. Charts have one label a span, and binary trees have 2n-1 spans. So
chains are joined to one label, and spans without a constituent (label 0) fill the gaps of the left
binarisation or of all binarisations.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

import torch
from torch import Tensor

from ..trees.tree import LabelledSpan
from .chart import chart_length, inside, packed_spans, span_position

JOIN = "::"
"""Separator of the labels of a joined unary chain, topmost first."""


def collapse_unaries(spans: Iterable[LabelledSpan]) -> list[LabelledSpan]:
    """Returns one label for each (start, end): unary chains are joined, topmost first."""
    chains: dict[tuple[int, int], list[str]] = {}
    for start, end, label in spans:
        chains.setdefault((start, end), []).append(label)
    return [(start, end, JOIN.join(labels)) for (start, end), labels in chains.items()]


def _borders(labels: Tensor, lengths: Tensor) -> Iterator[tuple[int, list[int]]]:
    """Yields the row and the k + 1 borders of the k children of each constituent of several words
    in labels [B, S], and of whole sentences. Words that are in no narrower span are children."""
    starts, ends = packed_spans(chart_length(labels))
    rows, at = (labels.cpu() > 0).nonzero(as_tuple=True)
    nodes = zip(rows.tolist(), starts[at].tolist(), ends[at].tolist(), strict=True)
    wholes = ((row, 0, length) for row, length in enumerate(lengths.tolist()))
    follows: dict[tuple[int, int], int] = {}
    # narrow spans first: outermost spans skip the words inside
    for row, start, end in sorted({*nodes, *wholes}, key=lambda node: node[2] - node[1]):
        borders = [start]
        while borders[-1] < end:
            borders.append(follows.get((row, borders[-1]), borders[-1] + 1))
        if end - start > 1:
            follows[row, start] = end
            yield row, borders


def _mask(labels: Tensor, lengths: Tensor, nodes: list[tuple[int, int, int]]) -> Tensor:
    """Returns a mask [B, S] of all words and of the nodes (row, start, end)."""
    n = chart_length(labels)
    mask = torch.zeros(labels.shape, dtype=torch.bool)
    mask[:, :n] = torch.arange(n) < lengths.cpu().unsqueeze(1)
    rows, starts, ends = torch.tensor(nodes, dtype=torch.long).view(-1, 3).T
    mask[rows, span_position(n, starts, ends)] = True
    return mask.to(labels.device)


def left_binarisation(labels: Tensor, lengths: Tensor) -> Tensor:
    """Returns a mask [B, S] of the 2n-1 nodes of the left binarisations of trees' labels [B, S].
    All children but the last one of a node with more than two are grouped from the left."""
    found = _borders(labels, lengths)
    return _mask(labels, lengths, [(row, b[0], end) for row, b in found for end in b[2:]])


def log_weight(scores: Tensor, labels: Tensor, lengths: Tensor, group: int | None = None) -> Tensor:
    """Returns the log-sum [B] of exp(score) over all binarisations of the tree with these labels.

    scores: packed charts [B, S, L]; labels [B, S]: labels of the constituents, else 0. group: a
    label that spans without a constituent may have instead of 0.

    The binarisations of a tree's nodes are independent of each other. The log-sum over the
    binarisations of one node is the inside pass of a chart whose words are the node's children.
    """
    empty = scores[..., 0]
    if group is not None:
        empty = torch.logaddexp(empty, scores[..., group])
    own = scores.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
    nodes = list(_borders(labels, lengths))
    certain = _mask(labels, lengths, [(row, borders[0], borders[-1]) for row, borders in nodes])
    weights = torch.where(labels > 0, own, empty).masked_fill(~certain, 0.0).sum(1)
    alike = defaultdict(list)
    for row, borders in nodes:
        if len(borders) > 3:
            alike[len(borders).bit_length()].append((row, borders))
    for several in alike.values():
        rows = torch.tensor([row for row, _ in several])
        children = torch.tensor([len(borders) - 1 for _, borders in several])
        most = int(children.max())
        padded = [borders + borders[-1:] * (most + 1 - len(borders)) for _, borders in several]
        i, j = packed_spans(most)
        posts = torch.tensor(padded)
        # spans without words, in the padding, have no position
        at = span_position(chart_length(labels), posts[:, i], posts[:, j]).clamp(min=0)
        # the children and the node itself are weighed already
        known = (j - i == 1) | (j - i == children.unsqueeze(1))
        chart = empty.take((rows.unsqueeze(1) * empty.shape[1] + at).to(empty.device))
        chart = chart.masked_fill(known.to(empty.device), 0.0)
        weights = weights.index_add(0, rows.to(empty.device), inside(chart, children))
    return weights
