"""GroupedAdam against torch's AdamW with groups of parameters, and rates worked by hand."""

from __future__ import annotations

import warnings
from itertools import islice
from typing import Any

import numpy
import pytest
import torch
from spacy.util import registry
from thinc.api import Adam, Config, Linear
from torch import Tensor, nn

from spacy_lal.bridge.shim import TorchShim
from spacy_lal.training.optimizers import GroupedAdam
from spacy_lal.training.schedules import make_inverse_sqrt

GROUPS: list[dict[str, Any]] = [
    {"names": r"^transformer\.embeddings\.", "factor": 0.0},
    {"names": r"^transformer\.encoder\.layer\.0\.", "factor": 0.05},
    {"names": r"^transformer\.", "factor": 0.1},
]
RATES = {"embeddings": 0.0, "encoder.layer.0": 0.05, "encoder.layer.1": 0.1, "head": 1.0}
"""Factors of the groups above, by hand."""


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Linear(8, 8)
        self.LayerNorm = nn.LayerNorm(8)

    def forward(self, x: Tensor) -> Tensor:
        return self.LayerNorm(x + torch.tanh(self.dense(x)))


class Pretrained(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embeddings = nn.Embedding(10, 8)
        self.encoder = nn.Module()
        self.encoder.layer = nn.ModuleList(Layer() for _ in range(2))

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embeddings(ids)
        for layer in self.encoder.layer:
            x = layer(x)
        return x


class Network(nn.Module):
    """Named as a pretrained encoder with something new on top."""

    def __init__(self) -> None:
        super().__init__()
        self.transformer = Pretrained()
        self.head = nn.Linear(8, 3)

    def forward(self, ids: Tensor) -> Tensor:
        return self.head(self.transformer(ids).mean(-2))


def network() -> TorchShim:
    torch.manual_seed(0)
    shim = TorchShim(lambda header: Network())
    shim.initialize({})
    return shim


def loss(scores: Tensor, step: int) -> Tensor:
    return nn.functional.cross_entropy(scores, torch.arange(step, step + 4) % 3)


def ids(step: int) -> Tensor:
    return torch.from_numpy(numpy.random.default_rng(step).integers(0, 10, (4, 5)))


def train(shim: TorchShim, optimizer: GroupedAdam, steps: range) -> dict[str, Tensor]:
    """Parameters after these steps."""
    for step in steps:
        loss(shim.run(ids(step), is_train=True), step).backward()
        shim.finish_update(optimizer)
        optimizer.step_schedules()
    return {name: value.clone() for name, value in shim.tensors().items()}


def make(**settings: Any) -> GroupedAdam:
    standard = {"groups": GROUPS, "eps": 1e-12, "grad_clip": 0.0, "use_averages": False}
    return GroupedAdam(**{**standard, **settings})


def test_as_adamw_of_torch() -> None:
    """20 steps with a warm-up: the weights are AdamW's with a group for each rate."""
    rates = list(islice(make_inverse_sqrt(0.01, 5), 20))
    theirs = Network()
    ours = network()
    theirs.load_state_dict(ours.module.state_dict())
    before = {name: value.clone() for name, value in ours.tensors().items()}
    groups = []
    for name, parameter in theirs.named_parameters():
        factor = next(f for part, f in RATES.items() if part in name)
        groups.append({"params": [parameter], "factor": factor, "weight_decay": 0.01})
    adamw = torch.optim.AdamW(groups, lr=0.0, eps=1e-12, foreach=False)
    for step, rate in enumerate(rates):
        for group in adamw.param_groups:
            group["lr"] = rate * group["factor"]
        adamw.zero_grad()
        loss(theirs(ids(step)), step).backward()
        adamw.step()

    found = train(ours, make(learn_rate=rates, L2=0.01), range(20))
    for name, wanted in theirs.state_dict().items():
        numpy.testing.assert_allclose(found[name], wanted, atol=1e-6, rtol=0, err_msg=name)
        assert ("embeddings" in name) == torch.equal(found[name], before[name])


@pytest.mark.parametrize(
    ("name", "factor"),
    [
        ("transformer.embeddings.LayerNorm.weight", 0.0),
        ("transformer.encoder.layer.1.output.dense.weight", 0.1),
        ("transformer.encoder.layer.0.attention.self.key.bias", 0.05),
        ("transformer.pooler.dense.weight", 0.1),
        ("mix.weights", 1.0),
        ("encoder.layer.0.weight", 1.0),
    ],
)
def test_rates_by_hand(name: str, factor: float) -> None:
    assert make().factor(name) == factor


def test_as_adam_without_groups() -> None:
    found = train(network(), make(groups=[], L2=0.1, grad_clip=0.5), range(3))
    adam = Adam(L2=0.1, grad_clip=0.5, eps=1e-12, use_averages=False)
    for name, wanted in train(network(), adam, range(3)).items():  # type: ignore[arg-type]
        assert torch.equal(found[name], wanted)


def test_frozen_parameters_cost_nothing() -> None:
    """No state, no average, and from the second update on no gradient."""
    shim, optimizer = network(), make(use_averages=True)
    embeddings = shim.module.transformer.embeddings.weight
    train(shim, optimizer, range(2))
    loss(shim.run(ids(2), is_train=True), 2).backward()
    assert embeddings.grad is None
    assert shim.module.head.weight.grad is not None
    for state in (optimizer.mom1, optimizer.mom2, optimizer.averages, optimizer.nr_update):
        assert len(state) == len(list(shim.module.parameters())) - 1
        assert not any("embeddings" in name for _, name in state)


def test_another_optimizer_thaws() -> None:
    shim = network()
    before = train(shim, make(), range(2))
    after = train(shim, make(groups=[]), range(2, 4))
    name = "transformer.embeddings.weight"
    assert not torch.equal(before[name], after[name])


def test_all_frozen() -> None:
    """Gradients can still be walked back, and nothing moves."""
    shim = network()
    before = {name: value.clone() for name, value in shim.tensors().items()}
    after = train(shim, make(groups=[{"names": "", "factor": 0}]), range(3))
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_frozen_thinc_layer() -> None:
    layer = Linear(2, 3).initialize()
    before = layer.get_param("W").copy()
    optimizer = make(groups=[{"names": "^W$", "factor": 0}])
    for _ in range(2):
        _, backprop = layer.begin_update(numpy.ones((1, 3), "float32"))
        backprop(numpy.ones((1, 2), "float32"))
        layer.finish_update(optimizer)
        assert not layer.get_grad("W").any()
    assert (layer.get_param("W") == before).all()
    assert layer.get_param("b").any()


def test_averages() -> None:
    """Of trained parameters; at update t the average keeps (1 + t) / (10 + t) of itself."""
    shim, optimizer = network(), make(use_averages=True)
    average = shim.tensors()["head.weight"].clone()
    for t in range(1, 6):
        now = train(shim, optimizer, range(t, t + 1))
        kept = (1 + t) / (10 + t)
        average = kept * average + (1 - kept) * now["head.weight"]
    with shim.use_params(optimizer.averages):
        torch.testing.assert_close(shim.module.head.weight.detach(), average)
        name = "transformer.embeddings.weight"
        assert torch.equal(shim.tensors()[name], now[name])


def test_goes_on_from_its_state() -> None:
    """mom1, mom2, averages and nr_update are all that it remembers beside its schedules."""
    settings = {"use_averages": True, "L2": 0.01}
    shim, whole = network(), make(**settings)
    train(shim, whole, range(3))
    copy, rest = network(), make(**settings)
    copy.module.load_state_dict(shim.module.state_dict())
    for state in ("mom1", "mom2", "averages", "nr_update"):
        for (_, name), value in getattr(whole, state).items():
            getattr(rest, state)[copy.id, name] = value if state == "nr_update" else value.copy()
    wanted, found = train(shim, whole, range(3, 6)), train(copy, rest, range(3, 6))
    assert all(torch.equal(wanted[name], found[name]) for name in wanted)
    for (_, name), average in whole.averages.items():
        assert (average == rest.averages[copy.id, name]).all()


def test_a_group_without_parameters_is_warned_of() -> None:
    shim = network()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        train(shim, make(), range(2))
    optimizer = make(groups=[*GROUPS, {"names": r"^roberta\.", "factor": 0.1}])
    with pytest.warns(UserWarning, match="no parameter's name has .*roberta") as warned:
        train(shim, optimizer, range(3))
    assert len(warned) == 1


@pytest.mark.parametrize(
    ("group", "message"),
    [
        ({"names": "(", "factor": 1.0}, r"needs names, a regular expression: {'names': '\('"),
        ({"names": "a", "factor": -1.0}, "a factor of at least 0, not .*-1.0"),
        ({"names": "a", "factor": float("nan")}, "a factor of at least 0, not .*nan"),
        ({"names": "a", "rate": 0.5}, "has names and a factor .*rate"),
        ({"factor": 0.5}, "needs names, .* {.factor"),
    ],
)
def test_wrong_groups(group: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(groups=[group])


CONFIG = r"""
[optimizer]
@optimizers = "spacy-lal.GroupedAdam.v1"
L2 = 0.01
groups = [
  {"names": "^transformer\\.embeddings\\.", "factor": 0},
  {"names": "^transformer\\.", "factor": 0.1}]

[optimizer.learn_rate]
@schedules = "warmup_linear.v1"
initial_rate = 0.001
warmup_steps = 2
total_steps = 10
"""


def test_from_a_config() -> None:
    config = Config().from_str(CONFIG)
    for written in (config, Config().from_str(config.to_str())):
        optimizer = registry.resolve(written)["optimizer"]
        assert optimizer.freezes("transformer.embeddings.word_embeddings.weight")
        name = "transformer.encoder.layer.4.output.dense.weight"
        assert optimizer.factor(name) == 0.1
        optimizer.step_schedules()
        assert optimizer.learn_rate == pytest.approx(0.0005)
