"""What a checkpoint keeps, piece by piece."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import SGD, Adam, Linear, Optimizer, PyTorchWrapper, RAdam, chain
from torch import nn

from spacy_lal.training.checkpoint import (
    CHECKPOINT,
    CheckpointError,
    Progress,
    random_state,
    read_optimizer,
    read_state,
    read_weights,
    run_schedules,
    set_optimizer,
    set_random_state,
    set_weights,
    with_own_random,
    write_checkpoint,
)
from spacy_lal.training.optimizers import Nadam


def draw() -> tuple[float, ...]:
    """From every generator; gauss keeps a number for the next call."""
    return (random.random(), random.gauss(0, 1), *np.random.randn(3), float(torch.rand(())))


def test_random_numbers_go_on() -> None:
    random.gauss(0, 1)
    np.random.randn()
    state = json.loads(json.dumps(random_state(), default=lambda value: value.tolist()))
    expected = draw(), draw()
    set_random_state(state)
    assert (draw(), draw()) == expected


def test_items_draw_from_their_own() -> None:
    """As in a process in which nobody else draws; and nobody else notices them."""

    def items() -> Iterator[tuple[float, ...]]:
        for _ in range(3):
            yield draw()

    start = random_state()
    alone = [draw() for _ in range(3)]
    middle = random_state()
    others = [draw() for _ in range(3)]
    set_random_state(middle)
    mixed = [(item, draw()) for item in with_own_random(items(), start)]
    assert mixed == list(zip(alone, others, strict=True))


def test_stops_where_spacy_stops() -> None:
    """At step max_steps, counted from 0; patience steps after the first best evaluation."""
    results = [(0.1, 0), (0.3, 10), (0.2, 20), (0.3, 30)]
    last_steps = {
        (max_steps, patience): next(
            step for step in range(99) if Progress(step + 1, results=results).over(*limits)
        )
        for limits in ((25, 0), (40, 15), (26, 40))
        for max_steps, patience in [limits]
    }
    assert last_steps == {(25, 0): 25, (40, 15): 25, (26, 40): 26}
    assert not Progress().over(1, 1)
    assert Progress(exhausted=True).over(0, 0)


class Halving:
    """A rate that is halved by every evaluation that is not the best so far."""

    def __init__(self) -> None:
        self.rate = 1.0

    def __next__(self) -> float:
        return self.rate

    def set_scores(self, results: list[tuple[float, int]]) -> None:
        scores = [score for score, _ in results]
        worse = sum(score < max(scores[: k + 1]) for k, score in enumerate(scores))
        self.rate = 0.5**worse


def test_schedules_that_depend_on_scores_go_on() -> None:
    results = [(0.5, 0), (0.4, 2), (0.6, 4), (0.3, 6)]

    def rates(optimizer: Optimizer, first: int) -> list[float]:
        """At each update; spaCy tells its logger the scores after the schedules' steps."""
        found = []
        for step in range(first, 10):
            optimizer.step_schedules()
            if step in {k for _, k in results}:
                optimizer.schedules["learn_rate"].set_scores([r for r in results if r[1] <= step])
            found.append(optimizer.learn_rate)
        return found

    expected = rates(Adam(Halving()), 0)  # type: ignore[arg-type]
    assert expected == [1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25]
    for steps in range(1, 10):
        resumed = Adam(Halving())  # type: ignore[arg-type]
        run_schedules(resumed, steps, [(score, k) for score, k in results if k < steps])
        assert rates(resumed, steps) == expected[steps:]


class Pipe:
    """Two parameters of Thinc's and two of torch's."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.model = chain(Linear(2, 2), PyTorchWrapper(nn.Linear(2, 2))).initialize()

    def __call__(self, doc: Doc) -> Doc:
        return doc

    def learn(self, optimizer: Optimizer, rows: list[list[float]]) -> None:
        y, backprop = self.model.begin_update(np.array(rows, dtype="float32"))
        backprop(y)
        self.model.finish_update(optimizer)


def pipeline() -> tuple[Language, Pipe]:
    nlp = Language()
    pipe = Pipe()
    nlp._components.append(("pipe", pipe))
    return nlp, pipe


@pytest.mark.parametrize("make", [Adam, Nadam, RAdam, SGD])
def test_weights_and_optimizer_go_on_under_other_numbers(make: Callable[..., Optimizer]) -> None:
    """Also where the next update has no gradient, but for that of before, which is zero by now."""
    (nlp, pipe), optimizer = pipeline(), make(0.1)
    pipe.learn(optimizer, [[1, 2], [3, 4]])
    pipe.learn(optimizer, [[1, -2]])
    weights, graded = read_weights(nlp, ())
    moments = read_optimizer(nlp, optimizer)
    tensors = {name: tensor.clone() for name, tensor in (weights | moments).items()}

    (other, resumed), its_optimizer = pipeline(), make(0.1)
    assert resumed.model.id != pipe.model.id
    set_weights(other, (), {name: tensors[name] for name in weights}, graded)
    set_optimizer(other, its_optimizer, {name: tensors[name] for name in moments})
    for trained, its in ((pipe, optimizer), (resumed, its_optimizer)):
        trained.model.finish_update(its)
        trained.learn(its, [[2, 1]])
    expected, found = (read_weights(which, ())[0] for which in (nlp, other))
    assert expected.keys() == found.keys()
    assert len(expected) == 4
    for name, value in expected.items():
        assert torch.equal(found[name], value), name


def test_tensors_come_back(tmp_path: Path) -> None:
    """Those that share memory, that are not contiguous, of other types, and empty ones."""
    table = nn.Embedding(3, 2).weight
    tensors = {
        "tied": table,
        "same": table,
        "rows": table[1:],
        "turned": table.T,
        "none": torch.zeros(0, 4),
        "single": torch.tensor(3),
        "half": torch.tensor([1.5], dtype=torch.bfloat16),
    }
    write_checkpoint(tmp_path, tensors, {"a": [1.1, None, float("-inf")]})
    assert read_state(tmp_path) == {"a": [1.1, None, float("-inf")]}
    found = load_file(tmp_path / CHECKPOINT)
    assert found.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert found[name].dtype == tensor.dtype
        assert torch.equal(found[name], tensor), name


def test_a_folder_without_a_checkpoint_has_none(tmp_path: Path) -> None:
    assert read_state(tmp_path) is None
    (tmp_path / "checkpoint.safetensors").write_bytes(b"{}")
    with pytest.raises(CheckpointError, match=r"checkpoint\.safetensors is no checkpoint"):
        read_state(tmp_path)
