"""What a chart of label scores is trained to do: the parser's registered objectives.

In two stages, the loss is `two_stage_loss`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import torch
import torch.nn.functional as F
from torch import Tensor

from ..layers.label_factors import label_scores
from ..structure.chart import (
    best_tree,
    chart_length,
    hamming_augment,
    inside,
    packed_spans,
    root_positions,
    span_position,
)
from .gold_charts import GoldNodes
from .network import TwoStageScores


@runtime_checkable
class Objective(Protocol):
    """A loss of constituents."""

    probabilistic: ClassVar[bool]
    """Whether scores are trained as log-probabilities."""

    @property
    def labels_root(self) -> bool:
        """Whether the whole sentence is a constituent of every tree, in training and after it."""

    def __call__(self, scores: Tensor, gold: Tensor, lengths: Tensor) -> Tensor:
        """The loss of each sentence [B].

        scores: of labels [B, S, L] (packed charts, label 0 "no constituent"). gold: the label of
        every span [B, S]. lengths: words of the sentences [B].
        """


@dataclass(frozen=True)
class MarginObjective:
    """`margin_loss`."""

    labels_root: bool
    probabilistic: ClassVar[bool] = False

    def __call__(self, scores: Tensor, gold: Tensor, lengths: Tensor) -> Tensor:
        return margin_loss(scores, gold, lengths, labels_root=self.labels_root)


@dataclass(frozen=True)
class CRFObjective:
    """`crf_loss`."""

    labels_root: bool = False
    probabilistic: ClassVar[bool] = True

    def __call__(self, scores: Tensor, gold: Tensor, lengths: Tensor) -> Tensor:
        return crf_loss(scores, gold, lengths)


def margin_loss(
    scores: Tensor, gold: Tensor, lengths: Tensor, *, labels_root: bool = False
) -> Tensor:
    """max(0, max_T [s(T) + Delta(T, T*)] - s(T*)): Mrini et al. 2020, section 3.2, eqs. 8 and 9.

    Delta is the number of spans of T whose label differs from that span's gold label, spans that
    are no gold constituent included (their gold label is 0; Stern et al. 2017). s(T*) sums the
    gold constituents; the binary tree's other spans have label 0, whose score is the constant 0 of
    the scorer. labels_root: search only trees T that have the whole sentence as a constituent, as
    the released program does. If T* is not among them, the maximum may be below s(T*).
    """
    augmented = hamming_augment(scores, gold)
    if labels_root:
        rows, position = root_positions(scores, lengths)
        augmented[rows, position, 0] = -torch.inf
    best, labels = augmented.max(-1)
    _, tree = best_tree(best.detach(), lengths)
    found = augmented.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
    reference = scores.gather(-1, gold.unsqueeze(-1)).squeeze(-1)
    loss = (found * tree).sum(1) - (reference * (gold > 0)).sum(1)
    return loss.clamp(min=0) if labels_root else loss


def crf_loss(scores: Tensor, gold: Tensor, lengths: Tensor) -> Tensor:
    """-log p(T*) in the CRF over labelled binary trees (Zhang et al. 2020, with labels inside).

    A tree with more than two children at a node stands for all its binarisations: the numerator
    sums the trees that hold every gold constituent under its label and nothing but label 0
    between them, so no binarisation is imposed.
    """
    return inside(torch.logsumexp(scores, -1), lengths) - log_weight(scores, gold, lengths)


def log_weight(
    scores: Tensor, gold: Tensor, lengths: Tensor, sub_head: int | None = None
) -> Tensor:
    """The log-sum [B] of exp(score) over the binary trees that stand for one with these labels.

    gold [B, S]: labels of the constituents, else 0. sub_head: a label that spans without a
    constituent may have instead of 0.
    """
    allowed = _compatible(gold)
    reference = scores.gather(-1, gold.unsqueeze(-1)).squeeze(-1)
    if sub_head is not None:
        either = torch.logaddexp(scores[..., 0], scores[..., sub_head])
        reference = torch.where(gold > 0, reference, either)
    # finite, so that the difference of two charts never meets inf - inf
    return inside(reference.masked_fill(~allowed, -1e4), lengths)


def _compatible(gold: Tensor) -> Tensor:
    """[B, S] True where a span crosses no gold constituent."""
    n = chart_length(gold)
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


def label_unknown(scores: Tensor, rows: Tensor, label: int, *, probabilistic: bool) -> Tensor:
    """Scores [B, S, L] with which an objective learns nothing of one label from some sentences.

    rows [B]: in which sentences nobody knows whether a span without a constituent has this label
    or 0. As log-probabilities, 0 stands there for either of the two, so that the numerator of
    `crf_loss` sums both; as margins, the label is not among those that are searched.
    """
    at = rows.view(-1, 1).expand(scores.shape[:2])
    empty, hidden = scores[..., 0], scores[..., label]
    columns = list(scores.unbind(-1))
    if probabilistic:
        columns[0] = torch.where(at, torch.logaddexp(empty, hidden), empty)
    columns[label] = hidden.masked_fill(at, -torch.inf)
    return torch.stack(columns, -1)


def two_stage_loss(scores: TwoStageScores, gold: GoldNodes, lengths: Tensor) -> Tensor:
    """-log p(T) of the unlabelled binary tree and the cross-entropy of its nodes' labels [B].

    Zhang et al. 2020, section 3.5. Trees are binarised beforehand. The cross-entropy is summed
    over a sentence's nodes and brought to the scale of its words, so that the padded batch's sum
    over its number of words is the likelihood's mean over words and the cross-entropy's mean over
    nodes, as in supar. A sentence without gold nodes has no meaning here.
    """
    n = chart_length(scores.spans)
    tree = torch.zeros_like(scores.spans)
    tree[gold.sentences, span_position(n, gold.starts, gold.ends)] = 1
    likelihood = (scores.spans * tree).sum(1) - inside(scores.spans, lengths)
    labels = label_scores(scores.factors, gold.sentences, gold.starts, gold.ends)
    entropy = F.cross_entropy(labels, gold.labels, reduction="none")
    per_word = lengths.sum().to(likelihood) / (2 * lengths - 1).sum()
    return (
        per_word * likelihood.new_zeros(len(lengths)).index_add(0, gold.sentences, entropy)
        - likelihood
    )


def make_margin_objective() -> Objective:
    """The max-margin loss of the label attention parser (`spacy-lal.margin_objective.v1`)."""
    return MarginObjective(labels_root=False)


def make_margin_objective_v2() -> Objective:
    """The same over trees that have the whole sentence as a constituent, as in the released program
    (`spacy-lal.margin_objective.v2`). The parser finds only such trees."""
    return MarginObjective(labels_root=True)


def make_crf_objective() -> Objective:
    """The tree CRF's negative log-likelihood (`spacy-lal.crf_objective.v1`)."""
    return CRFObjective()
