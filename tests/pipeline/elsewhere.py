"""A second device that is none: which tensors are on it, and every operation that mixes the two."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves
from torch.utils.weak import WeakTensorKeyDictionary

THERE, HERE = torch.device("cuda", 0), torch.device("cpu")
ANY_INDEX = {"__getitem__", "__setitem__", "index_put_", "index_put"}
"""Operations of tensors on a GPU that take indices of the CPU."""
TO_HOST = {"numpy", "__array__", "__dlpack__"}
"""What only a tensor of the CPU can do."""
BOTH = {"_pack_padded_sequence", "_has_compatible_shallow_copy_type", "copy_", "__repr__"}
"""Operations that take tensors of both."""


class Elsewhere(TorchFunctionMode):
    """Stands for a machine with a GPU: a tensor is THERE if it was moved or made there, or comes of
    one that is. Raises RuntimeError where a GPU would: for an operation on tensors of both."""

    def __init__(self) -> None:
        super().__init__()
        self.places: Any = WeakTensorKeyDictionary()

    def place(self, tensor: Tensor) -> torch.device:
        return self.places.get(tensor, HERE)

    def __torch_function__(
        self, func: Callable, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        name = getattr(func, "__name__", str(func))
        of = getattr(getattr(func, "__self__", None), "__name__", "")
        tensors = [x for x in tree_leaves((args, kwargs)) if isinstance(x, Tensor)]
        if name == "__get__" and of == "device":
            return self.place(tensors[0])
        if name == "__set__":
            if of in ("data", "grad") and len(tensors) == 2:
                self.places[tensors[0]] = self.place(tensors[1])
            return func(*args, **kwargs)
        places = {self.place(t) for t in (tensors[:1] if name in ANY_INDEX else tensors) if t.dim()}
        if len(places) > 1 and name not in BOTH:
            sizes = [(tuple(t.shape), str(self.place(t))) for t in tensors]
            raise RuntimeError(f"{name} of tensors on two devices: {sizes}")
        indices = [t for t in tensors[1:] if t.dim()] if name in ANY_INDEX else []
        if THERE in map(self.place, indices) and self.place(tensors[0]) == HERE:
            raise RuntimeError(f"{name}: indices on the GPU of a tensor on the CPU")
        here = places.pop() if places else next((self.place(t) for t in tensors), HERE)
        if name in TO_HOST and here == THERE:
            raise RuntimeError(f"{name} of a tensor on the GPU")
        moved = [x for x in (*args, *kwargs.values()) if isinstance(x, torch.device | str)]
        if name == "cpu":
            here = HERE
        elif name in ("to", *FACTORIES) or "device" in kwargs:
            for device in moved:
                if isinstance(device, torch.device) or device in ("cpu", "cuda", "cuda:0"):
                    here = torch.device(device)
            of_other = name == "to" and len(args) > 1 and isinstance(args[1], Tensor)
            if of_other:
                here = self.place(args[1])
            args = tuple(HERE if isinstance(x, torch.device) else x for x in args)
            if kwargs.get("device") is not None:
                kwargs["device"] = HERE
        result = func(*args, **kwargs)
        if name in ("to", "cpu") and tensors and here != self.place(tensors[0]):
            # another tensor than the one that stays where it was
            result = result.view_as(result) if result is tensors[0] else result
        for made in tree_leaves(result):
            if isinstance(made, Tensor) and not (made is tensors[0] if tensors else False):
                self.places[made] = here
        return result


FACTORIES = (
    *("zeros", "ones", "arange", "tensor", "full", "empty", "eye", "randn", "rand", "as_tensor"),
    *("new_zeros", "new_ones", "new_full", "new_empty", "new_tensor", "zeros_like", "ones_like"),
    *("full_like", "empty_like", "randint", "linspace"),
)
