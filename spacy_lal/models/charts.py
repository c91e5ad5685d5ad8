"""From a parser's scores to trees, and from gold trees to what the scores are trained on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy
import torch
from torch import Tensor

from ..structure.binarise import collapse_unaries
from ..structure.chart import best_tree, chart_size, packed_spans, width_offset
from ..trees import LabelledSpan
from .decoders import Decoder
from .label_attention_parser import ParserScores


@dataclass
class SentenceParse:
    """Constituents of one sentence in preorder, by its words, and the tag of every word.

    starts, ends, labels, probabilities: [number of constituents]; labels count from 1,
    probabilities are None if the decoder gives none. tags: [n].
    """

    starts: numpy.ndarray
    ends: numpy.ndarray
    labels: numpy.ndarray
    probabilities: numpy.ndarray | None
    tags: numpy.ndarray


def decode(scores: ParserScores, decoder: Decoder) -> dict[int, SentenceParse]:
    """The tree and tags of every parsed sentence, by its index in `scores.sentences`."""
    parses = {}
    for batch in scores.batches:
        values, labels, probability = decoder(batch.labels, batch.lengths)
        _, tree = best_tree(values, batch.lengths)
        found = torch.where(tree, labels, 0).cpu().numpy()
        probabilities = None if probability is None else probability.cpu().numpy()
        tags = batch.tags.argmax(-1).cpu().numpy()
        starts, ends = (t.numpy() for t in packed_spans(tags.shape[1]))
        rows, at = found.nonzero()
        # preorder: by start, the wider of two that start together first
        order = numpy.lexsort((-ends[at], starts[at], rows))
        rows, at = rows[order], at[order]
        bounds = numpy.searchsorted(rows, numpy.arange(len(found) + 1))
        for row, (member, n) in enumerate(zip(batch.members, batch.lengths.tolist(), strict=True)):
            mine = at[bounds[row] : bounds[row + 1]]
            parses[member] = SentenceParse(
                starts[mine],
                ends[mine],
                found[row, mine],
                None if probabilities is None else probabilities[row, mine],
                tags[row, :n],
            )
    return parses


def gold_labels(
    trees: Sequence[Sequence[LabelledSpan]], n: int, index: Mapping[str, int]
) -> Tensor:
    """Packed gold charts [B, S] of an n-word batch: the label of each constituent, else 0.

    trees: constituents of each sentence in preorder, by its words. index: the number of each
    label, unary chains collapsed (`structure/binarise.py`). A chain that is not in it is left out.
    """
    chart = numpy.zeros((len(trees), chart_size(n)), dtype=numpy.int64)
    for row, tree in enumerate(trees):
        for start, end, label in collapse_unaries(tree):
            chart[row, width_offset(n, end - start) + start] = index.get(label, 0)
    return torch.from_numpy(chart)
