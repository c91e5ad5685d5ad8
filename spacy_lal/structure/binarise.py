"""Binarisation of trees with any number of children.

A tree over n words is the list of its constituents (start, end, label) in preorder, where a unary
chain is several constituents. Charts have one label a span, and binary trees have 2n-1 spans. So
chains are joined to one label, and spans without a constituent (label 0) fill the gaps of the left
binarisation or of all binarisations.
"""

from collections.abc import Iterable

import torch
from torch import Tensor

from ..trees.tree import LabelledSpan
from .chart import chart_length, inside, packed_spans, root_positions, span_position

JOIN = "::"
"""Separator of the labels of a joined unary chain, topmost first."""


def collapse_unaries(spans: Iterable[LabelledSpan]) -> list[LabelledSpan]:
    """Returns one label for each (start, end): unary chains are joined, topmost first."""
    chains: dict[tuple[int, int], list[str]] = {}
    for start, end, label in spans:
        chains.setdefault((start, end), []).append(label)
    return [(start, end, JOIN.join(labels)) for (start, end), labels in chains.items()]


def left_binarisation(labels: Tensor, lengths: Tensor) -> Tensor:
    """Returns a mask [B, S] of the 2n-1 nodes of the left binarisations of trees' labels [B, S].
    All children but the last one of a node with more than two are grouped from the left."""
    n, nodes = chart_length(labels), _nodes(labels, lengths)
    rows, posts, children = _borders(nodes)
    # a node's first child and the next, and the next, up to the last but one
    columns = torch.arange(posts.shape[1], device=posts.device)
    node, upto = ((columns >= 2) & (columns < children.unsqueeze(1))).nonzero(as_tuple=True)
    nodes[rows[node], span_position(n, posts[node, 0], posts[node, upto])] = True
    return nodes


def log_weight(scores: Tensor, labels: Tensor, lengths: Tensor, group: int | None = None) -> Tensor:
    """Returns the log-sum [B] of exp(score) over all binarisations of the tree with these labels.

    scores: packed charts [B, S, L]; labels [B, S]: labels of the constituents, else 0. group: a
    label that spans without a constituent may have instead of 0.

    The binarisations of a tree's nodes are independent of each other. The log-sum over those of one
    node is the inside pass of a chart whose words are the node's children.
    """
    empty = scores[..., 0]
    if group is not None:
        empty = torch.logaddexp(empty, scores[..., group])
    own = scores.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
    nodes = _nodes(labels, lengths)
    weight = torch.where(labels > 0, own, empty).where(nodes, 0.0).sum(1)
    rows, posts, children = _borders(nodes)
    if not len(rows):
        return weight
    most = posts.shape[1] - 1
    i, j = (t.to(posts.device) for t in packed_spans(most))
    last = children.unsqueeze(1)
    at = span_position(chart_length(labels), posts[:, i], posts[:, j]).where(j <= last, 0)
    # the children and the node itself are in the weight
    given = (j - i == 1) | ((i == 0) & (j == last))
    chart = empty.flatten()[rows.unsqueeze(1) * empty.shape[1] + at].masked_fill(given, 0.0)
    return weight.index_add(0, rows, inside(chart, children))


def _nodes(labels: Tensor, lengths: Tensor) -> Tensor:
    """Returns a mask [B, S] of the constituents in labels [B, S], words and whole sentences."""
    starts, ends = (t.to(labels.device) for t in packed_spans(chart_length(labels)))
    lengths = lengths.to(labels.device)
    nodes = (labels > 0) | ((ends - starts == 1) & (ends <= lengths.unsqueeze(1)))
    nodes[root_positions(labels, lengths)] = True
    return nodes


def _borders(nodes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the N nodes with at least 3 children, of the nodes [B, S] of trees: their rows [N],
    the k + 1 borders of their k children [N, most + 1], and k [N]."""
    n = chart_length(nodes)
    starts, ends = (t.to(nodes.device) for t in packed_spans(n))
    rows, at = (nodes & (ends - starts > 1)).nonzero(as_tuple=True)
    counts = torch.bincount(rows, minlength=len(nodes))
    column = torch.arange(len(rows), device=rows.device) - (counts.cumsum(0) - counts)[rows]
    wide = starts.new_zeros(2, len(nodes), int(counts.max()) if len(rows) else 0)
    wide[:, rows, column] = torch.stack([starts[at], ends[at]])
    if not wide.numel():
        return rows, starts.new_zeros(0, 1), rows
    # a fencepost is a border of the children of the narrowest node around it
    first, last = wide.unsqueeze(3)
    posts = torch.arange(n + 1, device=nodes.device)
    narrowest, node = (last - first).where((first < posts) & (posts < last), n + 1).min(1)
    rows, posts = (narrowest <= n).nonzero(as_tuple=True)
    owner = rows * wide.shape[2] + node[rows, posts]
    order = owner.argsort(stable=True)
    posts = posts[order]
    counts = torch.bincount(owner, minlength=wide[0].numel())
    several = (counts > 1).nonzero().squeeze(1)
    first, last = (of.flatten()[several].unsqueeze(1) for of in wide)
    counts, begin = counts[several], (counts.cumsum(0) - counts)[several]
    column = torch.arange(int(counts.max()) if len(counts) else 0, device=posts.device)
    within = posts[(begin.unsqueeze(1) + column).clamp(max=len(posts) - 1)]
    within = within.where(column < counts.unsqueeze(1), last)
    return several // wide.shape[2], torch.cat([first, within, last], 1), counts + 1
