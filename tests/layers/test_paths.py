"""Dependency paths against a walk up the tree, word by word."""

from __future__ import annotations

import random

import pytest
import torch

from spacy_lal.layers.role_paths import MAX_DOWN, MAX_UP, dependency_paths


def random_tree(n: int, rng: random.Random) -> list[int]:
    """Heads of words in any order, a root its own."""
    order = rng.sample(range(n), n)
    heads = list(range(n))
    for k, word in enumerate(order[1:], 1):
        heads[word] = order[rng.randrange(max(0, k - 2), k)]  # deep
    return heads


def line(heads: list[int], word: int) -> list[int]:
    """The word, its head, that one's head, to the root."""
    found = [word]
    while heads[found[-1]] != found[-1]:
        found.append(heads[found[-1]])
    return found


@pytest.mark.parametrize("n", [1, 2, 5, 14])
def test_paths_of_random_trees(n: int) -> None:
    rng = random.Random(n)
    trees = [random_tree(n, rng) for _ in range(8)]
    pairs = [(b, p) for b in range(8) for p in range(n)]
    sentences, predicates = torch.tensor(pairs).T
    found = dependency_paths(torch.tensor(trees), sentences, predicates)
    for k, (b, p) in enumerate(pairs):
        over = line(trees[b], p)
        for word in range(n):
            above = line(trees[b], word)
            meeting = next(w for w in over if w in above)
            up, down = above.index(meeting), over.index(meeting)
            branch = above[up - 1] if up else -1
            if up > MAX_UP or down > MAX_DOWN:
                up, down, branch = MAX_UP + 1, MAX_DOWN + 1, -1
            assert (int(found.up[k, word]), int(found.down[k, word])) == (up, down)
            assert int(found.branch[k, word]) == branch


def test_words_of_two_trees_are_far() -> None:
    found = dependency_paths(torch.tensor([[0, 0, 2]]), torch.tensor([0]), torch.tensor([1]))
    assert found.up.tolist() == [[0, 0, MAX_UP + 1]]
    assert found.down.tolist() == [[1, 0, MAX_DOWN + 1]]
    assert found.branch.tolist() == [[-1, -1, -1]]


def test_heads_in_a_circle() -> None:
    """1 and 2 are each other's heads; from 0 both are above."""
    found = dependency_paths(torch.tensor([[1, 2, 1]]), torch.tensor([0]), torch.tensor([2]))
    assert found.up.tolist() == [[2, 1, 0]]
    assert found.down.tolist() == [[0, 0, 0]]
    assert found.branch.tolist() == [[1, 1, -1]]
