"""Products of 8-bit integers in prediction: numbers are rounded row by row, sums are exact."""

from collections.abc import Iterable
from functools import cache

import torch
import torch.nn.functional as F
from torch import Tensor, nn

MOST = 127
"""Largest absolute value of a rounded number."""
TINY = 1e-30
"""Least scale, which keeps rows of zeros finite."""


@cache
def has_integer_products() -> bool:
    """Whether the processor sums products of 8-bit integers exactly, and so faster than float32.

    Without such instructions (VNNI), sums of two products are cut to 16 bits.
    """
    values = torch.full((2, 64), MOST, dtype=torch.int8)
    wanted = 64 * MOST * MOST
    sums = torch._int_mm(values, torch.cat([values, -values]).T)
    return sums.tolist() == [[wanted, wanted, -wanted, -wanted]] * 2


def rounded_rows(x: Tensor) -> tuple[Tensor, Tensor]:
    """Rounds rows [R, d] to integers from -127 to 127; returns them and their scales [R, 1]. No row
    depends on another one."""
    scale = x.abs().amax(1, keepdim=True).clamp_(min=TINY).div_(MOST)
    return (x / scale).round_(), scale


class IntegerMatrix:
    """A weight [d_out, d_in], rounded by row, for products with rounded rows.

    Without fast instructions the integers are float32 numbers: their sums are as exact up to 1,040
    summands, so processors agree.
    """

    def __init__(self, weight: Tensor) -> None:
        values, scale = rounded_rows(weight.detach())
        self.dtype = torch.int8 if has_integer_products() else torch.float32
        self.values = values.to(self.dtype).T
        self.scale = scale.T.contiguous()
        """[1, d_out]"""

    def empty_sums(self, *sizes: int) -> Tensor:
        """Returns memory for sums."""
        dtype = torch.int32 if self.dtype == torch.int8 else torch.float32
        return torch.empty(*sizes, self.scale.shape[1], dtype=dtype)

    def sums(self, rows: Tensor, out: Tensor) -> Tensor:
        """Writes the sums of products of rounded rows [R, d_in] to `out` [R, d_out]."""
        if self.dtype == torch.int8:
            return torch._int_mm(rows, self.values, out=out)
        return torch.mm(rows, self.values, out=out)

    def product(self, rows: Tensor, scale: Tensor, bias: Tensor | None) -> Tensor:
        """Returns rows [R, d_in] times the weight, plus a bias: [R, d_out], in float32. scale: of
        the rows [R, 1]."""
        sums = self.sums(rows, self.empty_sums(len(rows))).float()
        # a rounded row's scale first: sums are the same in every batch, and so are these
        sums.mul_(scale)
        return sums.mul_(self.scale) if bias is None else torch.addcmul(bias, sums, self.scale)


class Integers(nn.Module):
    """A module that can predict with rounded weights, kept beside its parameters."""

    def round_weights(self, wanted: bool) -> None:
        """Rounds the weights for predictions, or forgets the rounded ones."""
        raise NotImplementedError


class Linear(nn.Linear, Integers):
    """`torch.nn.Linear` that can predict with rounded weights."""

    rounded: IntegerMatrix | None = None

    def round_weights(self, wanted: bool) -> None:
        self.rounded = IntegerMatrix(self.weight) if wanted else None

    def forward(self, x: Tensor) -> Tensor:
        return products([self], x)[0]

    def without_bias(self, x: Tensor) -> Tensor:
        """Returns the product without the bias."""
        if self.rounded is None or torch.is_grad_enabled():
            return F.linear(x, self.weight)
        rows, scale = rounded_rows(x.reshape(-1, x.shape[-1]))
        product = self.rounded.product(rows.to(self.rounded.dtype), scale, None)
        return product.view(*x.shape[:-1], product.shape[1])


def products(linears: Iterable[Linear], x: Tensor) -> list[Tensor]:
    """Returns the outputs of layers for the same x [..., d_in], which is rounded once."""
    linears = list(linears)
    matrices = [linear.rounded for linear in linears if linear.rounded is not None]
    if len(matrices) < len(linears) or torch.is_grad_enabled():
        return [F.linear(x, linear.weight, linear.bias) for linear in linears]
    rows, scale = rounded_rows(x.reshape(-1, x.shape[-1]))
    rows = rows.to(matrices[0].dtype)
    pairs = zip(linears, matrices, strict=True)
    outputs = [matrix.product(rows, scale, linear.bias) for linear, matrix in pairs]
    return [output.view(*x.shape[:-1], output.shape[1]) for output in outputs]


def round_weights(module: nn.Module, wanted: bool) -> None:
    """Rounds the weights of all parts of a module that can predict with them, or forgets them."""
    for part in module.modules():
        if isinstance(part, Integers):
            part.round_weights(wanted)
