"""Vectors of paths, one word at a time."""

from __future__ import annotations

import pytest
import torch

from spacy_lal.layers.dropout import set_dropout
from spacy_lal.layers.role_paths import DOWNS, UPS, RolePaths, dependency_paths, path_vectors

R = 4
HEADS = torch.tensor([[1, 1, 1, 4, 2], [3, 0, 3, 3, 3]])
RELATIONS = torch.tensor([[0, 3, 1, 2, 1], [2, 1, 0, 3, 2]])


def test_three_rows_for_every_word() -> None:
    layer = RolePaths(R, 6).double().requires_grad_(False).eval()
    shape, branch, own = layer().split([2 * DOWNS * UPS, 2 * DOWNS * (R + 1), DOWNS * R])
    shape = shape.view(DOWNS, 2, UPS, 6)
    branch = branch.view(DOWNS, 2, R + 1, 6)
    own = own.view(DOWNS, R, 6)
    sentences, predicates = torch.tensor([1, 0, 0]), torch.tensor([2, 4, 0])
    paths = dependency_paths(HEADS, sentences, predicates)
    found = path_vectors(layer(), paths, RELATIONS, sentences, predicates)
    assert found.shape == (3, 5, 6)
    for k, (b, p) in enumerate(zip(sentences, predicates, strict=True)):
        for t in range(5):
            up, down, top = (int(part[k, t]) for part in paths)
            side = int(t < p)
            relation = int(RELATIONS[b, top]) if top >= 0 else R
            expected = shape[down, side, up] + branch[down, side, relation]
            expected = expected + own[down, int(RELATIONS[b, p])]
            torch.testing.assert_close(found[k, t], expected, atol=1e-12, rtol=0)


def test_no_predicates() -> None:
    none = torch.zeros(0, dtype=torch.long)
    layer = RolePaths(R, 6)
    paths = dependency_paths(HEADS, none, none)
    found = path_vectors(layer(), paths, RELATIONS, none, none)
    assert found.shape == (0, 5, 6)
    found.sum().backward()


@pytest.mark.parametrize("rate", [0.0, 0.25])
def test_dropout_in_training_alone(rate: float) -> None:
    torch.manual_seed(0)
    layer = RolePaths(R, 64)
    set_dropout(layer, rate)
    kept = layer.train()() != 0
    assert abs(float(kept.float().mean()) - (1 - rate)) < 0.02
    assert torch.equal(layer.eval()(), layer.table)
