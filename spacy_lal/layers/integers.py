"""Products of 8-bit integers in prediction: numbers are rounded row by row, sums are exact."""

import platform
from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .precision import Precision
from .prepared import Prepared

MOST = 127
"""Largest absolute value of a rounded number."""
MOST_IN_PAIRS = 64
"""Largest of a weight that is exact without VNNI, too: processors then add two products of it and
of a row's number, which they shift to 1 to 255, in 16 bits."""
BLOCK = 1 << 17
"""Numbers in blocks of rows that are rounded together."""
TINY = 1e-30
"""Least scale, which keeps rows of zeros finite."""


@cache
def has_integer_products(most: int) -> bool:
    """Whether the processor sums products with weights from -most to most exactly, and faster than
    float32.

    Elsewhere than on x86 they may be exact and slow: PyTorch has a plain loop there.
    """
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return False
    values = torch.full((2, 64), MOST, dtype=torch.int8)
    weights = torch.full((2, 64), most, dtype=torch.int8)
    wanted = 64 * MOST * most
    sums = torch._int_mm(values, torch.cat([weights, -weights]).T)
    return sums.tolist() == [[wanted, wanted, -wanted, -wanted]] * 2


class RoundedRows(NamedTuple):
    """Rows [R, d] as integers, `values` * `scale` + `middle`. No row depends on another one."""

    values: Tensor
    """[R, d], from -127 to 127."""
    scale: Tensor
    """[R, 1]"""
    middle: Tensor | None = None
    """[R]; None: 0."""


def rounded_rows(x: Tensor, dtype: torch.dtype = torch.float32) -> RoundedRows:
    """Rounds rows [R, d] to numbers of a type."""
    return _by_blocks(partial(_rounded, most=MOST), dtype, x)


def _rounded(x: Tensor, most: int) -> RoundedRows:
    return _in_steps(x, x.abs().amax(1, keepdim=True).clamp_(min=TINY).div_(most))


def _in_steps(x: Tensor, scale: Tensor) -> RoundedRows:
    return RoundedRows((x / scale).round_(), scale)


def centred_rows(x: Tensor, dtype: torch.dtype = torch.float32) -> RoundedRows:
    """Rounds rows [R, d] about the middles of their least and largest numbers."""
    return _by_blocks(_centred, dtype, x)


def _centred(x: Tensor) -> RoundedRows:
    # `aminmax` takes eight times as long
    low, high = x.amin(1, keepdim=True), x.amax(1, keepdim=True)
    middle = (low + high).div_(2)
    scale = (high - low).div_(2).clamp_(min=TINY).div_(MOST)
    return RoundedRows((x - middle).div_(scale).round_(), scale, middle.squeeze(1))


def _by_blocks(
    rounding: Callable[..., RoundedRows], dtype: torch.dtype, x: Tensor, *others: Tensor
) -> RoundedRows:
    """Rounds many rows in blocks, which stay in the cache from one operation to the next.

    others: what else `rounding` reads of each row.
    """
    if x.numel() < 4 * BLOCK:
        rows = rounding(x, *others)
        return rows._replace(values=rows.values.to(dtype))
    values, size = torch.empty(x.shape, dtype=dtype), max(1, BLOCK // x.shape[1])
    scales: list[Tensor] = []
    middles: list[Tensor] = []
    for out, *some in zip(*(of.split(size) for of in (values, x, *others)), strict=True):
        rows = rounding(*some)
        out.copy_(rows.values)
        scales.append(rows.scale)
        middles += [] if rows.middle is None else [rows.middle]
    return RoundedRows(values, torch.cat(scales), torch.cat(middles) if middles else None)


def as_floats(sums: Tensor) -> Tensor:
    """Turns sums into float32 numbers in their own memory: fresh memory takes twice as long."""
    return sums.view(torch.float32).copy_(sums)


class IntegerMatrix:
    """A weight [d_out, d_in], rounded by row from -most to most, for products with rounded rows.
    scale [d_out, 1]: that of each row; None: the least that its largest number allows.

    Without fast instructions the integers are float32 numbers: their sums are as exact up to 1,040
    summands, so processors agree.
    """

    def __init__(
        self, weight: Tensor, most: int = MOST_IN_PAIRS, scale: Tensor | None = None
    ) -> None:
        weight = weight.detach()
        self.dtype = torch.int8 if has_integer_products(most) else torch.float32
        if scale is None:
            values, scale, _ = _by_blocks(partial(_rounded, most=most), self.dtype, weight)
        else:
            values, *_ = _by_blocks(_in_steps, self.dtype, weight, scale)
        self.values = values.T
        self.scale = scale.T.contiguous()
        """[1, d_out]"""
        self.of_ones = values.sum(1).float()
        """[d_out], the sums of the products with ones."""

    def empty_sums(self, *sizes: int) -> Tensor:
        """Returns memory for sums."""
        dtype = torch.int32 if self.dtype == torch.int8 else torch.float32
        return torch.empty(*sizes, self.scale.shape[1], dtype=dtype)

    def sums(self, rows: Tensor, out: Tensor) -> Tensor:
        """Writes the sums of products of rounded rows [R, d_in] to `out` [R, d_out]."""
        if self.dtype == torch.int8:
            return torch._int_mm(rows, self.values, out=out)
        return torch.mm(rows, self.values, out=out)

    def float_sums(self, rows: Tensor) -> Tensor:
        """Returns the sums of products of rounded rows [R, d_in] as float32 numbers [R, d_out]."""
        return as_floats(self.sums(rows, self.empty_sums(len(rows))))

    def product(self, rows: RoundedRows, bias: Tensor | None) -> Tensor:
        """Returns rows [R, d_in] times the weight, plus a bias: [R, d_out], in float32."""
        sums = self.float_sums(rows.values.to(self.dtype))
        # the rows' scales first: sums are the same in every batch, and so are these
        sums.mul_(rows.scale)
        if rows.middle is not None:
            sums.addr_(rows.middle, self.of_ones)
        if bias is None:
            return sums.mul_(self.scale)
        return torch.addcmul(bias, sums, self.scale, out=sums)


class Linear(nn.Linear, Prepared):
    """`torch.nn.Linear` that can predict with rounded weights and rows."""

    rounded = staticmethod(rounded_rows)
    most = MOST_IN_PAIRS

    def made(self, precision: Precision) -> IntegerMatrix | None:
        """Returns the rounded weights, for such products."""
        return IntegerMatrix(self.weight, self.most) if precision == "int8" else None

    def unread(self) -> tuple[str]:
        return ("weight",)

    def forward(self, x: Tensor) -> Tensor:
        return products([self], x)[0]


class OneSidedLinear(Linear):
    """A layer whose rows have numbers about another middle than 0, as a transformer's have. Its
    weights have some large numbers, and need finer steps."""

    rounded = staticmethod(centred_rows)
    most = MOST


def wide_if_rounded(x: Tensor, *layers: Prepared) -> Tensor:
    """Returns x in float64 if the layers that read what comes of it round it.

    The last bit of a sum in float32 depends on how many rows there are, and would decide between
    two integers. So would one of float64, but a thousand million times less often.
    """
    return x.double() if any(layer.prepared() for layer in layers) else x


def products(linears: Iterable[nn.Linear], x: Tensor) -> list[Tensor]:
    """Returns the outputs of layers for the same x [..., d_in], which is rounded once if all of
    them are `Linear` and predict so."""
    linears = list(linears)
    rounding = [linear for linear in linears if isinstance(linear, Linear)]
    prepared: list[IntegerMatrix | None] = [linear.prepared() for linear in rounding]
    matrices = [matrix for matrix in prepared if matrix is not None]
    if len(matrices) < len(linears):
        return [F.linear(x, linear.weight, linear.bias) for linear in linears]
    rows = rounding[0].rounded(x.reshape(-1, x.shape[-1]), matrices[0].dtype)
    pairs = zip(linears, matrices, strict=True)
    outputs = [matrix.product(rows, linear.bias) for linear, matrix in pairs]
    return [output.view(*x.shape[:-1], output.shape[1]) for output in outputs]
