"""Weights on disk, and how they are read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import safetensors.torch
import spacy
import torch
from spacy.language import Language
from thinc.api import Adam

from spacy_lal.bridge.shim import torch_shims
from spacy_lal.bridge.weights import SCALE, eight_bits, store_as, to_float16, to_int8
from spacy_lal.training.optimizers import GroupedAdam
from tests.pipeline.contract import copy_of
from tests.pipeline.toy import TREES, examples, predicted, tiny_pipeline


@pytest.fixture(scope="module")
def trained() -> Language:
    return copy_of("constituency")


def test_eight_bits_are_the_nearest_of_255_values_of_each_row() -> None:
    torch.manual_seed(0)
    values = torch.randn(4, 3, 20) * torch.tensor([1e-6, 1.0, 1e6]).view(1, 3, 1)
    values[0, 0] = 0.0
    rows, scale = eight_bits(values)
    assert rows.dtype is torch.int8
    assert scale.shape == (4, 3, 1)
    error = (rows.float() * scale - values).abs()
    assert (error <= values.abs().amax(-1, keepdim=True) / 254 * 1.001).all()
    # the largest of each row is kept
    torch.testing.assert_close((rows * scale).abs().amax(-1), values.abs().amax(-1))


def test_a_pipeline_in_eight_bits(trained: Language, tmp_path: Path) -> None:
    trained.to_disk(tmp_path)
    path = tmp_path / "lal_constituency" / "model.safetensors"
    # not load_file, whose tensors are the file itself, which is written anew
    before = safetensors.torch.load(path.read_bytes())
    store_as(path.parent, to_int8)
    store_as(path.parent, to_float16)
    after = safetensors.torch.load(path.read_bytes())
    matrices = {name.removesuffix(SCALE) for name in after if name.endswith(SCALE)}
    assert matrices == {n for n, t in before.items() if t.dim() > 1 and t.shape[-1] >= 16}
    assert {after[name].dtype for name in matrices} == {torch.int8}
    assert {after[name].dtype for name in before.keys() - matrices} == {torch.float16}
    loaded = spacy.load(tmp_path)
    assert [predicted(loaded, tree) for tree in TREES] == TREES
    # what is written again is 32-bit floats
    loaded.to_disk(tmp_path / "again")
    again = safetensors.torch.load_file(tmp_path / "again/lal_constituency/model.safetensors")
    assert {tensor.dtype for tensor in again.values()} == {torch.float32}
    for name in matrices:
        torch.testing.assert_close(again[name], before[name], atol=0.02, rtol=0)


def test_averages_begin_with_the_weights() -> None:
    """Not with zeros: after a step that changes nothing, they are what there was."""
    nlp = tiny_pipeline()
    optimizer = Adam(0.0, use_averages=True)
    nlp.initialize(lambda: examples(nlp))
    _, shim = list(torch_shims(nlp.get_pipe("lal_constituency").model))[-1]
    before = {name: tensor.clone() for name, tensor in shim.tensors().items()}
    nlp.update(examples(nlp), sgd=optimizer)
    with nlp.use_params(optimizer.averages):
        for name, tensor in shim.tensors().items():
            torch.testing.assert_close(tensor, before[name])


def test_what_had_no_gradients_stays_so() -> None:
    """When an optimizer that freezes it, too, is followed by one that doesn't."""
    nlp = tiny_pipeline()
    nlp.initialize(lambda: examples(nlp))
    _, shim = list(torch_shims(nlp.get_pipe("lal_constituency").model))[-1]
    first, second, *_ = shim.module.named_parameters()
    first[1].requires_grad_(False)
    names = f"^({re.escape(first[0])}|{re.escape(second[0])})$"
    freezing = GroupedAdam(learn_rate=0.001, groups=[{"names": names, "factor": 0.0}])
    for optimizer, trained in ((freezing, False), (Adam(0.001), True)):
        nlp.update(examples(nlp), sgd=optimizer)
        assert [first[1].requires_grad, second[1].requires_grad] == [False, trained]
