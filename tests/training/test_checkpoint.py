"""What a checkpoint keeps, piece by piece."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from thinc.api import Adam
from torch import nn

from spacy_lal.training.checkpoint import (
    CheckpointError,
    read_state,
    read_tensors,
    write_checkpoint,
)
from spacy_lal.training.loop import Progress
from spacy_lal.training.parameters import run_schedules, tell_schedules
from spacy_lal.training.randomness import RandomState, with_own_random


def draw() -> tuple[float, ...]:
    """From every generator; gauss keeps a number for the next call."""
    return (random.random(), random.gauss(0, 1), *np.random.randn(3), float(torch.rand(())))


def test_random_numbers_go_on() -> None:
    random.gauss(0, 1)
    np.random.randn()
    state = json.loads(json.dumps(RandomState.now().to_json()))
    expected = draw(), draw()
    RandomState.from_json(state).restore()
    assert (draw(), draw()) == expected


def test_items_draw_from_their_own() -> None:
    """As in a process in which nobody else draws; and nobody else notices them."""

    def items() -> Iterator[tuple[float, ...]]:
        for _ in range(3):
            yield draw()

    start = RandomState.now()
    alone = [draw() for _ in range(3)]
    middle = RandomState.now()
    others = [draw() for _ in range(3)]
    middle.restore()
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


class Plateau:
    """Halves what it yields after an evaluation that is not the best so far."""

    def __init__(self) -> None:
        self.rate, self.best = 1.0, 0.0

    def __next__(self) -> float:
        return self.rate

    def evaluated(self, score: float) -> None:
        if score <= self.best:
            self.rate /= 2
        self.best = max(self.best, score)


def test_schedules_that_depend_on_scores_go_on() -> None:
    scores = {0: 0.5, 2: 0.4, 4: 0.6, 6: 0.6}
    optimizer = Adam(Plateau())  # type: ignore[arg-type]
    rates = []
    for step in range(8):
        optimizer.step_schedules()
        if step in scores:
            tell_schedules(optimizer, scores[step])
        rates.append(optimizer.learn_rate)
    assert rates == [1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.25]
    for steps in range(1, 9):
        resumed = Adam(Plateau())  # type: ignore[arg-type]
        run_schedules(resumed, steps, [(s, k) for k, s in scores.items() if k < steps])
        assert resumed.learn_rate == rates[steps - 1]


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
    found = read_tensors(tmp_path)
    assert found.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert found[name].dtype == tensor.dtype
        assert torch.equal(found[name], tensor), name


def test_a_folder_without_a_checkpoint_has_none(tmp_path: Path) -> None:
    assert read_state(tmp_path) is None
    (tmp_path / "checkpoint.safetensors").write_bytes(b"{}")
    with pytest.raises(CheckpointError, match=r"checkpoint\.safetensors is no checkpoint"):
        read_state(tmp_path)
