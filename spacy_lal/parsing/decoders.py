"""Registered decoders: from scores to trees, heads and tags."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy
import torch
from torch import Tensor

from ..batching.batches import ParserScores
from ..pipeline.writers import SentenceParse
from ..structure.arborescence import greedy, mask_padding, nonprojective, projective
from ..structure.chart import packed_spans
from ..structure.distributions import FoundTrees, Trees
from .network import OneStageScores, Scores

Decoder = Callable[[Trees], FoundTrees]
"""Chooses a tree for each sentence."""


@dataclass(frozen=True)
class MaximumAPosteriori:
    """Decoder of the tree of highest score (`spacy-lal.map_decoder.v1`), for either objective.

    Joint models: lambda s_constituents + (1 - lambda) s_arcs, lambda = `share` (Zhou and Zhao 2019,
    section 3.4). Two stages: the most probable binary tree, then the best label of each of its
    spans (Vu-Tran et al., eqs. 22 and 23).
    """

    share: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise ValueError(f"share must be above 0 and at most 1, got {self.share}")

    def __call__(self, trees: Trees) -> FoundTrees:
        return trees.argmax(self.share)


@dataclass(frozen=True)
class MinimumBayesRisk:
    """Decoder of the tree of highest expected gain (`spacy-lal.mbr_decoder.v1`), for the CRF.

    threshold: constituents less probable than this are left out; None (two-stage parsers only)
        gives each span of the tree its best label, as in the papers.
    arc_weight: gain of a right arc relative to that of a right constituent, in a joint model.
    several_heads: least probability of constituents of which several words have heads outside, as
        the small clause in "made the children laugh" has in Universal Dependencies. A joint
        model's tree takes them where they cross no other constituent; null: never.
    """

    threshold: float | None = 0.45
    arc_weight: float = 1.0
    several_heads: float | None = None

    def __post_init__(self) -> None:
        for name in ("threshold", "several_heads"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < 1:
                raise ValueError(f"{name} must be at least 0 and below 1, got {value}")

    def __call__(self, trees: Trees) -> FoundTrees:
        return trees.mbr(self.threshold, self.arc_weight, several_heads=self.several_heads)


HeadDecoder = Callable[[Tensor, Tensor], Tensor]
"""Arc scores [B, n, n+1], lengths [B] -> heads [B, n]."""
HeadDecoderName = Literal["projective", "nonprojective", "greedy"]
HEAD_DECODERS: dict[str, HeadDecoder] = {
    "projective": projective,
    "nonprojective": nonprojective,
    "greedy": greedy,
}
"""The decoders of heads by their names in a config."""


Finder = Callable[[Scores, Tensor], FoundTrees]
"""Chooses trees, heads or both of a padded batch, from scores and lengths [B]."""


@torch.no_grad()
def read_parses(
    scores: ParserScores[Scores],
    find: Finder,
    root: int | None = None,
) -> dict[int, SentenceParse]:
    """Return the parse of every parsed sentence, by its index in `scores.sentences`.
    find: chooses trees, heads or both. root: the root relation, which never holds between words."""
    parses: dict[int, SentenceParse] = {}
    for batch in scores.batches:
        found = find(batch.scores, batch.lengths)
        of_batch = parses_of(batch.scores, batch.lengths, found, root)
        parses.update(zip(batch.members, of_batch, strict=True))
    return parses


def parses_of(
    of: Scores, lengths: Tensor, found: FoundTrees, root: int | None
) -> list[SentenceParse]:
    """Return the parses of a padded batch in which these trees were found."""
    sure, tags = torch.softmax(of.tags, -1).max(-1)
    by_word = {"tags": tags, "tag_probabilities": sure}
    if found.heads is not None:
        assert isinstance(of, OneStageScores)
        assert of.arcs is not None
        relations = of.relations_of(found.heads)
        names = best_relations(relations, found.heads, root)
        arcs = mask_padding(of.arcs, lengths)
        sure_of_head = head_probabilities(arcs, relations, found.heads, names)
        by_word |= {"heads": found.heads, "relations": names, "head_probabilities": sure_of_head}
    columns: dict[str, Any] = {name: values.cpu().numpy() for name, values in by_word.items()}
    parses = [
        SentenceParse(**{name: values[row, :n] for name, values in columns.items()})
        for row, n in enumerate(lengths.tolist())
    ]
    if found.labels is not None:
        labels = found.labels.cpu().numpy()
        probabilities, log_prob = (
            None if values is None else values.clamp(max=top).cpu().numpy()
            # rounding may lift probabilities above 1
            for values, top in ((found.probabilities, 1), (found.log_prob, 0))
        )
        for row, (starts, ends, at) in enumerate(in_preorder(labels, tags.shape[1])):
            parse = parses[row]
            parse.starts, parse.ends, parse.labels = starts, ends, labels[row, at]
            if probabilities is not None and log_prob is not None:
                parse.probabilities, parse.log_prob = probabilities[row, at], float(log_prob[row])
    return parses


def in_preorder(labels: numpy.ndarray, n: int) -> Iterator[tuple[numpy.ndarray, ...]]:
    """Yield the starts, ends and chart indices, in preorder, of the constituents of each of the
    charts [B, S] of labels over n words."""
    starts, ends = (t.numpy() for t in packed_spans(n))
    rows, at = labels.nonzero()
    # by start, the wider span first
    order = numpy.lexsort((-ends[at], starts[at], rows))
    rows, at = rows[order], at[order]
    bounds = numpy.searchsorted(rows, numpy.arange(len(labels) + 1))
    for first, last in pairwise(bounds):
        own = at[first:last]
        yield starts[own], ends[own], own


def best_relations(relations: Tensor, heads: Tensor, root: int | None = None) -> Tensor:
    """Return the best relation [B, n] of each word to its head, from scores [B, n, R].
    root: the root relation; it never holds between words unless it is the only relation."""
    if root is not None and relations.shape[-1] > 1:
        relations = relations.clone()
        relations[..., root].masked_fill_(heads > 0, -torch.inf)
    return relations.argmax(-1)


def head_probabilities(arcs: Tensor, relations: Tensor, heads: Tensor, names: Tensor) -> Tensor:
    """Return P(head | word) P(relation | word, head) [B, n] of chosen heads and relations.
    arcs: [B, n, n+1], padding masked. relations: as in `best_relations`. heads, names: [B, n]."""
    of_head = torch.softmax(arcs, -1).gather(-1, heads.unsqueeze(-1))
    of_relation = torch.softmax(relations, -1).gather(-1, names.unsqueeze(-1))
    return (of_head * of_relation).squeeze(-1)
