"""Probability distributions over the trees of padded sentences.

`BinaryTrees` are unlabelled. `LabelledTrees` have labels and, in a joint model, heads.
`TwoStageTrees` choose labels after the tree. Charts [B, S] are packed by width.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

import torch
import torch.nn.functional as F
from torch import Tensor

from .agreed import best_joint_of_gains
from .arborescence import mask_padding
from .binarise import left_binarisation, log_weight
from .chart import (
    InsidePass,
    LogPartition,
    best_tree,
    chart_length,
    hamming_augment,
    inside_pass,
    marginals,
    own_spans,
    packed_spans,
    root_positions,
)
from .k_best_trees import k_best
from .lexicalised import joint_values
from .pruned import best_joint

LEAST = -87.0
"""Least logarithm of a number that is normal in float32. Processors take ten times as long for
smaller numbers, which beside a probability of 1 are 0."""
WIDER = 2
"""Number of trees ranked per tree wanted, where the search is not by probability."""


class FoundTrees(NamedTuple):
    """The trees chosen for a batch.

    labels [B, S]: labels of the constituents, else 0; None without labels. probabilities [B, S] of
    the constituents and log_prob [B] of the trees; None where scores are no log-probabilities.
    heads [B, n]: 0 the root, k word k; None without arcs.
    """

    labels: Tensor | None
    probabilities: Tensor | None = None
    log_prob: Tensor | None = None
    heads: Tensor | None = None


class KTrees(NamedTuple):
    """The k most probable trees of one sentence, or all of them, the best first. labels [k, S]:
    labels of constituents, else 0, in the sentence's own chart; log_prob [k]."""

    labels: Tensor
    log_prob: Tensor


class BinaryTrees:
    """The conditional random field over binary trees (Zhang et al. 2020, IJCAI).

    p(T) = exp(the sum of the scores of T's 2n-1 spans - log Z). scores: packed charts [B, S]; -inf
    excludes a span. Where no tree is left, log Z is -inf and probabilities mean nothing.
    """

    def __init__(self, scores: Tensor, lengths: Tensor) -> None:
        self.scores, self.lengths = scores, lengths.to(scores.device)

    @cached_property
    def _tables(self) -> InsidePass:
        return inside_pass(self.scores, self.lengths)

    @cached_property
    def log_partition(self) -> Tensor:
        """Returns log Z [B]; its gradient is the marginals."""
        return LogPartition.apply(self.scores, *self._tables)

    @cached_property
    def marginals(self) -> Tensor:
        """Returns the probability [B, S] that a span is in the tree; 0 outside the sentence."""
        return marginals(self._tables, self.scores.new_ones(len(self.scores)))

    def argmax(self) -> tuple[Tensor, Tensor]:
        """Returns the score [B] and the span mask [B, S] of the most probable tree."""
        return best_tree(self.scores, self.lengths)

    def mbr(self) -> tuple[Tensor, Tensor]:
        """Returns the tree of highest expected number of correct spans (Goodman 1996). The result
        is the expected number [B] and a mask of the tree's spans [B, S]."""
        return best_tree(self.marginals, self.lengths)

    def log_prob(self, tree: Tensor) -> Tensor:
        """Returns log p [B] of the trees whose 2n-1 spans are True in `tree` [B, S]."""
        return self.scores.masked_fill(~tree, 0.0).sum(1) - self.log_partition


class Trees(ABC):
    """A distribution over trees with labels 1..L-1; label 0 is "no constituent".

    nodes: the distribution over binary trees, labels summed out. probabilistic: whether scores are
    log-probabilities; without, only `argmax` is defined, without probabilities.
    """

    nodes: BinaryTrees
    lengths: Tensor
    probabilistic = True

    @abstractmethod
    def log_prob(self, labels: Tensor) -> Tensor:
        """Returns log p [B] of trees with labels [B, S], 0 at other spans than constituents."""

    def cross_entropy(self, labels: Tensor) -> Tensor:
        """Returns the loss [B] of gold trees, -log p."""
        return -self.log_prob(labels)

    @abstractmethod
    def argmax(self, share: float = 0.5) -> FoundTrees:
        """Returns the tree of highest score. share: constituents' weight; arcs have 1 - share."""

    @abstractmethod
    def mbr(
        self,
        threshold: float | None,
        arc_weight: float = 1.0,
        *,
        several_heads: float | None = None,
    ) -> FoundTrees:
        """Returns the tree of highest expected gain (minimum Bayes risk).

        threshold: less probable constituents are left out; None (two stages only): each node has
        its best label. arc_weight: the gain of a right arc relative to that of a constituent.
        several_heads: the least probability of constituents of which several words have heads
        outside; a tree with heads takes them where they fit in. None: none.
        """

    @abstractmethod
    def span_labels(self) -> tuple[Tensor, Tensor]:
        """Returns each span's probability as a constituent, and its best label, both [B, S]."""

    @abstractmethod
    def kmax(self, row: int, k: int) -> KTrees:
        """Returns the k most probable trees of the sentence `row`."""


@dataclass(eq=False)
class LabelledTrees(Trees):
    """The CRF over labelled binary trees (Zhang et al. 2020, with labels inside), or margins.

    A tree with more than two children at a node stands for the sum of its binarisations, with label
    0 between its constituents.

    scores: packed charts of label scores [B, S, L]. arcs: in a joint model, scores [B, n, n+1] of
    head h, 0 the root, for word d + 1 at [d, h], outside of trees' probabilities. group: the label
    of groups that are no constituents. rooted: whether whole sentences are constituents of found
    trees."""

    scores: Tensor
    lengths: Tensor
    _: KW_ONLY
    arcs: Tensor | None = None
    group: int | None = None
    probabilistic: bool = True
    rooted: bool = False

    def __post_init__(self) -> None:
        self.lengths = self.lengths.to(self.scores.device)

    @cached_property
    def nodes(self) -> BinaryTrees:  # type: ignore[override]
        if self.scores.requires_grad:
            return BinaryTrees(torch.logsumexp(self.scores, -1), self.lengths)
        # as logsumexp does it, but with a maximum that is known
        highest = self.probable.maximum(self.scores[..., 0])
        if self.group is not None:
            highest = highest.maximum(self.scores[..., self.group])
        finite = highest.clamp(min=torch.finfo(highest.dtype).min)
        shares = (self.scores - finite.unsqueeze(-1)).clamp_(min=LEAST).exp_()
        return BinaryTrees(shares.sum(-1).log_().add_(highest), self.lengths)

    @cached_property
    def probable(self) -> Tensor:
        """Returns the score of each span's best label of a constituent [B, S], -inf without any."""
        cut = self.scores.shape[-1] if self.group is None else self.group
        parts = self.scores[..., 1:cut], self.scores[..., cut + 1 :]
        found = [part.amax(-1) for part in parts if part.shape[-1]]
        if not found:
            return torch.full_like(self.scores[..., 0], -torch.inf)
        return found[0] if len(found) == 1 else found[0].maximum(found[1])

    def log_prob(self, labels: Tensor) -> Tensor:
        return log_weight(self.scores, labels, self.lengths, self.group) - self.nodes.log_partition

    def with_gold_groups(self, unknown: Tensor) -> Self:
        """Returns the trees for training, in which `<H>` groups (`hpsg`) have a label, too. unknown
        [B]: in sentences without gold groups, 0 stands for either label (log-probabilities), or the
        search leaves groups out (margins)."""
        if self.group is None:
            return self
        scores = self.scores
        if unknown.any():
            at = unknown.to(scores.device).view(-1, 1).expand(scores.shape[:2])
            columns = list(scores.unbind(-1))
            if self.probabilistic:
                either = torch.logaddexp(columns[0], columns[self.group])
                columns[0] = torch.where(at, either, columns[0])
            columns[self.group] = columns[self.group].masked_fill(at, -torch.inf)
            scores = torch.stack(columns, -1)
        return replace(self, scores=scores, group=None)

    def margin(self, labels: Tensor, cost: float = 1.0) -> Tensor:
        """Returns max_T [s(T) + Delta(T, T*)] - s(T*) [B] for gold trees T* with labels [B, S].

        Delta is `cost` for each span of T with another than the gold label, 0 where there is none
        in T* (Stern et al. 2017; Mrini et al. 2020, section 3.2, eqs. 8 and 9).
        """
        augmented = hamming_augment(self.scores, labels, cost)
        if self.rooted:
            rows, position = root_positions(self.scores, self.lengths)
            augmented[rows, position, 0] = -torch.inf
        best, at = augmented.max(-1)
        _, tree = best_tree(best.detach(), self.lengths)
        found = augmented.gather(-1, at.unsqueeze(-1)).squeeze(-1)
        reference = self.scores.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
        return (found * tree).sum(1) - (reference * (labels > 0)).sum(1)

    def argmax(self, share: float = 0.5) -> FoundTrees:
        constituent, labels, empty = joint_values(self.scores, self.lengths, self.group)
        arcs = None if self.arcs is None else (1 - share) * self.arcs

        def labels_of(labelled: Tensor) -> Tensor:
            return torch.where(labelled, labels, 0)

        return self._found(share * constituent, labels_of, share * empty, arcs)

    def mbr(
        self,
        threshold: float | None,
        arc_weight: float = 1.0,
        *,
        several_heads: float | None = None,
    ) -> FoundTrees:
        """Returns the tree of the highest sum of constituents' p - threshold and arc_weight * arcs'
        p.

        p is the probability of a labelled constituent (labelled recall, Goodman 1996). The
        threshold serves precision: it leaves out constituents that only a binary tree needs.
        """
        if threshold is None:
            raise ValueError("only trees of two stages do without a threshold")
        # a group has no gain; where a tree with heads needs one, it has no cost
        gain = (self.probable - self.nodes.scores).exp() * self.nodes.marginals - threshold
        arcs = None
        if self.arcs is not None:
            arcs = torch.softmax(mask_padding(self.arcs, self.lengths), -1)
            arcs = F.threshold(arcs, math.exp(LEAST), 0.0).mul_(arc_weight)
        more = None
        if several_heads is not None:
            more = gain.where(gain + threshold > several_heads, 0.0).clamp(min=0)

        def labels_of(labelled: Tensor) -> Tensor:
            at = (labelled & (gain > 0)).nonzero(as_tuple=True)
            scores = self.scores[at].index_fill(
                1, torch.tensor([0], device=gain.device), -torch.inf
            )
            if self.group is not None:
                scores[:, self.group] = -torch.inf
            labels = torch.zeros_like(labelled, dtype=torch.long)
            labels[at] = scores.argmax(-1)
            return labels

        return self._found(gain.clamp(min=0), labels_of, None, arcs, more)

    def _found(
        self,
        constituent: Tensor,
        labels_of: Callable[[Tensor], Tensor],
        empty: Tensor | None,
        arcs: Tensor | None,
        more: Tensor | None = None,
    ) -> FoundTrees:
        """Returns the tree of the highest sum of values. constituent, empty: values of spans with
        their best label and without one; None if all of these are 0 and no value is below 0.
        labels_of: returns the labels of the spans in a mask [B, S]. more: values of constituents
        that a tree with heads then takes in whatever the heads; 0 for none."""
        only_gains = empty is None
        if empty is None:
            empty = torch.zeros_like(constituent)
        if self.rooted:
            never = empty.new_tensor(-torch.inf)
            empty = empty.index_put(root_positions(empty, self.lengths), never)
        heads = None
        if arcs is None:
            # a span that must be in the tree takes the better of constituent and empty, and empty
            # where they are equal, as in the joint decoder
            _, tree = best_tree(torch.maximum(constituent, empty), self.lengths)
            labelled = tree & (constituent > empty)
        else:
            probable = self.nodes.marginals if self.probabilistic else None
            if only_gains:
                labelled, heads = best_joint_of_gains(constituent, arcs, self.lengths, probable)
            else:
                joint = best_joint(constituent, empty, arcs, self.lengths, probable)
                labelled, heads = joint.labelled, joint.heads
            if more is not None:
                kept = labelled & (constituent > empty)
                # more than all the rest of a tree; in double precision small values still count
                values = more.double() + 2 * chart_length(kept) * kept
                _, tree = best_tree(values, self.lengths)
                labelled = labelled | (tree & (more > 0))
        labels = labels_of(labelled)
        if self.group is not None:
            labels = torch.where(labels == self.group, 0, labels)
        if not self.probabilistic:
            return FoundTrees(labels, heads=heads)
        of_labels = self.scores.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
        probabilities = (of_labels - self.nodes.scores).exp() * self.nodes.marginals
        return FoundTrees(labels, probabilities, self.log_prob(labels), heads)

    def span_labels(self) -> tuple[Tensor, Tensor]:
        return _span_labels(self.scores, self.nodes.marginals, self.group)

    def kmax(self, row: int, k: int) -> KTrees:
        """Ranks the `WIDER` k best-scored trees, as no dynamic program ranks sums."""
        lengths = self.lengths[row : row + 1]
        here = own_spans(self.scores, int(lengths))
        chart = self.scores[row, here].unsqueeze(0)
        empty, group = chart[..., 0], self.group
        if group is not None:
            empty = torch.logaddexp(empty, chart[..., group])
        labels = _best_labels(chart, empty, group, lengths, WIDER * k)[0]
        one_each = chart.expand(len(labels), -1, -1), labels, lengths.expand(len(labels))
        log_z = BinaryTrees(torch.logsumexp(chart, -1), lengths).log_partition
        log_prob = log_weight(*one_each, group) - log_z
        order = log_prob.argsort(descending=True, stable=True)[:k]
        return KTrees(labels[order], log_prob[order])


@dataclass(eq=False)
class TwoStageTrees(Trees):
    """A CRF over binary trees, then a label for each node (Zhang et al. 2020, IJCAI, section 3).

    A tree's probability is that of its left binarisation, times those of its nodes' labels, 0
    included. spans: packed charts [B, S]. label_scores: function from sentences, starts and ends
    [N] of N spans to their label scores [N, L].
    """

    spans: Tensor
    label_scores: Callable[[Tensor, Tensor, Tensor], Tensor]
    lengths: Tensor

    def __post_init__(self) -> None:
        self.nodes = BinaryTrees(self.spans, self.lengths)
        self.lengths = self.nodes.lengths

    def _labels_of(self, rows: Tensor, at: Tensor) -> Tensor:
        starts, ends = (t.to(at.device) for t in packed_spans(chart_length(self.spans)))
        return self.label_scores(rows, starts[at], ends[at])

    def _log_probs(self, labels: Tensor) -> tuple[Tensor, Tensor]:
        nodes = left_binarisation(labels, self.lengths)
        rows, at = nodes.nonzero(as_tuple=True)
        loss = F.cross_entropy(self._labels_of(rows, at), labels[rows, at], reduction="none")
        of_labels = loss.new_zeros(len(labels)).index_add(0, rows, -loss)
        return self.nodes.log_prob(nodes), of_labels

    def log_prob(self, labels: Tensor) -> Tensor:
        of_nodes, of_labels = self._log_probs(labels)
        return of_nodes + of_labels

    def cross_entropy(self, labels: Tensor) -> Tensor:
        """Returns -log p of the unlabelled tree plus the cross-entropy of its nodes' labels [B].

        Zhang et al. 2020, section 3.5. The second term is scaled so that the batch's sum over its
        words is the likelihood's mean over words plus the cross-entropy's over nodes, as in supar.
        """
        of_nodes, of_labels = self._log_probs(labels)
        per_word = self.lengths.sum().to(of_nodes) / (2 * self.lengths - 1).sum()
        return -per_word * of_labels - of_nodes

    def argmax(self, share: float = 0.5) -> FoundTrees:
        """Returns the most probable binary tree, with the best label of each node."""
        return self._labelled(self.nodes.argmax()[1], None)

    def mbr(
        self,
        threshold: float | None,
        arc_weight: float = 1.0,
        *,
        several_heads: float | None = None,
    ) -> FoundTrees:
        """Returns the binary tree of most probable spans, whatever the threshold. Without a
        threshold, each span has its best label, 0 included (Floquet et al., section 2.1)."""
        return self._labelled(self.nodes.mbr()[1], threshold)

    def _labelled(self, tree: Tensor, threshold: float | None) -> FoundTrees:
        rows, at = tree.nonzero(as_tuple=True)
        scores, sure = self._labels_of(rows, at), self.nodes.marginals[rows, at]
        if threshold is None:
            chosen = scores.argmax(-1)
        else:
            probable, best = torch.softmax(scores, -1)[:, 1:].max(-1)
            chosen = torch.where(probable * sure > threshold, best + 1, 0)
        labels = torch.zeros(tree.shape, dtype=torch.long, device=tree.device)
        labels[rows, at] = chosen
        of_labels = torch.log_softmax(scores, -1).gather(-1, chosen.unsqueeze(-1)).squeeze(-1)
        probabilities, log_probs = torch.zeros_like(self.spans), torch.zeros_like(self.spans)
        probabilities[rows, at] = of_labels.exp() * sure
        log_probs[rows, at] = of_labels
        # another binarisation than the left one has the same constituents but other nodes
        left = left_binarisation(labels, self.lengths)
        rows, at = (left & ~tree).nonzero(as_tuple=True)
        log_probs[rows, at] = torch.log_softmax(self._labels_of(rows, at), -1)[:, 0]
        log_prob = self.nodes.log_prob(left) + log_probs.masked_fill(~left, 0.0).sum(1)
        return FoundTrees(labels, probabilities, log_prob)

    def span_labels(self) -> tuple[Tensor, Tensor]:
        rows, at = torch.ones_like(self.spans, dtype=torch.bool).nonzero(as_tuple=True)
        scores = self._labels_of(rows, at).unflatten(0, self.spans.shape)
        return _span_labels(scores, self.nodes.marginals, None)

    def kmax(self, row: int, k: int) -> KTrees:
        lengths = self.lengths[row : row + 1]
        here = own_spans(self.spans, int(lengths))
        spans = self.spans[row, here].unsqueeze(0)
        labels = self._labels_of(torch.full_like(here, row), here)
        chart = spans.unsqueeze(-1) + torch.log_softmax(labels, -1)
        trees, scores = _best_labels(chart, chart[..., 0], None, lengths, k)
        return KTrees(trees, scores - BinaryTrees(spans, lengths).log_partition)


def _best_labels(
    chart: Tensor, empty: Tensor, group: int | None, lengths: Tensor, k: int
) -> tuple[Tensor, Tensor]:
    """Returns the labels [k, S] and scores [k] of one sentence's k best trees, from scores of
    labels, chart [1, S, L], and of spans that are no constituents, empty [1, S]."""
    constituents = chart[..., 1:]
    if group is not None:
        constituents = constituents.clone()
        constituents[..., group - 1] = -torch.inf
    values, label = constituents.topk(min(k, constituents.shape[-1]), -1)
    found = k_best(values, empty, lengths, k)
    there = found.scores[0].isfinite()
    choice = found.labels[0, there]
    labels = label[0].gather(-1, (choice.T - 1).clamp(min=0)).T + 1
    return torch.where(choice > 0, labels, 0), found.scores[0, there]


def _span_labels(scores: Tensor, of_nodes: Tensor, group: int | None) -> tuple[Tensor, Tensor]:
    shares = torch.softmax(scores, -1)
    shares[..., 0] = 0.0
    if group is not None:
        shares[..., group] = 0.0
    return (shares.sum(-1) * of_nodes).clamp(0, 1), shares.argmax(-1)
