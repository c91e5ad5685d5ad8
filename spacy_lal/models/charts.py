"""From a parser's scores to trees, and from gold trees to what the scores are trained on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy
import torch
from torch import Tensor

from ..structure.binarise import collapse_unaries
from ..structure.chart import best_tree, chart_size, packed_spans, width_offset
from ..structure.lexicalised import best_joint_tree
from ..trees import LabelledSpan
from .decoders import Decoder
from .dependencies import best_relations
from .label_attention_parser import ParserScores


def _nothing() -> numpy.ndarray:
    return numpy.zeros(0, dtype=numpy.int64)


@dataclass
class SentenceParse:
    """What was found in one sentence of n words.

    tags: the tag of every word [n]. starts, ends, labels, probabilities: constituents in preorder
    by the sentence's words, [number of constituents]; labels count from 1, probabilities are None
    if the decoder gives none; no constituents from a parser without charts. heads: of each word,
    0 the root, k word k [n], and relations [n] their relations; None from a parser without arcs.
    """

    tags: numpy.ndarray
    starts: numpy.ndarray = field(default_factory=_nothing)
    ends: numpy.ndarray = field(default_factory=_nothing)
    labels: numpy.ndarray = field(default_factory=_nothing)
    probabilities: numpy.ndarray | None = None
    heads: numpy.ndarray | None = None
    relations: numpy.ndarray | None = None


def decode(
    scores: ParserScores,
    decoder: Decoder,
    *,
    sub_head: int | None = None,
    root: int | None = None,
) -> dict[int, SentenceParse]:
    """The tree and tags of every parsed sentence, by its index in `scores.sentences`.

    With arcs among the scores, constituents and heads come from one search over trees with heads.
    sub_head: the label of groups that are no constituents; they aren't among the result's.
    root: the relation to the root, which words don't have to words.
    """
    parses = {}
    for batch in scores.batches:
        of = batch.scores
        assert of.labels is not None
        values = decoder.spans(of.labels, batch.lengths, sub_head)
        heads = relations = None
        if of.arcs is None:
            # a span that must be in the tree takes the better of a constituent and nothing, and
            # nothing of equal ones, as in the joint decode
            better = values.constituent > values.empty
            _, tree = best_tree(torch.maximum(values.constituent, values.empty), batch.lengths)
            labelled = tree & better
        else:
            assert of.relations is not None
            joint = best_joint_tree(
                values.constituent,
                values.empty,
                decoder.arcs(of.arcs, batch.lengths),
                batch.lengths,
            )
            labelled = joint.labelled
            heads = joint.heads.cpu().numpy()
            relations = best_relations(of.relations, joint.heads, root).cpu().numpy()
        if sub_head is not None:
            labelled = labelled & (values.labels != sub_head)
        found = torch.where(labelled, values.labels, 0).cpu().numpy()
        probabilities = None if values.probability is None else values.probability.cpu().numpy()
        tags = of.tags.argmax(-1).cpu().numpy()
        starts, ends = (t.numpy() for t in packed_spans(tags.shape[1]))
        rows, at = found.nonzero()
        # preorder: by start, the wider of two that start together first
        order = numpy.lexsort((-ends[at], starts[at], rows))
        rows, at = rows[order], at[order]
        bounds = numpy.searchsorted(rows, numpy.arange(len(found) + 1))
        for row, (member, n) in enumerate(zip(batch.members, batch.lengths.tolist(), strict=True)):
            mine = at[bounds[row] : bounds[row + 1]]
            parses[member] = SentenceParse(
                tags[row, :n],
                starts[mine],
                ends[mine],
                found[row, mine],
                None if probabilities is None else probabilities[row, mine],
                None if heads is None else heads[row, :n],
                None if relations is None else relations[row, :n],
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
