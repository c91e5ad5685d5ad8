"""Biaffine products (Dozat and Manning 2017): scores of pairs of vectors."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Biaffine(nn.Module):
    """s_o(x, y) = x^T U_o y + w_o . x + v_o . y + b_o for every pair of a left and a right vector.

    left [B,n,d], right [B,m,d] -> [B,n,m,n_outputs]. The four terms are [x;1]^T W_o [y;1] of the
    literature, with W's last row and column named: Mrini et al. 2020, eq. 10 and 11.
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
        # all outputs in one product on the shorter side of the work, [d_left, O * d_right]
        weight = self.bilinear.transpose(0, 1).reshape(d_left, -1)
        projected = (left @ weight).unflatten(-1, (n_outputs, d_right)) + self.right
        scores = projected.flatten(1, 2) @ right.transpose(1, 2)
        scores = scores.unflatten(1, (left.shape[1], n_outputs)).transpose(2, 3)
        return scores + F.linear(left, self.left, self.bias).unsqueeze(2)

    def of_positions(self, left: Tensor, right: Tensor) -> Tensor:
        """Scores of x_k with y_k alone: [B,n,d] twice -> [B,n,n_outputs]."""
        n_outputs, d_left, d_right = self.bilinear.shape
        weight = self.bilinear.transpose(0, 1).reshape(d_left, -1)
        projected = (left @ weight).unflatten(-1, (n_outputs, d_right)) + self.right
        return (projected @ right.unsqueeze(-1)).squeeze(-1) + F.linear(left, self.left, self.bias)
