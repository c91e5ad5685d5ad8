"""The k most probable trees of a sentence."""

from __future__ import annotations

import numpy
import torch
from torch import Tensor

from ..batching.batches import ParserScores, SentenceBatch
from ..batching.parses import SentenceParse
from ..layers.label_factors import label_scores
from ..structure.chart import inside, packed_spans, span_position
from ..structure.k_best_trees import k_best
from .losses import log_weight
from .network import Scores, TwoStageScores

WIDER = 2
"""How many times more trees than asked for are ranked, where the search is not by probability."""


@torch.no_grad()
def k_best_parses(
    scores: ParserScores[Scores], k: int, *, sub_head: int | None = None
) -> dict[int, list[SentenceParse]]:
    """The k most probable trees of every parsed sentence, the best first.

    In two stages, exactly: a tree's probability is that of its left binarisation with its labels.
    Otherwise a tree's probability is the sum over all its binarisations, which no dynamic program
    ranks: the `WIDER` k trees of highest score are ranked by it. sub_head: the label of groups that
    are no constituents. Heads are not looked at. Raises ValueError for k < 1.
    """
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    parses = {}
    for batch in scores.batches:
        for row, member in enumerate(batch.members):
            parses[member] = _of_sentence(batch, row, k, sub_head)
    return parses


def _of_sentence(
    batch: SentenceBatch[Scores], row: int, k: int, sub_head: int | None
) -> list[SentenceParse]:
    of, lengths = batch.scores, batch.lengths[row : row + 1]
    n = int(lengths)
    starts, ends = (t.to(of.tags.device) for t in packed_spans(n))
    here = span_position(of.tags.shape[1], starts, ends)
    two_stages = isinstance(of, TwoStageScores)
    if isinstance(of, TwoStageScores):
        span_scores = of.spans[row, here]
        log_z = inside(span_scores.unsqueeze(0), lengths)
        labels = label_scores(of.factors, torch.full_like(starts, row), starts, ends)
        chart = (span_scores.unsqueeze(-1) + torch.log_softmax(labels, -1)).unsqueeze(0)
    else:
        assert of.labels is not None
        chart = of.labels[row, here].unsqueeze(0)
        log_z = inside(torch.logsumexp(chart, -1), lengths)
    constituents, empty = chart[..., 1:], chart[..., 0]
    if sub_head is not None:
        empty = torch.logaddexp(empty, chart[..., sub_head])
        constituents = constituents.clone()
        constituents[..., sub_head - 1] = -torch.inf
    best, label = constituents.topk(min(k, constituents.shape[-1]), -1)
    found = k_best(best, empty, lengths, k if two_stages else WIDER * k)
    there = found.scores[0].isfinite()
    choice = found.labels[0, there]
    chosen_labels = label[0].gather(-1, (choice.T - 1).clamp(min=0)).T + 1
    trees = torch.where(choice > 0, chosen_labels, 0)
    if two_stages:
        log_prob = found.scores[0, there] - log_z
    else:
        one_each = chart.expand(len(trees), -1, -1), trees, lengths.expand(len(trees))
        log_prob = log_weight(*one_each, sub_head) - log_z
    log_prob = log_prob.clamp(max=0)
    order = log_prob.argsort(descending=True, stable=True)[:k]
    tags = of.tags[row, :n].argmax(-1).cpu().numpy()
    return [
        _parse(trees[number], float(log_prob[number]), tags, starts, ends)
        for number in order.tolist()
    ]


def _parse(
    tree: Tensor, log_prob: float, tags: numpy.ndarray, starts: Tensor, ends: Tensor
) -> SentenceParse:
    at = tree.nonzero().squeeze(1)
    # preorder: by start, the wider of two that start together first
    at = at[torch.argsort(starts[at] * (len(starts) + 1) - ends[at])]
    first, last, labels = (t[at].cpu().numpy() for t in (starts, ends, tree))
    return SentenceParse(tags, first, last, labels, log_prob=log_prob)
