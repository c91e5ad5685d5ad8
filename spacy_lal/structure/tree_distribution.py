"""The probability distribution over a sentence's binary trees."""

from __future__ import annotations

from functools import cached_property

from torch import Tensor

from .chart import (
    Entropy,
    InsidePass,
    LogPartition,
    Marginals,
    best_tree,
    checked_lengths,
    inside_pass,
    spans_within,
)
from .k_best_trees import k_best


class TreeDistribution:
    """The conditional random field over binary trees (Zhang et al. 2020, IJCAI).

    p(T) = exp(the sum of the scores of T's 2n-1 spans - log Z).

    scores: packed charts [B, S]; lengths: words of each sentence [B], 1..n. A score of -inf
    excludes a span; where no tree is left, log Z is -inf and probabilities mean nothing. What is
    said of one tree below is said of each sentence's.

    The inside pass is made once, when it is first needed. What is cached belongs to the grad mode
    of its first use.
    """

    def __init__(self, scores: Tensor, lengths: Tensor) -> None:
        self._n, self.lengths = checked_lengths(scores, lengths)
        self.scores = scores

    @cached_property
    def _tables(self) -> InsidePass:
        return inside_pass(self.scores, self.lengths)

    @cached_property
    def log_partition(self) -> Tensor:
        """log Z [B], twice differentiable."""
        return LogPartition.apply(self.scores, *self._tables)

    @cached_property
    def marginals(self) -> Tensor:
        """[B, S]: the probability that a span is in the tree; 0 outside the sentence.

        Differentiable once: the gradient is a product with the Hessian of log Z, the covariances of
        spans, by carrying derivatives through both passes (Li and Eisner 2009 for such semirings).
        """
        tops = self.scores.new_ones(len(self.scores))
        return Marginals.apply(self.scores, tops, *self._tables)

    @cached_property
    def entropy(self) -> Tensor:
        """[B], in nats: log Z less the mean score of a tree. Differentiable once."""
        return Entropy.apply(self.scores, *self._tables)

    def argmax(self) -> tuple[Tensor, Tensor]:
        """The most probable tree: its score [B] and a mask of its spans [B, S]."""
        return best_tree(self.scores, self.lengths)

    def mbr(self) -> tuple[Tensor, Tensor]:
        """The tree with the most spans in common with the true one, by expectation (Goodman 1996).

        Returns that expected number [B] and a mask of the tree's spans [B, S].
        """
        return best_tree(self.marginals, self.lengths)

    def kmax(self, k: int) -> tuple[Tensor, Tensor]:
        """The k most probable trees, best first: their scores [B, k] and masks [B, k, S].

        Where there are fewer, scores are -inf and masks False.
        """
        best = k_best(self.scores.unsqueeze(-1), None, self.lengths, k)
        return best.scores, best.spans

    def log_prob(self, tree: Tensor) -> Tensor:
        """log p [B] of the trees whose spans are True in `tree` [B, S]; twice differentiable.

        Raises ValueError unless these are 2n-1 spans inside each sentence. That they don't cross is
        not looked at.
        """
        inner = (tree & spans_within(self._n, self.lengths)).sum(1)
        wrong = (inner != 2 * self.lengths - 1) | (tree.sum(1) != inner)
        if wrong.any():
            row = int(wrong.nonzero()[0])
            raise ValueError(
                f"a tree of {int(self.lengths[row])} words has {2 * int(self.lengths[row]) - 1} "
                f"spans inside the sentence, not {int(inner[row])} inside and "
                f"{int(tree[row].sum() - inner[row])} outside (row {row})"
            )
        return self.scores.masked_fill(~tree, 0.0).sum(1) - self.log_partition
