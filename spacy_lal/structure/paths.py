"""Paths between words in a dependency tree."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

MAX_UP, MAX_DOWN = 5, 3
"""Most steps up and down, in arcs; longer paths are far."""


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
    up = torch.full_like(above[0], MAX_UP + 1)
    down = torch.full_like(up, MAX_DOWN + 1)
    branch = torch.full_like(up, -1)
    # the lowest last, which overwrites those above it
    for steps_down in reversed(range(MAX_DOWN + 1)):
        for steps_up in reversed(range(MAX_UP + 1)):
            met = above[steps_up] == over[steps_down]
            up = up.masked_fill(met, steps_up)
            down = down.masked_fill(met, steps_down)
            before = above[steps_up - 1] if steps_up else torch.full_like(up, -1)
            branch = torch.where(met, before, branch)
    return DependencyPaths(up, down, branch)
