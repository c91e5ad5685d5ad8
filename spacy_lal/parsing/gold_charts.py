"""From gold trees to what a parser's scores are trained on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy
import torch
from torch import Tensor

from ..structure.binarise import binarise, collapse_unaries
from ..structure.chart import chart_size, width_offset
from ..trees.tree import LabelledSpan


class GoldNodes(NamedTuple):
    """The 2n-1 nodes of gold binary trees, those of all sentences of a batch in one list.

    Node k is the span (starts[k], ends[k]) of sentence sentences[k]; labels[k] is 0 where it is
    no constituent.
    """

    sentences: Tensor
    starts: Tensor
    ends: Tensor
    labels: Tensor


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


def gold_nodes(
    trees: Sequence[Sequence[LabelledSpan] | None],
    lengths: Sequence[int],
    index: Mapping[str, int],
) -> GoldNodes:
    """The nodes of the left binarisations of trees, None for a sentence that has none.

    trees, index: as for `gold_labels`.
    """
    columns: tuple[list[int], ...] = ([], [], [], [])
    for row, (tree, n) in enumerate(zip(trees, lengths, strict=True)):
        if tree is None:
            continue
        for start, end, label in binarise(collapse_unaries(tree), n):
            for column, value in zip(
                columns, (row, start, end, index.get(label, 0) if label else 0), strict=True
            ):
                column.append(value)
    return GoldNodes(*(torch.tensor(column, dtype=torch.long) for column in columns))
