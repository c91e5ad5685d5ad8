"""Role scores against the sum they stand for."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from spacy_lal.layers.biaffine import LabelFactors
from spacy_lal.layers.dropout import set_dropout
from spacy_lal.layers.role_scorer import RoleScorer, RoleScorerSettings, role_scores

EXACT = {"atol": 1e-12, "rtol": 0.0}
RANKS = [None, 2]
# three predicates of two sentences, the same word for two of them
SENTENCES, PREDICATES = torch.tensor([1, 0, 1]), torch.tensor([3, 0, 3])


def make(rank: int | None) -> RoleScorer:
    scorer = RoleScorer(RoleScorerSettings(4, 3, rank), 6, 5).double()
    for name, parameter in scorer.product.named_parameters():
        if name.endswith("bias"):
            torch.nn.init.normal_(parameter)
    return scorer


@pytest.mark.parametrize("rank", RANKS)
@torch.no_grad()
def test_scores_one_by_one(rank: int | None) -> None:
    scorer = make(rank)
    x = torch.randn(2, 4, 6, dtype=torch.float64)
    found = role_scores(scorer(x), SENTENCES, PREDICATES)
    assert found.shape == (3, 4, 5)
    product = scorer.product
    for k, (sentence, predicate) in enumerate(zip(SENTENCES, PREDICATES, strict=True)):
        views = F.leaky_relu(x[sentence] @ scorer.views.weight.T + scorer.views.bias, 0.1)
        left = F.pad(views[predicate, :4], (0, 1), value=1.0)
        for t in range(4):
            right = F.pad(views[t, 4:], (0, 1), value=1.0)
            if rank is None:
                expected = [left @ matrix @ right for matrix in scorer(x).weight]
            else:
                u = product.left.weight @ left[:-1] + product.left.bias
                v = product.right.weight @ right[:-1] + product.right.bias
                weights, biases = product.mixture.weight, product.mixture.bias
                expected = [(w * u * v).sum() + b for w, b in zip(weights, biases, strict=True)]
            torch.testing.assert_close(found[k, t], torch.stack(expected), **EXACT)


@pytest.mark.parametrize("rank", RANKS)
def test_no_predicates(rank: int | None) -> None:
    scorer = make(rank)
    x = torch.randn(2, 4, 6, dtype=torch.float64)
    none = torch.zeros(0, dtype=torch.long)
    scores = role_scores(scorer(x), none, none)
    assert scores.shape == (0, 4, 5)
    scores.sum().backward()
    assert not any(p.grad.any() for p in scorer.parameters() if p.grad is not None)


@pytest.mark.parametrize("shape", [(5, 5, 4), (5, 5)])
def test_gradients_by_finite_differences(shape: tuple[int, ...]) -> None:
    right = 3 if len(shape) == 3 else 4
    factors = [
        torch.randn(*size, dtype=torch.float64, requires_grad=True)
        for size in ((2, 4, 4), (2, 4, right), shape)
    ]

    def scores(*values: Tensor) -> Tensor:
        return role_scores(LabelFactors(*values), SENTENCES, PREDICATES)

    assert torch.autograd.gradcheck(scores, factors)


@pytest.mark.parametrize("rank", RANKS)
def test_every_parameter_learns(rank: int | None) -> None:
    scorer = make(rank)
    x = torch.randn(2, 4, 6, dtype=torch.float64, requires_grad=True)
    role_scores(scorer(x), SENTENCES, PREDICATES).pow(2).sum().backward()
    for name, value in [("x", x), *scorer.named_parameters()]:
        assert value.grad is not None, name
        assert bool(value.grad.any()), name


def test_dropout_is_the_same_for_all_words_of_a_sentence() -> None:
    scorer = make(None)
    torch.nn.init.zeros_(scorer.views.weight)
    torch.nn.init.ones_(scorer.views.bias)
    x = torch.randn(3, 7, 6, dtype=torch.float64)
    plain = scorer.eval()(x)
    set_dropout(scorer, 0.5)
    torch.testing.assert_close(scorer(x), plain)
    dropped = scorer.train()(x)
    for view in dropped[:2]:
        torch.testing.assert_close(view, view[:, :1].expand_as(view))
        assert len(view.unique()) == 2
    torch.testing.assert_close(dropped.weight, plain.weight)
