"""Products of Thinc's own layers, such as those of spaCy's `senter`, by PyTorch."""

from collections.abc import Callable
from functools import partial
from itertools import accumulate, groupby
from typing import Any

import numpy
import torch
from spacy.language import Language
from spacy.pipeline import Tagger
from spacy.tokens import Doc
from thinc.api import Model, NumpyOps
from thinc.types import Floats2d

from .shim import no_docs

WORDS_AT_ONCE = 1000
"""Words that a tagger of spaCy's reads at one time in prediction, in whole Docs."""


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
    """Gives all layers of the pipeline's components that compute with `NumpyOps` these products.
    spaCy's taggers, of which a `senter` is one, then read `WORDS_AT_ONCE` in prediction."""
    ops = TorchProducts()
    for _, pipe in nlp.components:
        for node in pipe.model.walk() if hasattr(pipe, "model") else ():
            if type(node.ops) is NumpyOps:
                node.ops = ops
        if isinstance(pipe, Tagger):
            pipe.model._func = partial(_in_parts, pipe.model._func)
    return nlp


def _in_parts(
    forward: Callable[..., tuple[list[Floats2d], Callable]],
    model: Model[list[Doc], list[Floats2d]],
    docs: list[Doc],
    is_train: bool,
) -> tuple[list[Floats2d], Callable]:
    """Reads Docs as `forward` does; in prediction few at a time, whose vectors take memory that is
    in use already: fresh memory takes longer than the layers."""
    if is_train:
        return forward(model, docs, is_train)
    ends = accumulate(map(len, docs))
    parts = groupby(zip(docs, ends, strict=True), key=lambda part: part[1] // WORDS_AT_ONCE)
    read: list[Floats2d] = []
    for _, part in parts:
        read += forward(model, [doc for doc, _ in part], is_train)[0]
    return read, no_docs


def make_torch_products() -> Callable[[Language], Language]:
    """The callback `spacy-lal.torch_products.v1`, for `[nlp.after_pipeline_creation]`."""
    return use_torch_products
