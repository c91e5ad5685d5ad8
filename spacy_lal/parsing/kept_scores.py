"""Trees decoded with the arcs of two networks: a parser keeps its scores, and a component behind it
(`lisa_srl`) decodes them again with its own arcs, so that trees and heads agree."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import torch
from spacy.tokens import Doc
from torch import Tensor

from ..batching.batches import ParserScores
from ..pipeline.writers import SentenceParse
from ..structure.arborescence import mask_padding
from ..structure.chart import chart_size, own_spans
from .decoders import Finder, parses_of
from .network import OneStageScores


@dataclass
class KeptScores:
    """parser: the component of the scores. by_words: the scores [1, …] of a sentence without
    padding, by its first token and its number of words."""

    parser: Any
    by_words: dict[tuple[int, int], OneStageScores]


KEPT: WeakKeyDictionary[Doc, KeptScores] = WeakKeyDictionary()
"""The scores of Docs on their way from a parser to the component behind it."""


def keep_scores(
    parser: Any, docs: Sequence[Doc], scores: ParserScores[OneStageScores]
) -> ParserScores[OneStageScores]:
    """Put the scores of Docs in `KEPT`; returns the scores, to be used once more."""
    batches = list(scores.batches)
    kept = [KeptScores(parser, {}) for _ in docs]
    for batch in batches:
        tags, labels, arcs, relations = batch.scores
        assert labels is not None
        assert arcs is not None
        assert relations is not None
        for row, (member, n) in enumerate(zip(batch.members, batch.lengths.tolist(), strict=True)):
            sentence = scores.sentences[member]
            kept[sentence.doc].by_words[sentence.start, n] = OneStageScores(
                tags[row, None, :n],
                labels[row, None, own_spans(labels, n)],
                arcs[row, None, :n, : n + 1],
                relations[row, None, :n, : n + 1],
            )
    KEPT.update(zip(docs, kept, strict=True))
    return ParserScores(scores.sentences, batches)


@torch.no_grad()
def decode_with_arcs(
    find: Finder,
    root: int | None,
    kept: Sequence[OneStageScores],
    arcs: Tensor,
    lengths: Tensor,
) -> list[SentenceParse]:
    """Return the trees that the parser's decoder finds for the sum of two log-probabilities of
    arcs, its own and another network's.

    find, root: see `read_parses`. kept: the parser's scores of each sentence. arcs: the other's
    scores [B, n, n+1].
    """
    n = arcs.shape[1]
    spans, heads = chart_size(n), kept[0].relations.shape[2]  # type: ignore[union-attr]
    sizes = ((n,), (spans,), (n, n + 1), (n, 1 if heads == 1 else n + 1))
    padded = [
        part.new_zeros(len(kept), *size, *part.shape[1 + len(size) :])
        for part, size in zip(kept[0], sizes, strict=True)
    ]
    tags, labels, own_arcs, relations = padded
    for row, (of, m) in enumerate(zip(kept, lengths.tolist(), strict=True)):
        tags[row, :m], labels[row, own_spans(labels, m)] = of.tags[0], of.labels[0]
        own_arcs[row, :m, : m + 1], relations[row, :m, : m + 1] = of.arcs[0], of.relations[0]
    both = sum(
        torch.log_softmax(mask_padding(of, lengths), -1) for of in (own_arcs, arcs.to(own_arcs))
    )
    scores = OneStageScores(tags, labels, both, relations)
    return parses_of(scores, lengths, find(scores, lengths), root)
