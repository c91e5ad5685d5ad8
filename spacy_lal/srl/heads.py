"""Heads as LISA's layers know them: words count from 0, and a root is its own head.

Everywhere else 0 is the root and k word k of the sentence.
"""

from __future__ import annotations

import torch
from torch import Tensor


def to_self_loops(heads: Tensor) -> Tensor:
    """Heads [B,n], 0 the root, as LISA's layers want them; -1, not known, stays."""
    own = torch.arange(heads.shape[1], device=heads.device).expand_as(heads)
    return torch.where(heads == 0, own, heads.clamp(min=0) - 1)


def from_self_loops(arcs: Tensor) -> Tensor:
    """Arc scores [B,n,n], a root its own head, as [B,n,n+1] with the root as head 0."""
    diagonal = arcs.diagonal(dim1=1, dim2=2).unsqueeze(-1)
    own = torch.eye(arcs.shape[1], dtype=torch.bool, device=arcs.device)
    return torch.cat([diagonal, arcs.masked_fill(own, -torch.inf)], -1)
