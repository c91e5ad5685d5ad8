"""Every component on every device: what it finds must not depend on where it runs.

A machine without a GPU runs the cases of the CPU alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
import spacy
import torch
from thinc.compat import has_cupy_gpu, has_torch_cuda_gpu

from spacy_lal.bridge import shim as bridge
from spacy_lal.bridge.shim import torch_shims

from .contract import CASES, annotations, same
from .elsewhere import HERE, THERE, Elsewhere
from .toy import DEPENDENCIES, TINY, TWO_STAGE
from .toy_frames import SMALL

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


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[Elsewhere]:
    """Networks are built on a device that is not that of Docs."""
    monkeypatch.setattr(bridge, "get_torch_default_device", lambda: THERE)
    with Elsewhere() as mode:
        yield mode


def test_two_devices_are_told_apart(elsewhere: Elsewhere) -> None:
    here, there = torch.ones(2), torch.ones(2).to(THERE)
    assert (here.device, there.device, (there * 2)[0].device) == (HERE, THERE, THERE)
    assert torch.zeros(2, device=there.device).device == there.new_zeros(2).device == THERE
    assert (there.cpu().device, here.to(there.device).device) == (HERE, THERE)
    assert there[torch.tensor([0])].device == THERE
    for wrong in (
        lambda: here + there,
        lambda: torch.cat([here, there]),
        lambda: here[there.long()],
        lambda: there.numpy(),
        lambda: there @ torch.eye(2),
    ):
        with pytest.raises(RuntimeError, match=r"GPU|two devices"):
            wrong()


ATTENTION = {
    "@misc": "spacy-lal.LabelAttentionEncoder.v1",
    "heads": 4,
    "key_width": 8,
    "value_width": 8,
    "projection_width": 4,
    "self_attention_layers": 1,
    "self_attention_heads": 2,
    "self_attention_key_width": 8,
    "feed_forward_width": 16,
    "label_feed_forward": True,
}
OTHERS = {
    "margin, positions": replace(
        CASES["joint"],
        config={
            "model": {
                **TINY,
                "dependencies": DEPENDENCIES,
                "input_encoder": {"@misc": "spacy-lal.PositionRows.v1", "width": 32},
                "encoder": ATTENTION,
            },
            "objective": {"@misc": "spacy-lal.margin_objective.v2"},
            "decoder": {"@misc": "spacy-lal.map_decoder.v1", "share": 0.5},
        },
    ),
    "branches": replace(
        CASES["two stages"],
        config={
            "model": {
                **TWO_STAGE,
                "input_encoder": {"@misc": "spacy-lal.BranchRows.v1", "width": 32},
                "encoder": ATTENTION,
            },
            "decoder": {"@misc": "spacy-lal.map_decoder.v1"},
        },
    ),
    "lisa, paths": replace(
        CASES["lisa"],
        config={"model": {**SMALL, "role_paths": True}, "unique_core_roles": True},
    ),
    "lisa, greedy": replace(CASES["lisa"], config={"model": SMALL, "decoder": "greedy"}),
}


@pytest.mark.parametrize("name", CASES | OTHERS)
def test_no_operation_mixes_devices(name: str, elsewhere: Elsewhere) -> None:
    """Update, loss, prediction, search and writing."""
    case = (CASES | OTHERS)[name]
    nlp = case.blank()
    examples = case.examples(nlp)[:8]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(2):
        nlp.update(examples, sgd=optimizer, drop=0.2, losses={})
    for _, network in torch_shims(nlp.get_pipe(case.factory).model):
        assert {parameter.device for parameter in network.module.parameters()} == {THERE}
    read = [example.x.text for example in examples] + [
        "A dog walks on the mat . He walk .",
        "Hello",
    ]
    assert all(annotations(doc) for doc in nlp.pipe(read))
    pipe = nlp.get_pipe(case.factory)
    if hasattr(pipe, "kbest") and "margin" not in name:
        assert pipe.kbest(nlp(read[0]), 2)
    assert nlp.to_bytes()
