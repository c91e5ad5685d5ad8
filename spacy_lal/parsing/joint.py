"""The best joint tree of every sentence: of all trees, or, in long sentences, of the probable."""

from __future__ import annotations

import torch
from torch import Tensor

from ..structure.chart import best_tree
from ..structure.lexicalised import JointTree, best_joint_tree
from ..structure.pruned import best_joint_tree_within
from .decoders import SpanMarginals, SpanValues

EXACT_WORDS = 100
"""Longer sentences are searched among probable spans alone."""
SPANS_PER_WORD = 16
"""Of a long sentence's spans at most so many times its words are kept."""
LEAST_PROBABILITY = 1e-5
"""Of a kept span, under some label or none."""


def best_joint(
    values: SpanValues, arcs: Tensor, lengths: Tensor, marginals: SpanMarginals | None
) -> JointTree:
    """The best tree by values of spans and of arcs [B, n, n+1].

    The search among all trees takes time by the fourth power of length. Over EXACT_WORDS words
    only trees of spans that are probable without heads are searched (`structure/pruned.py`).
    marginals: None where there are no probabilities; then nothing is left out, nor where they are
    nan, as in a training that failed.
    """
    long = lengths > EXACT_WORDS
    if marginals is not None:
        long = long & ~marginals.probability.isnan().any(-1)
    if marginals is None or not long.any():
        return best_joint_tree(values.constituent, values.empty, arcs, lengths)
    best = JointTree(
        arcs.new_zeros(len(arcs)),
        torch.zeros_like(values.labels, dtype=torch.bool),
        torch.zeros_like(values.labels, dtype=torch.bool),
        torch.zeros_like(arcs[..., 0], dtype=torch.long),
    )
    for rows, pruned in ((~long, False), (long, True)):
        if not rows.any():
            continue
        problem = values.constituent[rows], values.empty[rows], arcs[rows], lengths[rows]
        if pruned:
            found = _best_of_probable(marginals.probability[rows], *problem)
        else:
            found = best_joint_tree(*problem)
        for field, row_values in zip(best, found, strict=True):
            field[rows] = row_values
    return best


def _best_of_probable(
    probability: Tensor, constituent: Tensor, empty: Tensor, arcs: Tensor, lengths: Tensor
) -> JointTree:
    keep = torch.zeros_like(probability, dtype=torch.bool)
    for row, n in enumerate(lengths.tolist()):
        most = probability[row].topk(min(SPANS_PER_WORD * n, probability.shape[1])).values[-1]
        # words and the whole sentence are certain
        keep[row] = probability[row] > most.clamp(LEAST_PROBABILITY, 0.5)
    found = best_joint_tree_within(keep, constituent, empty, arcs, lengths)
    lost = found.score == -torch.inf
    if lost.any():
        # no tree at all of these spans: that of the most probable spans is one
        keep[lost] |= best_tree(probability[lost], lengths[lost])[1]
        found = best_joint_tree_within(keep, constituent, empty, arcs, lengths)
    return found
