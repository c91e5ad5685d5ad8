"""Biaffine products (Dozat and Manning 2017): scores of pairs of vectors."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Biaffine(nn.Module):
    """s_o(x, y) = x^T U_o y + w_o . x + v_o . y + b_o for every pair of a left and a right vector.

    left [B,n,d], right [B,m,d] -> [B,n,m,n_outputs]: [x;1]^T W_o [y;1], Mrini et al. 2020, eq. 10.
    """

    def __init__(self, d_left: int, d_right: int, n_outputs: int = 1) -> None:
        super().__init__()
        self.bilinear = nn.Parameter(torch.empty(n_outputs, d_left, d_right))
        self.left = nn.Parameter(torch.empty(n_outputs, d_left))
        self.right = nn.Parameter(torch.empty(n_outputs, d_right))
        self.bias = nn.Parameter(torch.zeros(n_outputs))
        for weight in (*self.bilinear.data, self.left.data, self.right.data):
            nn.init.xavier_uniform_(weight)

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        n_outputs, d_left, d_right = self.bilinear.shape
        # one product for all outputs, on the shorter side of the work: [d_left, O * d_right]
        weight = self.bilinear.transpose(0, 1).reshape(d_left, -1)
        projected = (left @ weight).unflatten(-1, (n_outputs, d_right)) + self.right
        scores = projected.flatten(1, 2) @ right.transpose(1, 2)
        scores = scores.unflatten(1, (left.shape[1], n_outputs)).transpose(2, 3)
        return scores + F.linear(left, self.left, self.bias).unsqueeze(2)

    def matrices(self) -> Tensor:
        """Returns W [n_outputs, d_left + 1, d_right + 1] of s_o(x, y) = [x;1]^T W_o [y;1]."""
        upper = torch.cat([self.bilinear, self.left.unsqueeze(2)], 2)
        lower = torch.cat([self.right, self.bias.unsqueeze(1)], 1)
        return torch.cat([upper, lower.unsqueeze(1)], 1)

    def position_by_position(self, left: Tensor, right: Tensor) -> Tensor:
        """Returns scores of pairs x_k, y_k alone: [B,n,d], [B,n,d] -> [B,n,n_outputs]."""
        n_outputs, d_left, d_right = self.bilinear.shape
        weight = self.bilinear.transpose(0, 1).reshape(d_left, -1)
        projected = (left @ weight).unflatten(-1, (n_outputs, d_right)) + self.right
        return (projected @ right.unsqueeze(-1)).squeeze(-1) + F.linear(left, self.left, self.bias)


class FactorisedBiaffine(nn.Module):
    """A biaffine product with matrices W_o = sum_r P_or u_r v_r^T, which share all u_r and v_r.

    s_o(x, y) = P_o . (U [x;1] * V [y;1]) + b_o, with some (d_left + d_right + n_outputs) r
    parameters (a canonical polyadic decomposition of W).
    """

    def __init__(self, d_left: int, d_right: int, n_outputs: int, rank: int) -> None:
        super().__init__()
        if rank < 1:
            raise ValueError(f"the rank of a factorised biaffine must be at least 1, not {rank}")
        self.left = nn.Linear(d_left, rank)
        self.right = nn.Linear(d_right, rank)
        self.mixture = nn.Linear(rank, n_outputs)
        # at first [x;1] -> x + 1 in distribution: products neither vanish nor explode
        nn.init.ones_(self.left.bias)
        nn.init.ones_(self.right.bias)

    def factors(self, left: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
        """Returns U [x;1] and V [y;1]: [B,n,d_left], [B,m,d_right] -> [B,n,rank], [B,m,rank]."""
        return self.left(left), self.right(right)

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        """[B,n,d_left], [B,m,d_right] -> [B,n,m,n_outputs]."""
        u, v = self.factors(left, right)
        scores: Tensor = self.mixture(u.unsqueeze(2) * v.unsqueeze(1))
        return scores
