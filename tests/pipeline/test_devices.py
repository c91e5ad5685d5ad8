"""Every component on every device: what it finds must not depend on where it runs.

A machine without a GPU runs the cases of the CPU alone.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import spacy
from thinc.compat import has_cupy_gpu, has_torch_cuda_gpu

from spacy_lal.bridge.shim import torch_shims

from .contract import CASES, annotations, same

needs_gpu = pytest.mark.skipif(
    not (has_cupy_gpu and has_torch_cuda_gpu), reason="no GPU, or no CuPy"
)


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=needs_gpu)])
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    """The type of the device that spaCy uses in this test."""
    if request.param == "cuda":
        spacy.require_gpu()
    try:
        yield request.param
    finally:
        spacy.require_cpu()


def texts(name: str) -> list[str]:
    """Those that the component learned by heart, and others."""
    nlp = spacy.blank("en")
    learned = [example.x.text for example in CASES[name].examples(nlp)[:8]]
    return [*learned, "A dog walks on the mat today. He walk.", "Hello"]


@pytest.mark.parametrize("name", CASES)
def test_trains_and_moves(name: str, device: str) -> None:
    nlp = CASES[name].blank()
    examples = CASES[name].examples(nlp)
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.01
    losses: list[float] = []
    for _ in range(12):
        losses.append(sum(nlp.update(examples, sgd=optimizer, losses={}).values()))
    assert losses[-1] < losses[0]
    for _, shim in torch_shims(nlp.get_pipe(CASES[name].factory).model):
        assert {parameter.device.type for parameter in shim.module.parameters()} == {device}
    expected = [annotations(doc) for doc in nlp.pipe(texts(name))]
    stored = nlp.to_bytes()
    # a blank pipeline is made where spaCy is then
    spacy.require_cpu()
    on_cpu = CASES[name].blank().from_bytes(stored)
    for doc, there in zip(on_cpu.pipe(texts(name)), expected, strict=True):
        same(annotations(doc), there)
