"""Products of Thinc's own layers, such as those of spaCy's `senter`, by PyTorch."""

from collections.abc import Callable
from typing import Any

import numpy
import torch
from spacy.language import Language
from thinc.api import NumpyOps


class TorchProducts(NumpyOps):
    """`NumpyOps` with PyTorch's matrix products, in the threads that PyTorch has already. Those of
    BLIS, which Thinc takes, use less of most processors."""

    def gemm(
        self,
        x: numpy.ndarray,
        y: numpy.ndarray,
        *,
        out: Any = None,
        trans1: bool = False,
        trans2: bool = False,
    ) -> numpy.ndarray:
        if not all(a.dtype == numpy.float32 and a.flags.writeable for a in (x, y)):
            return super().gemm(x, y, out=out, trans1=trans1, trans2=trans2)
        first, second = torch.from_numpy(x), torch.from_numpy(y)
        first, second = first.T if trans1 else first, second.T if trans2 else second
        result = None if out is None else torch.from_numpy(out)
        with torch.no_grad():
            return torch.mm(first, second, out=result).numpy()


def use_torch_products(nlp: Language) -> Language:
    """Gives all layers of the pipeline's components that compute with `NumpyOps` these products."""
    ops = TorchProducts()
    for _, pipe in nlp.components:
        for node in pipe.model.walk() if hasattr(pipe, "model") else ():
            if type(node.ops) is NumpyOps:
                node.ops = ops
    return nlp


def make_torch_products() -> Callable[[Language], Language]:
    """The callback `spacy-lal.torch_products.v1`, for `[nlp.after_pipeline_creation]`."""
    return use_torch_products
