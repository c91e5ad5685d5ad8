"""Checkpoints of training: one file of tensors, with everything else as JSON."""

from __future__ import annotations

import json
import random
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import safetensors.torch
import torch
from safetensors import safe_open
from spacy.language import Language
from spacy.training import Example
from thinc.api import Optimizer
from torch import Tensor

from ..formats.whole_files import whole_file
from .parameters import (
    CheckpointError,
    read_optimizer,
    read_weights,
    run_schedules,
    set_optimizer,
    set_weights,
)

T = TypeVar("T")
Batches = Iterator[tuple[int, list[Example]]]
"""Batches with their epoch numbers."""
RandomState = dict[str, Any]
"""States of the random generators of Python, NumPy (global) and PyTorch by name; "cuda": PyTorch's
of every GPU in use. CuPy doesn't expose its generator's state."""

CHECKPOINT = "checkpoint.safetensors"
"""The file's name in the output folder of training."""


def write_checkpoint(folder: Path, tensors: dict[str, Tensor], state: dict[str, Any]) -> None:
    """Write tensors and state to `folder`, atomically replacing the earlier checkpoint."""
    with whole_file(folder / CHECKPOINT) as path:
        text = json.dumps(state, default=lambda value: value.tolist())
        safetensors.torch.save_file(_apart(tensors), path, {"state": text})


def read_state(folder: Path) -> dict[str, Any] | None:
    """Return the state, None without a checkpoint. Raises CheckpointError for a malformed file."""
    path = folder / CHECKPOINT
    if not path.exists():
        return None
    try:
        with safe_open(path, "pt") as file:
            return json.loads(file.metadata()["state"])
    except Exception as error:
        raise CheckpointError(f"{path} is no checkpoint: {error}") from error


def read_tensors(folder: Path) -> dict[str, Tensor]:
    """Return the `tensors` of `write_checkpoint`."""
    return safetensors.torch.load_file(folder / CHECKPOINT)


def _apart(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Copy tensors that share memory, which safetensors can't store."""
    seen: set[int] = set()
    apart = {}
    for name, tensor in tensors.items():
        tensor = tensor.detach().contiguous()
        place = tensor.untyped_storage().data_ptr()
        apart[name] = tensor.clone() if tensor.numel() and place in seen else tensor
        seen.add(place)
    return apart


@dataclass
class Progress:
    """Progress of a training.

    steps: updates made. words: words in the batches of these updates. seconds: duration of updates.
    losses: by component, since the last evaluation. results: score and step, from 0, of each
        evaluation.
    performance: goes to meta.json. exhausted: all epochs were read. finished: training is over and
        its results are written.
    """

    steps: int = 0
    words: int = 0
    seconds: float = 0.0
    losses: dict[str, Any] = field(default_factory=dict)
    results: list[tuple[float, int]] = field(default_factory=list)
    performance: dict[str, Any] = field(default_factory=dict)
    exhausted: bool = False
    finished: bool = False

    def to_json(self) -> dict[str, Any]:
        # a 32-bit sum stays one
        kinds = {name: getattr(loss, "dtype", None) for name, loss in self.losses.items()}
        losses = {
            name: [float(loss), kinds[name] and str(kinds[name])]
            for name, loss in self.losses.items()
        }
        return asdict(self) | {"losses": losses}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Progress:
        """Undo `to_json`."""
        results = [(score, step) for score, step in values["results"]]
        losses = {
            name: np.dtype(kind).type(loss) if kind else loss
            for name, (loss, kind) in values["losses"].items()
        }
        return cls(**values | {"results": results, "losses": losses})

    def over(self, max_steps: int, patience: int) -> bool:
        """Return whether training stops; as in spaCy, after max_steps + 1 updates."""
        if self.exhausted or not self.results:
            return self.exhausted
        last = self.steps - 1
        best = -max((score, -step) for score, step in self.results)[1]
        return bool(patience and last - best >= patience) or bool(max_steps and last >= max_steps)


@dataclass
class Saved:
    """Everything that a checkpoint keeps.
    frozen: components that don't change. run: description of the training. begins: digests of the
        components before the first update. data_random: the data's initial random state."""

    nlp: Language
    optimizer: Optimizer
    frozen: Collection[str]
    run: dict[str, Any]
    begins: dict[str, str]
    data_random: RandomState
    progress: Progress = field(default_factory=Progress)

    def write(self, output: Path) -> None:
        """Write the checkpoint to a folder."""
        weights, graded = read_weights(self.nlp, self.frozen)
        moments, numbers = read_optimizer(self.nlp, self.optimizer)
        self.progress.performance = self.nlp.meta.get("performance", {})
        state = {
            "run": self.run,
            "begins": self.begins,
            "progress": self.progress.to_json(),
            "data_random": self.data_random,
            "random": random_state(),
            "optimizer": numbers,
            "graded": graded,
        }
        named = {"weights": weights, "optimizer": moments}
        tensors = {f"{kind}/{name}": t for kind, of in named.items() for name, t in of.items()}
        write_checkpoint(output, tensors, state)

    def read(
        self,
        output: Path,
        state: dict[str, Any],
        batches: Batches,
        dev: Callable[[], Iterable[Example]],
    ) -> None:
        """Undo `write`. Raises CheckpointError if the state doesn't fit the pipeline or the data.
        state: the state of the checkpoint. batches: from the first on; batches already trained on
            are skipped. dev: examples of an evaluation, read as often as there were evaluations."""
        for name, digest in self.begins.items():
            if state["begins"].get(name) != digest:
                raise CheckpointError(
                    f"{name} begins with other labels, vocabularies or shapes than the component "
                    "that the checkpoint is of"
                )
        self.progress = progress = Progress.from_json(state["progress"])
        _skip(batches, progress)
        for _ in progress.results:
            deque(dev(), maxlen=0)  # it may change with every reading
        run_schedules(self.optimizer, progress.steps, progress.results)
        tensors: dict[str, dict[str, Tensor]] = {"weights": {}, "optimizer": {}}
        for place, tensor in read_tensors(output).items():
            kind, _, name = place.partition("/")
            tensors[kind][name] = tensor
        set_weights(self.nlp, self.frozen, tensors["weights"], set(state["graded"]))
        set_optimizer(self.nlp, self.optimizer, tensors["optimizer"], state["optimizer"])
        self.nlp.meta["performance"] = progress.performance
        progress.finished = False
        # last, since the code above may draw
        set_random_state(state["random"])


def _skip(batches: Batches, progress: Progress) -> None:
    """Read batches that were trained on. Raises CheckpointError if they changed."""
    words = 0
    for _ in range(progress.steps):
        _, batch = next(batches, (0, []))
        words += sum(len(example) for example in batch)
    if words != progress.words:
        raise CheckpointError(
            f"the training data have changed: the first {progress.steps} batches have {words} "
            f"words, and had {progress.words}"
        )


def random_state(gpus: bool = True) -> RandomState:
    """Return the state of all generators of training; gpus: also GPUs' states, which is slow."""
    # a query to an unused GPU would take some of its memory
    cuda = torch.cuda.get_rng_state_all() if gpus and torch.cuda.is_initialized() else []
    return {
        "python": random.getstate(),
        "numpy": np.random.get_state(),
        "torch": torch.get_rng_state(),
        "cuda": cuda,
    }


def set_random_state(state: RandomState) -> None:
    """Undo `random_state`, also after a round trip through JSON."""
    version, numbers, gauss = state["python"]
    random.setstate((version, tuple(numbers), gauss))
    np.random.set_state(tuple(state["numpy"]))
    torch.set_rng_state(torch.as_tensor(state["torch"], dtype=torch.uint8))
    cuda = [torch.as_tensor(one, dtype=torch.uint8) for one in state["cuda"]]
    if cuda and len(cuda) == torch.cuda.device_count():
        torch.cuda.set_rng_state_all(cuda)


def with_own_random(items: Iterable[T], state: RandomState) -> Iterator[T]:
    """Yield items that draw random numbers from `state`, whatever is drawn between them."""
    iterator = iter(items)
    while True:
        outside = random_state(gpus=False)
        set_random_state(state)
        try:
            item = next(iterator)
        except StopIteration:
            return
        finally:
            state = random_state(gpus=False)
            set_random_state(outside)
        yield item
