"""Dependency paths between words and predicates, and their vectors."""

from collections.abc import Hashable, Iterable
from itertools import product
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .dropout import Dropout

MAX_UP, MAX_DOWN = 5, 3
"""Most steps up and down, in arcs; longer paths are far."""
UPS, DOWNS = MAX_UP + 2, MAX_DOWN + 2
"""Numbers of classes of steps up and down; the last class is for more."""


def path_rows(relations: Iterable[Hashable]) -> list[tuple[Hashable, ...]]:
    """Returns a name for every row of a table for these relations: path shapes, then branches
    (None without a relation), then predicates."""
    relations = list(relations)
    return [
        *(("shape", k) for k in range(2 * DOWNS * UPS)),
        *product(("branch",), range(2 * DOWNS), [*relations, None]),
        *product(("predicate",), range(DOWNS), relations),
    ]


class DependencyPaths(NamedTuple):
    """The paths from all n words to P predicates, through the lowest word above both.

    up [P,n]: steps from the word up to it; down [P,n]: steps from there down to the predicate.
    Where either exceeds MAX_UP or MAX_DOWN, or no word is above both, they are MAX_UP + 1 and
    MAX_DOWN + 1. branch [P,n]: the word's last ancestor, or itself, before the lowest above both;
    -1 where up is 0 or far.
    """

    up: Tensor
    down: Tensor
    branch: Tensor


def dependency_paths(heads: Tensor, sentences: Tensor, predicates: Tensor) -> DependencyPaths:
    """Returns the paths in heads [B,n], where a root is its own head.

    Predicate k is word predicates[k] of sentences[k]. Of several paths, as in heads that are no
    tree, the one lowest for the predicate and then for the word wins.
    """
    n = heads.shape[1]
    above = [torch.arange(n, device=heads.device).expand(len(sentences), n)]
    sentence_heads = heads[sentences]
    for _ in range(MAX_UP):
        above.append(sentence_heads.gather(1, above[-1]))
    over = [predicates.unsqueeze(1)]
    for _ in range(MAX_DOWN):
        over.append(sentence_heads.gather(1, over[-1]))
    ways = torch.stack(above)
    met = ways == torch.stack(over).unsqueeze(1)
    # the lowest way that meets, else the one behind the last
    number = torch.arange(met.shape[0] * met.shape[1], device=heads.device, dtype=torch.uint8)
    numbers = number.view(*met.shape[:2], 1, 1).where(met, len(number))
    first = numbers.flatten(0, 1).amin(0).long()
    down, up = first // len(ways), first % len(ways)
    far = first == len(number)
    before = ways.gather(0, (up - 1).clamp(min=0).unsqueeze(0)).squeeze(0)
    branch = before.masked_fill(far | (up == 0), -1)
    up, down = up.masked_fill(far, MAX_UP + 1), down.masked_fill(far, MAX_DOWN + 1)
    return DependencyPaths(up, down, branch)


class RolePaths(nn.Module):
    """The table [K,d] of `path_vectors`, with dropout of its entries in training. Strubell et al.
    2018 have only attention to heads, which takes much data to learn."""

    def __init__(self, n_relations: int, d: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(len(path_rows(range(n_relations))), d) * 0.5)
        self.dropout = Dropout()

    def forward(self) -> Tensor:
        return self.dropout(self.table)


def path_vectors(
    table: Tensor,
    paths: DependencyPaths,
    relations: Tensor,
    sentences: Tensor,
    predicates: Tensor,
) -> Tensor:
    """Returns the sum of three rows of `table` for every predicate and word [P,n,d].

    One row is for the path's steps and the word's side of the predicate, one for the relation of
    the word's branch, the steps down and the side, one for the predicate's relation and the steps
    down.
    relations [B,n]: relation of each word to its head."""
    up, down, branch = paths
    n = up.shape[1]
    n_relations = (len(table) - 2 * DOWNS * UPS - 2 * DOWNS) // (3 * DOWNS)
    side = down * 2 + (torch.arange(n, device=up.device) < predicates.unsqueeze(1))
    branch_relation = relations[sentences].gather(1, branch.clamp(min=0))
    branch_relation = torch.where(branch >= 0, branch_relation, n_relations)
    predicate_relation = relations[sentences, predicates].unsqueeze(1)
    second = 2 * DOWNS * UPS
    third = second + 2 * DOWNS * (n_relations + 1)
    rows = torch.stack(
        [
            side * UPS + up,
            second + side * (n_relations + 1) + branch_relation,
            third + down * n_relations + predicate_relation,
        ],
        -1,
    )
    return F.embedding_bag(rows.flatten(0, 1), table, mode="sum").view(*up.shape, table.shape[1])
