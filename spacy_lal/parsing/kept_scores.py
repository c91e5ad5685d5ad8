"""Trees decoded with the arcs of two networks: a parser keeps its scores, and a component behind it
(`lisa_srl`) decodes them again with its own arcs, so that trees and heads agree."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast
from weakref import WeakKeyDictionary

import torch
from spacy.tokens import Doc
from torch import Tensor

from ..batching.batches import ParserScores
from ..layers.biaffine import Matrices
from ..pipeline.writers import SentenceParse
from ..structure.arborescence import mask_padding
from ..structure.chart import chart_size, own_spans
from .decoders import parses_of
from .network import OneStageScores, Scores

SentenceScores = tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Matrices]
"""The `OneStageScores` of one sentence, without padding; the last is the weight of relations."""


@dataclass
class KeptScores:
    """parser: the component of the scores. by_words: those of a sentence, by its first token and
    its number of words."""

    parser: Any
    by_words: dict[tuple[int, int], SentenceScores]


KEPT: WeakKeyDictionary[Doc, KeptScores] = WeakKeyDictionary()
"""The scores of Docs on their way from a parser to the component behind it."""


def keep_scores(
    parser: Any, docs: Sequence[Doc], scores: ParserScores[Scores]
) -> ParserScores[Scores]:
    """Put the scores of Docs in `KEPT`; returns the scores, to be used once more."""
    batches = list(scores.batches)
    kept = [KeptScores(parser, {}) for _ in docs]
    for batch in batches:
        tags, labels, arcs, governor, governed, weight = cast(SentenceScores, batch.scores)
        heads = governor.shape[1] - governed.shape[1]  # 1 for the root, 0 without heads
        for row, (member, n) in enumerate(zip(batch.members, batch.lengths.tolist(), strict=True)):
            sentence = scores.sentences[member]
            kept[sentence.doc].by_words[sentence.start, n] = (
                tags[row, :n],
                labels[row, own_spans(labels, n)],
                arcs[row, :n, : n + 1],
                governor[row, : n + heads],
                governed[row, :n],
                weight,
            )
    KEPT.update(zip(docs, kept, strict=True))
    return ParserScores(scores.sentences, batches)


@torch.no_grad()
def decode_with_arcs(
    parser: Any, kept: Sequence[SentenceScores], arcs: Tensor, lengths: Tensor
) -> list[SentenceParse]:
    """Return the trees that the parser's decoder finds for the sum of two log-probabilities of
    arcs, its own and another network's.

    kept: the parser's scores of each sentence. arcs: the other's scores [B, n, n+1].
    """
    n, (*first, weight) = arcs.shape[1], kept[0]
    governors = n + len(first[3]) - len(first[4])
    sizes = ((n,), (chart_size(n),), (n, n + 1), (governors,), (n,))
    tags, labels, own_arcs, governor, governed = (
        part.new_zeros(len(kept), *size, *part.shape[len(size) :])
        for part, size in zip(first, sizes, strict=True)
    )
    for row, (of, m) in enumerate(zip(kept, lengths.tolist(), strict=True)):
        tags[row, :m], labels[row, own_spans(labels, m)], own_arcs[row, :m, : m + 1] = of[:3]
        governor[row, : len(of[3])], governed[row, :m] = of[3:5]
    own, other = (
        torch.log_softmax(mask_padding(of, lengths), -1) for of in (own_arcs, arcs.to(own_arcs))
    )
    scores = OneStageScores(tags, labels, own + other, governor, governed, weight)
    return parses_of(scores, lengths, parser.find(scores, lengths), parser.root)
