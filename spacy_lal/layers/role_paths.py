"""Vectors of the dependency paths between words and predicates."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import product

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..structure.paths import MAX_DOWN, MAX_UP, DependencyPaths
from .dropout import Dropout

UPS, DOWNS = MAX_UP + 2, MAX_DOWN + 2
"""Numbers of classes of steps up and down; the last class is for more."""


def path_rows(relations: Iterable[Hashable]) -> list[tuple[Hashable, ...]]:
    """Returns a name for every row of a table for these relations: path shapes, then branches, of
    which the relation None is none, then predicates."""
    relations = list(relations)
    return [
        *(("shape", k) for k in range(2 * DOWNS * UPS)),
        *product(("branch",), range(2 * DOWNS), [*relations, None]),
        *product(("predicate",), range(DOWNS), relations),
    ]


class RolePaths(nn.Module):
    """The table [K,d] of `path_vectors`, with dropout of its entries in training. Strubell et al.
    2018 have only attention to heads, which takes much data to learn."""

    def __init__(self, n_relations: int, d: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(len(path_rows(range(n_relations))), d) * 0.5)
        self.dropout = Dropout()

    def forward(self) -> Tensor:
        table: Tensor = self.dropout(self.table)
        return table


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
