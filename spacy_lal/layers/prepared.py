"""What predictions make of weights once, such as rounded ones or products of two."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from .precision import Precision


class Packed(NamedTuple):
    """A weight as packages store it: 8-bit numbers [..., d] and factors [..., 1] of their rows."""

    values: Tensor
    scale: Tensor

    @property
    def shape(self) -> torch.Size:
        return self.values.shape

    def unpacked(self) -> Tensor:
        return self.values.float() * self.scale


class Prepared(nn.Module):
    """A module that keeps what its predictions make of its weights, until these change.

    Weights that were read from 8 bits, and that its 8-bit predictions don't read themselves, may
    sleep: a quarter of the memory holds them, and whoever wants them wakes them.
    """

    kept: Any = None
    asleep: Mapping[str, Packed] = MappingProxyType({})
    """Weights by name, of this module or one in it."""

    def made(self, precision: Precision) -> Any:
        """Returns what predictions with such products make of the weights."""
        raise NotImplementedError

    def unread(self) -> Iterable[str]:
        """Returns the names of the weights that 8-bit predictions read only in `made`."""
        return ()

    def prepared(self) -> Any:
        """Returns what is kept; with gradients, or where nothing is, that of float32 products."""
        if self.kept is None or torch.is_grad_enabled():
            if self.asleep:
                self.wake()
            return self.made("float32")
        return self.kept

    def sleep(self, packed: Mapping[str, Packed]) -> None:
        """Gives the memory of these weights back. To read them now is to read NaN."""
        self.asleep = packed
        for name, weight in packed.items():
            nothing = torch.full((), torch.nan).expand(weight.shape)
            self.get_parameter(name).data = nothing

    @torch.inference_mode(False)
    def wake(self) -> Mapping[str, Packed]:
        """Undoes `sleep`; returns what was asleep."""
        packed, self.asleep = self.asleep, MappingProxyType({})
        for name, weight in packed.items():
            self.get_parameter(name).data = weight.unpacked()
        return packed


def prepare(module: nn.Module, precision: Precision | None) -> None:
    """Makes all parts of a module keep what predictions with such products need, or forget it."""
    # kept for explanations, too, which have gradients
    with torch.inference_mode(False), torch.no_grad():
        for part in module.modules():
            if isinstance(part, Prepared):
                packed = part.wake()
                part.kept = None if precision is None else part.made(precision)
                if precision == "int8":
                    part.sleep(packed)


def sleepers(module: nn.Module) -> dict[str, tuple[Prepared, str]]:
    """Returns the weights that may sleep by their names in a module: part and name in it."""
    return {
        f"{prefix}.{name}" if prefix else name: (part, name)
        for prefix, part in module.named_modules()
        if isinstance(part, Prepared)
        for name in part.unread()
    }


def awake(module: nn.Module) -> nn.Module:
    """Wakes all weights of a module, for whoever reads or changes them; returns the module."""
    for part in module.modules():
        if isinstance(part, Prepared):
            part.wake()
    return module
