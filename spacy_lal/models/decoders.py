"""How a tree is chosen from a chart of label scores: the parser's registered decoders.

A decoder maps label scores [B, S, L] (packed charts, label 0 "no constituent") and lengths [B] to
what a span adds to a tree's value [B, S], the label it would have [B, S], and that label's
probability [B, S] or None. The tree is the one of highest value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from ..structure.chart import marginals

Decoder = Callable[[Tensor, Tensor], tuple[Tensor, Tensor, Tensor | None]]


def map_decoder(scores: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, None]:
    """The highest-scoring labelled binary tree (maximum a posteriori under a CRF)."""
    values, labels = scores.max(-1)
    return values, labels, None


def make_map_decoder() -> Decoder:
    """The tree of highest score (`spacy-lal.map_decoder.v1`), for either objective."""
    return map_decoder


@dataclass(frozen=True)
class MinimumBayesRisk:
    """The tree whose constituents have the highest sum of p - threshold.

    p is a labelled constituent's marginal probability under the CRF (labelled recall, Goodman
    1996). The threshold makes up for precision: improbable constituents are left out, rather than
    forced in because trees are binary.
    """

    threshold: float

    def __call__(self, scores: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        of_spans = torch.logsumexp(scores, -1)
        probable, labels = scores[..., 1:].max(-1)
        probability = (probable - of_spans).exp() * marginals(of_spans, lengths)
        gain = probability - self.threshold
        return gain.clamp(min=0), torch.where(gain > 0, labels + 1, 0), probability


def make_mbr_decoder(threshold: float = 0.45) -> Decoder:
    """Minimum Bayes risk decoding (`spacy-lal.mbr_decoder.v1`), for the CRF objective.

    threshold: a constituent less probable than this is left out. The constituents' probabilities
    become their scores on the Doc.
    """
    if not 0 <= threshold < 1:
        raise ValueError(f"threshold must lie in [0, 1), got {threshold}")
    return MinimumBayesRisk(threshold)
