"""How trees are chosen from scores: the parser's registered decoders.

A decoder says what a constituent, a span without one, and a dependency arc would add to the value
of a tree. The tree is the one of highest value: of all binary trees (`structure/chart.py`), or, for
a joint model, of all binary trees with heads (`structure/lexicalised.py`). In two stages it says
what a span is worth to the binary tree, then which labels the tree's spans get.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import torch
from torch import Tensor

from ..structure.lexicalised import joint_values


class SpanValues(NamedTuple):
    """What spans add to a tree.

    constituent [B, S]: of the span with its best label; labels [B, S]: that label, 0 if none is
    worth it. empty [B, S]: of the span without a label.
    """

    constituent: Tensor
    labels: Tensor
    empty: Tensor


class SpanMarginals(NamedTuple):
    """The CRF's view of spans: `total` [B, S], the log-sum of a span's label scores, and
    `probability` [B, S], that the span is in the tree under some label, 0 included."""

    total: Tensor
    probability: Tensor


@runtime_checkable
class Decoder(Protocol):
    """What every span and every arc would add to the score of a tree."""

    def spans(
        self, scores: Tensor, marginals: SpanMarginals | None, lengths: Tensor, sub_head: int | None
    ) -> SpanValues:
        """Values from label scores [B, S, L] (packed charts, label 0 "no constituent").

        marginals: None if the scores were not trained as log-probabilities. sub_head: the label of
        groups that are no constituents, in a joint model.
        """

    def arcs(self, scores: Tensor, lengths: Tensor) -> Tensor:
        """Values [B, n, n+1] from arc scores [B, n, n+1]."""

    def nodes(self, scores: Tensor, probabilities: Tensor) -> Tensor:
        """Values [B, S] of spans in the first of two stages, from scores and probabilities."""

    def labels(self, scores: Tensor, probabilities: Tensor) -> Tensor:
        """The labels [N] of N spans, 0 for none, from label scores [N, L] and probabilities [N]."""


@dataclass(frozen=True)
class MaximumAPosteriori:
    """The tree of highest score: lambda s_constituents + (1 - lambda) s_arcs in a joint model.

    Zhou and Zhao 2019, section 3.4; without heads there is nothing to share. In two stages, the
    most probable binary tree, then the best label of each of its spans (Vu-Tran et al., eqs. 22
    and 23).
    """

    share: float

    def spans(
        self, scores: Tensor, marginals: SpanMarginals | None, lengths: Tensor, sub_head: int | None
    ) -> SpanValues:
        constituent, labels, empty = joint_values(scores, lengths, sub_head)
        return SpanValues(self.share * constituent, labels, self.share * empty)

    def arcs(self, scores: Tensor, lengths: Tensor) -> Tensor:
        return (1 - self.share) * scores

    def nodes(self, scores: Tensor, probabilities: Tensor) -> Tensor:
        return scores

    def labels(self, scores: Tensor, probabilities: Tensor) -> Tensor:
        return scores.argmax(-1)


@dataclass(frozen=True)
class MinimumBayesRisk:
    """The tree whose constituents have the highest sum of p - threshold.

    p is a labelled constituent's marginal probability under the CRF (labelled recall, Goodman
    1996). The threshold makes up for precision: improbable constituents are left out, rather than
    forced in because trees are binary. In a joint model each arc adds `arc_weight` times its
    probability. In two stages, the binary tree of most probable spans, whatever the threshold;
    without one, each of its spans has its best label, 0 included (Floquet et al., section
    2.1).
    """

    threshold: float | None
    arc_weight: float

    def spans(
        self, scores: Tensor, marginals: SpanMarginals | None, lengths: Tensor, sub_head: int | None
    ) -> SpanValues:
        assert marginals is not None, "margins are no probabilities"
        assert self.threshold is not None, "only two stages do without a threshold"
        real = scores[..., 1:]
        if sub_head is not None:
            # a group is no gain; where a tree with heads needs one it costs nothing
            real = real.clone()
            real[..., sub_head - 1] = -torch.inf
        probable, labels = real.max(-1)
        gain = (probable - marginals.total).exp() * marginals.probability - self.threshold
        return SpanValues(
            gain.clamp(min=0), torch.where(gain > 0, labels + 1, 0), torch.zeros_like(gain)
        )

    def arcs(self, scores: Tensor, lengths: Tensor) -> Tensor:
        return self.arc_weight * torch.softmax(mask_padding(scores, lengths), -1)

    def nodes(self, scores: Tensor, probabilities: Tensor) -> Tensor:
        return probabilities

    def labels(self, scores: Tensor, probabilities: Tensor) -> Tensor:
        if self.threshold is None:
            return scores.argmax(-1)
        probable, labels = torch.softmax(scores, -1)[:, 1:].max(-1)
        return torch.where(probable * probabilities > self.threshold, labels + 1, 0)


def mask_padding(arcs: Tensor, lengths: Tensor) -> Tensor:
    """Arc scores [B, n, n+1] with -inf for heads past the sentence's end."""
    heads = torch.arange(arcs.shape[2], device=arcs.device)
    return arcs.masked_fill(heads > lengths.to(arcs.device).view(-1, 1, 1), -torch.inf)


def make_map_decoder(share: float = 0.5) -> Decoder:
    """The tree of highest score (`spacy-lal.map_decoder.v1`), for either objective.

    share: in a joint model, the constituents' share of the score; arcs have the rest.
    """
    if not 0 < share <= 1:
        raise ValueError(f"share must be above 0 and at most 1, got {share}")
    return MaximumAPosteriori(share)


def make_mbr_decoder(threshold: float | None = 0.45, arc_weight: float = 1.0) -> Decoder:
    """Minimum Bayes risk decoding (`spacy-lal.mbr_decoder.v1`), for the CRF objective.

    threshold: a constituent less probable than this is left out. None, for a two-stage parser
    only: each span of the tree gets its best label, as in the papers. arc_weight: in a joint
    model, the gain of a right arc relative to that of a right constituent.
    Raises ValueError for a threshold that is not in [0, 1).
    """
    if threshold is not None and not 0 <= threshold < 1:
        raise ValueError(f"threshold must be at least 0 and below 1, got {threshold}")
    return MinimumBayesRisk(threshold, arc_weight)
