"""What a chart of label scores is trained to do: the parser's registered objectives.

An objective maps label scores [B, S, L] (packed charts, label 0 "no constituent"), the gold
label of every span [B, S] and the sentences' lengths [B] to one loss per sentence [B].
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from ..structure.chart import best_tree, hamming_augment, inside, packed_spans

Objective = Callable[[Tensor, Tensor, Tensor], Tensor]


def margin_loss(scores: Tensor, gold: Tensor, lengths: Tensor) -> Tensor:
    """max_T [s(T) + Delta(T, T*)] - s(T*): Mrini et al. 2020, section 4 (Stern et al. 2017).

    Delta is the number of spans of T whose label differs from that span's gold label, spans that
    are no gold constituent included (their gold label is 0). s(T*) sums the gold constituents;
    the binary tree's other spans have label 0, whose score is the constant 0 of the scorer.
    """
    augmented = hamming_augment(scores, gold)
    best, labels = augmented.max(-1)
    _, tree = best_tree(best.detach(), lengths)
    found = augmented.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
    reference = scores.gather(-1, gold.unsqueeze(-1)).squeeze(-1)
    return (found * tree).sum(1) - (reference * (gold > 0)).sum(1)


def crf_loss(scores: Tensor, gold: Tensor, lengths: Tensor) -> Tensor:
    """-log p(T*) in the CRF over labelled binary trees (Zhang et al. 2020, with labels inside).

    A tree with more than two children at a node stands for all its binarisations: the numerator
    sums the trees that hold every gold constituent under its label and nothing but label 0
    between them, so no binarisation is imposed.
    """
    allowed = _compatible(gold, lengths)
    reference = scores.gather(-1, gold.unsqueeze(-1)).squeeze(-1)
    # finite, so that the difference of two charts never meets inf - inf
    reference = reference.masked_fill(~allowed, -1e4)
    return inside(torch.logsumexp(scores, -1), lengths) - inside(reference, lengths)


def _compatible(gold: Tensor, lengths: Tensor) -> Tensor:
    """[B, S] True where a span crosses no gold constituent."""
    size = gold.shape[1]
    n = int(((8 * size + 1) ** 0.5 - 1) / 2)
    starts, ends = (t.to(gold.device) for t in packed_spans(n))
    batch, at = (gold > 0).nonzero(as_tuple=True)
    # gold constituents of a sentence, side by side: [B, most constituents of a sentence]
    counts = torch.bincount(batch, minlength=len(gold))
    column = torch.arange(len(batch), device=gold.device) - (counts.cumsum(0) - counts)[batch]
    table = starts.new_zeros(2, len(gold), max(1, int(counts.max()) if len(counts) else 1))
    table[0, batch, column] = starts[at]
    table[1, batch, column] = ends[at]
    i, j = starts.view(1, -1, 1), ends.view(1, -1, 1)
    a, b = table[0].unsqueeze(1), table[1].unsqueeze(1)
    crosses = ((i < a) & (a < j) & (j < b)) | ((a < i) & (i < b) & (b < j))
    return ~crosses.any(-1)


def make_margin_objective() -> Objective:
    """The max-margin loss of the label attention parser (`spacy-lal.margin_objective.v1`)."""
    return margin_loss


def make_crf_objective() -> Objective:
    """The tree CRF's negative log-likelihood (`spacy-lal.crf_objective.v1`)."""
    return crf_loss
