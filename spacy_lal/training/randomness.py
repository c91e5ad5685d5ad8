"""The state of all random number generators that training draws from."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

T = TypeVar("T")


@dataclass(frozen=True)
class RandomState:
    """Where the generators of Python, NumPy (the global one) and PyTorch stand.

    cuda: PyTorch's, of every GPU; empty where none is used, or to leave them alone. CuPy
    tells nobody where its generator stands.
    """

    python: tuple[Any, ...]
    numpy: dict[str, Any]
    torch: Tensor
    cuda: list[Tensor]

    @classmethod
    def now(cls, gpus: bool = True) -> RandomState:
        """As it is. gpus: those too, which takes the processor's time."""
        # to ask a GPU that nobody uses would take some of its memory
        cuda = torch.cuda.get_rng_state_all() if gpus and torch.cuda.is_initialized() else []
        # not the legacy form, a tuple without names
        numpy = dict(np.random.get_state(legacy=False))  # type: ignore[arg-type]
        return cls(random.getstate(), numpy, torch.get_rng_state(), cuda)

    def restore(self) -> None:
        """Set all generators to this state."""
        random.setstate(self.python)
        np.random.set_state(self.numpy)
        torch.set_rng_state(self.torch)
        if self.cuda and len(self.cuda) == torch.cuda.device_count():
            torch.cuda.set_rng_state_all(self.cuda)

    def to_json(self) -> dict[str, Any]:
        """As values that JSON has."""
        version, numbers, gauss = self.python
        mt = self.numpy["state"]
        return {
            "python": [version, list(numbers), gauss],
            "numpy": self.numpy | {"state": {"key": mt["key"].tolist(), "pos": mt["pos"]}},
            "torch": self.torch.tolist(),
            "cuda": [state.tolist() for state in self.cuda],
        }

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> RandomState:
        """Undo `to_json`."""
        version, numbers, gauss = state["python"]
        numpy, mt = state["numpy"], state["numpy"]["state"]
        key = np.array(mt["key"], dtype=np.uint32)
        return cls(
            (version, tuple(numbers), gauss),
            numpy | {"state": {"key": key, "pos": mt["pos"]}},
            torch.tensor(state["torch"], dtype=torch.uint8),
            [torch.tensor(one, dtype=torch.uint8) for one in state["cuda"]],
        )


def with_own_random(items: Iterable[T], state: RandomState) -> Iterator[T]:
    """The items, whose making draws random numbers from `state` on, and never from others' state.

    So the items don't depend on what is drawn between them.
    """
    iterator = iter(items)
    while True:
        outside = RandomState.now(gpus=False)
        state.restore()
        try:
            item = next(iterator)
        except StopIteration:
            return
        finally:
            state = RandomState.now(gpus=False)
            outside.restore()
        yield item
