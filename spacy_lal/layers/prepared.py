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
        return self.unpacked_to(torch.empty(self.shape))

    def unpacked_to(self, memory: Tensor) -> Tensor:
        """Unpacks into float32 numbers of this shape."""
        return memory.copy_(self.values).mul_(self.scale)

    def check(self, name: str) -> None:
        """Raises ValueError, naming the weight, if it can't be unpacked."""
        sizes = *self.values.shape[:-1], 1
        if self.values.dtype != torch.int8 or self.scale.shape != sizes:
            raise ValueError(f"{name} has other values or scales than 8-bit weights have")
        if not (self.scale.abs() * 128).isfinite().all():
            raise ValueError(f"{name} has values that are not finite")


class Prepared(nn.Module):
    """A module that keeps what its predictions make of its weights, until these change.

    Weights that are stored in 8 bits are asleep while no computation reads them: memory holds the 8
    bits, and the parameter is NaN. Training, gradients and other products wake them. Code that
    reads or changes parameters in another way calls `awake` first.
    """

    kept: Any = None
    asleep: Mapping[str, Packed] = MappingProxyType({})
    """What is asleep, by the name of the parameter in this module."""

    def made(self, precision: Precision) -> Any:
        """Returns what predictions with such products make of the weights. With 8-bit products it
        shares no memory with those that may sleep."""
        raise NotImplementedError

    def unread(self) -> Iterable[str]:
        """Returns the names of the parameters, of this module or one in it, that no 8-bit
        prediction reads, but for `made`."""
        return ()

    def prepared(self) -> Any:
        """Returns what is kept; with gradients, or where nothing is, that of float32 products."""
        if self.kept is None or torch.is_grad_enabled():
            if self.asleep:
                self.wake()
            return self.made("float32")
        return self.kept

    def sleep(self, packed: Mapping[str, Packed]) -> None:
        """Frees the memory of these parameters."""
        self.asleep = dict(packed)
        for name, weight in packed.items():
            nothing = torch.full((), torch.nan).expand(weight.shape)
            self.get_parameter(name).data = nothing

    def wake(self) -> None:
        """Undoes `sleep`."""
        with torch.inference_mode(False):
            for name, weight in self.asleep.items():
                self.get_parameter(name).data = weight.unpacked()
        self.asleep = {}


def prepare(module: nn.Module, precision: Precision | None) -> None:
    """Makes all parts of a module keep what predictions with such products need, or forget it. With
    8-bit products, what was asleep goes on sleeping."""
    if precision != "int8":
        awake(module)
    parts = [_parts(part) for part in _parts(module)]
    # kept for explanations, too, which have gradients
    with torch.inference_mode(False), torch.no_grad():
        # one after another, in the same memory: all weights at once would take all of it again, and
        # what is made of each would stand between the pieces of memory that the others leave
        memory = torch.empty(max(map(_asleep, parts), default=0))
        for part, *inside in parts:
            _unpack([part, *inside], memory)
            part.kept = None if precision is None else part.made(precision)
            for of in (part, *inside):
                of.sleep(of.asleep)


def _asleep(parts: Iterable[Prepared]) -> int:
    """Returns how many numbers of these parts are asleep."""
    return sum(weight.shape.numel() for part in parts for weight in part.asleep.values())


def _unpack(parts: Iterable[Prepared], memory: Tensor) -> None:
    """Unpacks the parameters that are asleep into `memory`, which the next call writes again."""
    for part in parts:
        for name, weight in part.asleep.items():
            own, memory = memory.split([weight.shape.numel(), len(memory) - weight.shape.numel()])
            part.get_parameter(name).data = weight.unpacked_to(own.view(weight.shape))


def _parts(module: nn.Module) -> list[Prepared]:
    return [part for part in module.modules() if isinstance(part, Prepared)]


def sleepers(module: nn.Module) -> dict[str, tuple[Prepared, str]]:
    """Returns the parameters that may sleep by their names in a module: part and name in it."""
    return {
        f"{prefix}.{name}" if prefix else name: (part, name)
        for prefix, part in module.named_modules()
        if isinstance(part, Prepared)
        for name in part.unread()
    }


def awake(module: nn.Module) -> nn.Module:
    """Wakes all weights of a module; returns the module."""
    for part in _parts(module):
        part.wake()
    return module
