"""Losses of scores, and their gradients with respect to every score."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

import torch
from torch import Tensor

from ..models.batching.batches import ParserScores, SentenceBatch
from ..models.batching.sentences import Sentence

S = TypeVar("S", bound=tuple)


def differentiate(
    sentences: list[Sentence],
    batches: Iterable[SentenceBatch[S]],
    loss: Callable[[SentenceBatch[S], list[Sentence]], Tensor],
) -> tuple[float, ParserScores[S]]:
    """The sum of the batches' losses and its gradient, in the shape of the scores.

    loss: of a batch, whose scores are leaves, and its sentences.
    """
    total = 0.0
    d_batches = []
    for batch in batches:
        leaves = _leaves(batch.scores)
        value = loss(replace(batch, scores=leaves), [sentences[k] for k in batch.members])
        value.backward()
        total += float(value.detach())
        d_batches.append(SentenceBatch(batch.members, batch.lengths, _gradients(leaves)))
    return total, ParserScores(sentences, d_batches)


def _leaves(scores: S) -> S:
    """Leaves of their own with the values of scores, in the same tuple."""
    return type(scores)._make(  # type: ignore[attr-defined]
        None if s is None else s.detach().requires_grad_() for s in scores
    )


def _gradients(leaves: S) -> S:
    """The gradients of scores, in the same tuple."""
    return type(leaves)._make(  # type: ignore[attr-defined]
        None if leaf is None else leaf.grad if leaf.grad is not None else torch.zeros_like(leaf)
        for leaf in leaves
    )
