"""Losses and choices of heads and relations, word by word."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from spacy_lal.parsing.decoders import MaximumAPosteriori, best_relations
from spacy_lal.parsing.objectives import dependency_loss
from spacy_lal.structure.arborescence import mask_padding

LENGTHS = torch.tensor([3, 1, 2])
N, RELATIONS = 4, 3
HEADS = torch.tensor([[2, 0, -1, -1], [0, -1, -1, -1], [0, 1, -1, -1]])
LABELS = torch.tensor([[1, 0, 2, -1], [0, -1, -1, -1], [-1, 2, -1, -1]])


def random_scores() -> tuple[Tensor, Tensor]:
    """Scores of arcs, and of the relations of words to their heads."""
    generator = torch.Generator().manual_seed(0)
    arcs = torch.randn(3, N, N + 1, generator=generator, dtype=torch.float64)
    relations = torch.randn(3, N, RELATIONS, generator=generator, dtype=torch.float64)
    return arcs, relations


def surprise(scores: list[float], gold: int) -> float:
    return math.log(sum(map(math.exp, scores))) - scores[gold]


def test_loss_word_by_word() -> None:
    arcs, relations = random_scores()
    of_arcs = of_relations = 0.0
    for b, n in enumerate(LENGTHS.tolist()):
        for d in range(n):
            head, label = int(HEADS[b, d]), int(LABELS[b, d])
            if head < 0:
                continue
            of_arcs += surprise(arcs[b, d, : n + 1].tolist(), head)
            if label >= 0:
                of_relations += surprise(relations[b, d].tolist(), label)
    found = dependency_loss(arcs, relations, HEADS, LABELS, LENGTHS)
    assert list(map(float, found)) == pytest.approx([of_arcs, of_relations], rel=1e-12)


def test_what_has_no_gold_has_no_gradient() -> None:
    arcs, relations = (scores.requires_grad_() for scores in random_scores())
    sum(dependency_loss(arcs, relations, HEADS, LABELS, LENGTHS)).backward()
    assert arcs.grad is not None
    assert relations.grad is not None
    known = HEADS >= 0
    assert torch.equal(arcs.grad.any(-1), known)
    assert torch.equal(relations.grad.any(-1), known & (LABELS >= 0))
    heads = torch.arange(N + 1)
    assert not bool(arcs.grad[(heads > LENGTHS.view(-1, 1, 1)).expand_as(arcs)].any())


def test_without_any_gold_the_loss_is_zero() -> None:
    arcs, relations = (scores.requires_grad_() for scores in random_scores())
    nothing = torch.full_like(HEADS, -1)
    losses = dependency_loss(arcs, relations, nothing, nothing, LENGTHS)
    assert [loss.item() for loss in losses] == [0.0, 0.0]
    sum(losses).backward()
    assert not bool(arcs.grad.any())


def test_best_relations() -> None:
    _, relations = random_scores()
    heads = HEADS.clamp(min=0)
    best = best_relations(relations, heads)
    without_root = best_relations(relations, heads, root=1)
    for b in range(3):
        for d in range(N):
            head = int(heads[b, d])
            scores = relations[b, d].tolist()
            assert int(best[b, d]) == scores.index(max(scores))
            if head:
                scores[1] = -math.inf
            assert int(without_root[b, d]) == scores.index(max(scores))
    # the scores are the caller's
    assert torch.equal(relations, random_scores()[1])


def test_the_only_relation_is_the_best_even_if_it_is_the_roots() -> None:
    relations = torch.zeros(1, 2, 1)
    assert best_relations(relations, torch.tensor([[0, 1]]), root=0).tolist() == [[0, 0]]


def test_padding_has_no_probability() -> None:
    arcs, _ = random_scores()
    for b, n in enumerate(LENGTHS.tolist()):
        masked = mask_padding(arcs, LENGTHS)
        torch.testing.assert_close(masked[b, :, : n + 1], arcs[b, :, : n + 1])
        assert bool(torch.isinf(masked[b, :, n + 1 :]).all())


def test_share_is_a_share() -> None:
    with pytest.raises(ValueError, match=r"got 1\.5"):
        MaximumAPosteriori(1.5)
