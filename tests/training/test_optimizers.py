"""Nadam against its equations in float64, steps worked by hand, and torch's own."""

from __future__ import annotations

import itertools
from itertools import count
from typing import Any

import numpy
import pytest
import torch
from numpy.typing import NDArray
from spacy.util import registry
from thinc.api import Config, Linear, Optimizer
from torch import Tensor, nn
from torch.optim.nadam import nadam

from spacy_lal.bridge.shim import TorchShim
from spacy_lal.training.optimizers import Nadam

Array = NDArray[Any]
KEY = (0, "W")
PLAIN: dict[str, Any] = {"grad_clip": 0.0, "use_averages": False}
PAPER: dict[str, Any] = {"beta2": 0.98, "eps": 1e-12}


def expected(
    weights: Array,
    gradients: list[Array],
    *,
    rate: float = 0.001,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
    lazy: bool = False,
    decay: float = 0.0,
    l2: float = 0.0,
    clip: float = 0.0,
) -> tuple[Array, Array]:
    """The weights after these steps and their moving average, one number at a time."""
    w = weights.astype(float)
    m, v, average = (numpy.zeros_like(w) for _ in range(3))
    for t, gradient in enumerate(gradients, 1):
        moves = [not lazy or w.ndim < 2 or bool(row.any()) for row in gradient]
        g = gradient.astype(float)
        g += l2 * w * numpy.reshape(moves, (-1,) + (1,) * (w.ndim - 1))
        if clip:
            g *= min(1.0, clip / numpy.sqrt((g**2).sum()))
        for at in numpy.ndindex(w.shape):
            if moves[at[0]]:
                m[at] = b1 * m[at] + (1 - b1) * g[at]
                v[at] = b2 * v[at] + (1 - b2) * g[at] ** 2
                ahead = (b1 * m[at] + (1 - b1) * g[at]) / (1 - b1**t)
                w[at] -= rate * ahead / ((v[at] ** 0.5 + eps) / (1 - b2**t) ** 0.5)
                w[at] -= rate * decay * w[at]
        kept = min(0.9999, (1 + t) / (10 + t))
        average = kept * average + (1 - kept) * w
    return w, average


def random(*shape: int, seed: int = 0) -> Array:
    return numpy.random.default_rng(seed).normal(size=shape).astype("float32")


def sparse(steps: int, rows: int, width: int) -> list[Array]:
    """Gradients of a table, most of whose rows are zero; the last row's always are."""
    numbers = numpy.random.default_rng(1)
    gradients = [random(rows, width, seed=k) for k in range(steps)]
    for gradient in gradients:
        gradient[numbers.random(rows) < 0.7] = 0
        gradient[-1] = 0
    return gradients


def run(optimizer: Optimizer, weights: Array, gradients: list[Array]) -> Array:
    updated = weights.copy()
    for gradient in gradients:
        optimizer(KEY, updated, gradient.copy())
    return updated


def test_two_steps_by_hand() -> None:
    """Gradients of 1 and of -1, learn_rate 0.1, beta1 0.9, beta2 0.98.

    t = 1: m = 0.1, v = 0.02, rate = 0.1 sqrt(0.02) / 0.1, so the step is the rate times
    (0.9 * 0.1 + 0.1) / sqrt(0.02) = 0.19, whatever the gradient's size.
    t = 2: m = 0.19, v = 0.0396, rate = 0.1 sqrt(0.0396) / 0.19: the step is
    0.1 (0.9 * 0.19 + 0.1) / 0.19 = 0.142632.
    """
    optimizer = Nadam(0.1, **PAPER, **PLAIN)
    weights = numpy.zeros(2, "float32")
    optimizer(KEY, weights, numpy.array([1, -1], "float32"))
    numpy.testing.assert_allclose(weights, [-0.19, 0.19], rtol=1e-5)
    optimizer(KEY, weights, numpy.array([1, -1], "float32"))
    numpy.testing.assert_allclose(weights, [-0.332632, 0.332632], rtol=1e-5)


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("shape", [(7,), (1, 3), (5, 4), (4, 2, 3)])
def test_equations(shape: tuple[int, ...], lazy: bool) -> None:
    gradients = [random(*shape, seed=k) for k in range(1, 7)]
    optimizer = Nadam(0.01, lazy=lazy, **PAPER, **PLAIN)
    wanted, _ = expected(random(*shape), gradients, rate=0.01, b2=0.98, eps=1e-12)
    numpy.testing.assert_allclose(run(optimizer, random(*shape), gradients), wanted, atol=1e-6)


def test_pytorch() -> None:
    """Without a schedule of beta1, Dozat's form differs by a factor of beta1's correction.

    Gradients are given, not computed from the weights, so that both have the same moments; from
    update 200 on the factor is 1 to nine digits.
    """
    gradients = [random(3, 4, seed=k).astype(float) for k in range(250)]
    weights = numpy.zeros((3, 4))
    optimizer = Nadam(0.01, **PAPER, **PLAIN)
    theirs, m, v = torch.zeros(3, 3, 4, dtype=torch.float64)
    product, steps = torch.ones(1), torch.zeros(1)
    for step, gradient in enumerate(gradients):
        if step == 200:
            theirs.copy_(torch.from_numpy(weights))
        # the class torch.optim.NAdam imports a compiler for seconds
        nadam(
            [theirs],
            [torch.from_numpy(gradient.copy())],
            [m],
            [v],
            [product],
            [steps],
            beta1=0.9,
            beta2=0.98,
            lr=0.01,
            weight_decay=0.0,
            momentum_decay=1e6,
            eps=1e-12,
        )
        optimizer(KEY, weights, gradient)
    numpy.testing.assert_allclose(weights, theirs.numpy(), rtol=1e-8)


@pytest.mark.parametrize("lazy", [False, True])
def test_a_table_of_many_blocks(lazy: bool) -> None:
    """Rows are updated in parts; the numbers know nothing of it."""
    table = random(3000, 32)
    gradients = [random(3000, 32, seed=k) for k in (1, 2)]
    for gradient in gradients:
        gradient[::3] = 0
    some = numpy.r_[0:2, 1023:1026, 2998:3000]
    optimizer = Nadam(grad_clip=0.0, lazy=lazy)
    wanted, average = expected(table[some], [g[some] for g in gradients], lazy=lazy)
    numpy.testing.assert_allclose(run(optimizer, table, gradients)[some], wanted, atol=1e-6)
    numpy.testing.assert_allclose(optimizer.averages[KEY][some], average, atol=1e-6)


@pytest.mark.parametrize("averages", [False, True])
def test_lazy_is_dense_when_every_row_has_a_gradient(averages: bool) -> None:
    gradients = [random(6, 4, seed=k) for k in range(1, 5)]
    lazy, dense = (Nadam(use_averages=averages, lazy=lazy) for lazy in (True, False))
    assert (run(lazy, random(6, 4), gradients) == run(dense, random(6, 4), gradients)).all()
    assert not averages or (lazy.averages[KEY] == dense.averages[KEY]).all()


@pytest.mark.parametrize(
    "settings", [{}, {"L2": 0.1}, {"L2": 0.1, "L2_is_weight_decay": False}, {"grad_clip": 0.5}]
)
def test_lazy_rows_stay(settings: dict[str, Any]) -> None:
    optimizer = Nadam(0.1, **{"grad_clip": 0.0, "lazy": True, **settings})
    table = random(8, 3)
    state = [table, numpy.zeros_like(table), numpy.zeros_like(table)]
    for gradient in sparse(6, 8, 3):
        before, moves = [a.copy() for a in state], gradient.any(1)
        optimizer(KEY, table, gradient)
        state[1:] = optimizer.mom1[KEY], optimizer.mom2[KEY]
        for old, new in zip(before, state, strict=True):
            assert (old[~moves] == new[~moves]).all()
            assert (old[moves] != new[moves]).all()
    assert (table[-1] == random(8, 3)[-1]).all()


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(
    ("settings", "equations"),
    [
        ({}, {}),
        ({"L2": 0.3}, {"decay": 0.3}),
        ({"L2": 0.3, "L2_is_weight_decay": False}, {"l2": 0.3}),
        ({"grad_clip": 0.5}, {"clip": 0.5}),
        ({"L2": 0.3, "L2_is_weight_decay": False, "grad_clip": 0.5}, {"l2": 0.3, "clip": 0.5}),
    ],
)
def test_a_sparse_table_and_its_average(
    settings: dict[str, Any], equations: dict[str, Any], lazy: bool
) -> None:
    gradients = sparse(8, 9, 3)
    optimizer = Nadam(0.1, **{"grad_clip": 0.0, **PAPER, "lazy": lazy, **settings})
    got = run(optimizer, random(9, 3), gradients)
    wanted, average = expected(
        random(9, 3), gradients, rate=0.1, b2=0.98, eps=1e-12, lazy=lazy, **equations
    )
    numpy.testing.assert_allclose(got, wanted, atol=2e-5)
    numpy.testing.assert_allclose(optimizer.averages[KEY], average, atol=2e-5)


def test_a_row_without_gradient_coasts_unless_lazy() -> None:
    first, second = numpy.ones((2, 2), "float32"), numpy.array([[1, 1], [0, 0]], "float32")
    dense, lazy = (
        run(Nadam(0.1, lazy=lazy, **PLAIN), numpy.zeros((2, 2), "float32"), [first, second])
        for lazy in (False, True)
    )
    assert (dense[0] == lazy[0]).all()
    assert (dense[1] < lazy[1]).all()
    numpy.testing.assert_allclose(lazy[1], -0.19, rtol=1e-4)


def test_vectors_are_never_lazy() -> None:
    gradients = [numpy.array(g, "float32") for g in ([1, 1], [0, 1])]
    dense, lazy = (run(Nadam(lazy=lazy), random(2), gradients) for lazy in (False, True))
    assert (dense == lazy).all()


@pytest.mark.parametrize("lr_scale", [0.5, 2.0])
def test_scale_of_the_learning_rate(lr_scale: float) -> None:
    weights = numpy.zeros(3, "float32")
    Nadam(0.1, eps=1e-12)(KEY, weights, numpy.ones(3, "float32"), lr_scale=lr_scale)
    numpy.testing.assert_allclose(weights, -0.19 * lr_scale, rtol=1e-5)


@pytest.mark.parametrize("lazy", [False, True])
def test_in_place(lazy: bool) -> None:
    """Whatever the strides: a transposed weight of torch is updated where it is."""
    weights = random(4, 6).T
    gradient = numpy.asfortranarray(random(6, 4, seed=1))
    gradient[2] = 0
    wanted, _ = expected(weights, [gradient], lazy=lazy)
    updated, zeroed = Nadam(lazy=lazy, grad_clip=0.0)(KEY, weights, gradient)
    assert updated is weights
    assert zeroed is gradient
    assert not gradient.any()
    numpy.testing.assert_allclose(weights, wanted, atol=1e-6)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
def test_nothing_to_update(shape: tuple[int, ...]) -> None:
    updated, _ = Nadam(lazy=True)(KEY, random(*shape), random(*shape))
    assert updated.shape == shape


def test_schedule_of_the_learning_rate() -> None:
    """Two updates before the schedule moves, as with two parameters, take the same rate."""
    optimizer = Nadam((0.1 * k for k in count(1)), eps=1e-12)
    steps = {}
    for step, name in itertools.product(range(2), "ab"):
        steps[step, name] = numpy.zeros(2, "float32")
        optimizer((step, name), steps[step, name], numpy.ones(2, "float32"))
        if name == "b":
            optimizer.step_schedules()
    for (step, _), weights in steps.items():
        numpy.testing.assert_allclose(weights, -0.19 * (step + 1), rtol=1e-5)


CONFIG = """
[optimizer]
@optimizers = "spacy-lal.Nadam.v1"
beta2 = 0.98
eps = 1e-12
use_averages = false
lazy = true

[optimizer.learn_rate]
@schedules = "spacy-lal.inverse_sqrt.v1"
factor = 0.04
warmup_steps = 8000
"""


def test_from_a_config() -> None:
    optimizer = registry.resolve(Config().from_str(CONFIG))["optimizer"]
    assert isinstance(optimizer, Optimizer)
    assert (optimizer.b1, optimizer.b2, optimizer.eps) == (0.9, 0.98, 1e-12)
    assert optimizer.averages is None
    rate = 0.04 * 8000**-1.5
    assert optimizer.learn_rate == pytest.approx(rate)
    optimizer.step_schedules()
    assert optimizer.learn_rate == pytest.approx(2 * rate)
    numpy.testing.assert_allclose(
        run(optimizer, numpy.zeros(2, "float32"), [numpy.ones(2, "float32")]),
        -1.9 * 2 * rate,
        rtol=1e-5,
    )


class Bag(nn.Module):
    """Scores of words, summed."""

    def __init__(self, words: int) -> None:
        super().__init__()
        self.vectors = nn.Embedding(words, 4)
        self.out = nn.Linear(4, 1)
        nn.init.normal_(self.vectors.weight, generator=torch.Generator().manual_seed(0))
        nn.init.constant_(self.out.weight, 0.5)

    def forward(self, ids: Tensor) -> Tensor:
        return self.out(self.vectors(ids)).sum(-2).squeeze(-1)


def bag() -> TorchShim:
    shim = TorchShim(lambda header: Bag(header["words"]))
    shim.initialize({"words": 6})
    return shim


@pytest.mark.parametrize("words", list(itertools.permutations([0, 1, 2])))
def test_the_order_of_words_does_not_matter(words: tuple[int, ...]) -> None:
    shim = bag()
    before = shim.module.vectors.weight.detach().clone()
    shim.run(torch.tensor(words), is_train=True).backward()
    shim.finish_update(Nadam(0.1, lazy=True, **PAPER, **PLAIN))
    moved = (shim.module.vectors.weight.detach() - before).numpy()
    numpy.testing.assert_allclose(moved[:3], -0.19, rtol=1e-4)
    assert not moved[3:].any()


@pytest.mark.parametrize("lazy", [False, True])
def test_training_a_torch_module(lazy: bool) -> None:
    shim = bag()
    unseen = shim.module.vectors.weight[5].detach().clone()
    ids = torch.tensor(list(itertools.combinations(range(5), 2)))
    gold = torch.tensor([-2.0, 0.5, 1.0, 3.0, -1.0])[ids].sum(-1)
    optimizer = Nadam(0.02, lazy=lazy)
    for step in range(300):
        chosen = [step % len(ids), (3 * step + 1) % len(ids)]
        (shim.run(ids[chosen], is_train=True) - gold[chosen]).square().sum().backward()
        shim.finish_update(optimizer)
        optimizer.step_schedules()
    assert (shim.run(ids, is_train=False) - gold).abs().max() < 0.1
    with shim.use_params(optimizer.averages):
        assert (shim.run(ids, is_train=False) - gold).abs().max() < 0.5
        assert torch.allclose(shim.module.vectors.weight[5], unseen, rtol=1e-3)
    assert torch.equal(shim.module.vectors.weight[5], unseen)


def test_training_a_thinc_layer() -> None:
    numpy.random.seed(0)  # of the layer's weights
    inputs, truth = random(40, 3), numpy.array([[1.0, -2.0, 0.5]], "float32")
    model = Linear(1, 3).initialize()
    optimizer = Nadam(0.05)
    for _ in range(200):
        scores, backprop = model.begin_update(inputs)
        backprop(scores - inputs @ truth.T - 1)
        model.finish_update(optimizer)
        optimizer.step_schedules()
    numpy.testing.assert_allclose(model.get_param("W"), truth, atol=1e-2)
    numpy.testing.assert_allclose(model.get_param("b"), 1, atol=1e-2)
    assert not model.get_grad("W").any()
