"""From a parser's scores to trees."""

from __future__ import annotations

from typing import NamedTuple

import numpy
import torch
from torch import Tensor

from ..batching.batches import ParserScores
from ..batching.parses import SentenceParse
from ..layers.label_factors import label_scores
from ..structure.chart import best_tree, chart_length, packed_spans, root_positions, span_position
from ..structure.tree_distribution import TreeDistribution
from .decoders import Decoder, SpanMarginals, mask_padding
from .dependencies import best_relations, head_probabilities
from .gold_charts import GoldNodes, gold_nodes
from .joint import best_joint
from .network import OneStageScores, Scores, TwoStageScores
from .tree_weight import tree_log_weight


class _Found(NamedTuple):
    """What was decided about a padded batch: its constituents' labels, else 0 [B, S]; their
    probabilities [B, S] and the trees' log-probabilities [B], if the scores have any; heads
    [B, n]."""

    labels: Tensor
    probabilities: Tensor | None
    log_prob: Tensor | None
    heads: Tensor | None = None


@torch.no_grad()
def decode_trees(
    scores: ParserScores[Scores],
    decoder: Decoder,
    *,
    probabilistic: bool = True,
    labels_root: bool = False,
    sub_head: int | None = None,
    root: int | None = None,
) -> dict[int, SentenceParse]:
    """The tree and tags of every parsed sentence, by its index in `scores.sentences`.

    With arcs among the scores, constituents and heads come from one search over trees with heads.
    probabilistic: whether scores were trained as log-probabilities. labels_root: in one stage, find
    only trees that have the whole sentence as a constituent. sub_head: the label of groups
    that are no constituents; they aren't among the result's. root: the relation to the root, which
    words don't have to words.
    """
    parses = {}
    for batch in scores.batches:
        if isinstance(batch.scores, TwoStageScores):
            found = _two_stages(batch.scores, batch.lengths, decoder)
        else:
            found = _one_stage(
                batch.scores, batch.lengths, decoder, probabilistic, labels_root, sub_head
            )
        heads = relations = of_heads = None
        if found.heads is not None:
            assert isinstance(batch.scores, OneStageScores)
            assert batch.scores.arcs is not None
            assert batch.scores.relations is not None
            names = best_relations(batch.scores.relations, found.heads, root)
            arcs = mask_padding(batch.scores.arcs, batch.lengths)
            sure = head_probabilities(arcs, batch.scores.relations, found.heads, names)
            of_heads = sure.cpu().numpy()
            heads, relations = found.heads.cpu().numpy(), names.cpu().numpy()
        labels = found.labels.cpu().numpy()
        # rounding may make constituents and trees more than certain
        probabilities = None
        if found.probabilities is not None:
            probabilities = found.probabilities.clamp(max=1).cpu().numpy()
        log_prob = None if found.log_prob is None else found.log_prob.clamp(max=0).tolist()
        of_tags, tags = best_tags(batch.scores.tags)
        starts, ends = (t.numpy() for t in packed_spans(tags.shape[1]))
        rows, at = labels.nonzero()
        # preorder: by start, the wider of two that start together first
        order = numpy.lexsort((-ends[at], starts[at], rows))
        rows, at = rows[order], at[order]
        bounds = numpy.searchsorted(rows, numpy.arange(len(labels) + 1))
        for row, (member, n) in enumerate(zip(batch.members, batch.lengths.tolist(), strict=True)):
            mine = at[bounds[row] : bounds[row + 1]]
            parses[member] = SentenceParse(
                tags[row, :n],
                starts[mine],
                ends[mine],
                labels[row, mine],
                None if probabilities is None else probabilities[row, mine],
                None if log_prob is None else log_prob[row],
                None if heads is None else heads[row, :n],
                None if relations is None else relations[row, :n],
                of_tags[row, :n],
                None if of_heads is None else of_heads[row, :n],
            )
    return parses


def best_tags(scores: Tensor) -> tuple[numpy.ndarray, numpy.ndarray]:
    """The probability and the number of each word's best tag [B, n], from scores [B, n, T]."""
    probabilities, tags = torch.softmax(scores, -1).max(-1)
    return probabilities.cpu().numpy(), tags.cpu().numpy()


def _one_stage(
    of: OneStageScores,
    lengths: Tensor,
    decoder: Decoder,
    probabilistic: bool,
    labels_root: bool,
    sub_head: int | None,
) -> _Found:
    assert of.labels is not None
    crf = marginals = None
    if probabilistic:
        total = torch.logsumexp(of.labels, -1)
        crf = TreeDistribution(total, lengths)
        marginals = SpanMarginals(total, crf.marginals)
    values = decoder.spans(of.labels, marginals, lengths, sub_head)
    if labels_root:
        never = values.empty.new_tensor(-torch.inf)
        empty = values.empty.index_put(root_positions(of.labels, lengths), never)
        values = values._replace(empty=empty)
    heads = None
    if of.arcs is None:
        # a span that must be in the tree takes the better of a constituent and nothing, and
        # nothing of equal ones, as in the joint decode
        better = values.constituent > values.empty
        _, tree = best_tree(torch.maximum(values.constituent, values.empty), lengths)
        labelled = tree & better
    else:
        joint = best_joint(values, decoder.arcs(of.arcs, lengths), lengths, marginals)
        labelled, heads = joint.labelled, joint.heads
    if sub_head is not None:
        labelled = labelled & (values.labels != sub_head)
    labels = torch.where(labelled, values.labels, 0)
    if crf is None or marginals is None:
        return _Found(labels, None, None, heads)
    label_log_probs = of.labels.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
    probabilities = (label_log_probs - marginals.total).exp() * marginals.probability
    log_prob = tree_log_weight(of.labels, labels, lengths, sub_head) - crf.log_partition
    return _Found(labels, probabilities, log_prob, heads)


def _two_stages(of: TwoStageScores, lengths: Tensor, decoder: Decoder) -> _Found:
    crf = TreeDistribution(of.spans, lengths)
    _, tree = best_tree(decoder.nodes(of.spans, crf.marginals), lengths)
    n = of.tags.shape[1]
    starts, ends = (t.to(tree.device) for t in packed_spans(n))
    rows, at = tree.nonzero(as_tuple=True)
    scores = label_scores(of.factors, rows, starts[at], ends[at])
    chosen = crf.marginals[rows, at]
    found = decoder.labels(scores, chosen)
    labels = torch.zeros(tree.shape, dtype=torch.long, device=tree.device)
    labels[rows, at] = found
    label_log_probs = torch.log_softmax(scores, -1).gather(-1, found.unsqueeze(-1)).squeeze(-1)
    probabilities = torch.zeros_like(of.spans)
    probabilities[rows, at] = label_log_probs.exp() * chosen
    node_scores = torch.zeros_like(of.spans)
    node_scores[rows, at] = label_log_probs + of.spans[rows, at]
    log_prob = node_scores.sum(1)
    # The probability of a tree is that of its left binarisation, as in training. Where another one
    # was found, it has the same constituents and other nodes between them.
    other = _binarised_otherwise(labels, tree, lengths)
    if other.any():
        which = other.nonzero().squeeze(1)
        nodes = _nodes_of_charts(labels[which], lengths[which], which)
        position = span_position(n, nodes.starts, nodes.ends)
        new = ~tree[nodes.sentences, position]
        rows, at = nodes.sentences[new], position[new]
        unlabelled = torch.log_softmax(label_scores(of.factors, rows, starts[at], ends[at]), -1)
        node_scores[rows, at] = unlabelled[:, 0] + of.spans[rows, at]
        binarised = torch.zeros_like(tree)
        binarised[nodes.sentences, position] = True
        log_prob[which] = node_scores[which].masked_fill(~binarised[which], 0.0).sum(1)
    return _Found(labels, probabilities, log_prob - crf.log_partition)


def _binarised_otherwise(labels: Tensor, tree: Tensor, lengths: Tensor) -> Tensor:
    """[B] whether a node without a label, of several words, is a right child.

    labels [B, S], tree mask [B, S]. Right children and the root are the widest nodes that begin
    where they begin.
    """
    n = chart_length(tree)
    starts, ends = (t.to(tree.device) for t in packed_spans(n))
    widest = torch.zeros(len(tree), n, dtype=torch.long, device=tree.device).scatter_reduce(
        1, starts.expand(tree.shape), torch.where(tree, ends, 0), "amax"
    )
    root = (starts == 0) & (ends == lengths.to(tree.device).unsqueeze(1))
    new = tree & (labels == 0) & (ends - starts > 1) & ~root
    return (new & (ends == widest[:, starts])).any(1)


def _nodes_of_charts(labels: Tensor, lengths: Tensor, sentences: Tensor) -> GoldNodes:
    """The left binarisations of trees given as charts of labels [B, S], numbered `sentences`."""
    starts, ends = (t.tolist() for t in packed_spans(chart_length(labels)))
    trees = []
    for row in labels.cpu():
        at = row.nonzero().squeeze(1).tolist()
        spans = [(starts[k], ends[k], str(int(row[k]))) for k in at]
        trees.append(sorted(spans, key=lambda span: (span[0], -span[1])))
    index = {str(k): k for k in range(int(labels.max()) + 1)}
    nodes = gold_nodes(trees, lengths.tolist(), index)
    return GoldNodes(sentences[nodes.sentences], *(t.to(labels.device) for t in nodes[1:]))
