"""Losses of scores, and their gradients with respect to every score."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

import torch
from torch import Tensor

from ..batching.batches import ParserScores, SentenceBatch
from ..batching.sentences import Sentence

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
        make = type(batch.scores)._make  # type: ignore[attr-defined]
        leaves = make(None if s is None else s.detach().requires_grad_() for s in batch.scores)
        value = loss(replace(batch, scores=leaves), [sentences[k] for k in batch.members])
        value.backward()
        total += float(value.detach())
        gradients = make(
            None if leaf is None else torch.zeros_like(leaf) if leaf.grad is None else leaf.grad
            for leaf in leaves
        )
        d_batches.append(SentenceBatch(batch.members, batch.lengths, gradients))
    return total, ParserScores(sentences, d_batches)
