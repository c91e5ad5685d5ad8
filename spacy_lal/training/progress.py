"""How far training is, in a checkpoint and back."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.training import Example
from thinc.api import Optimizer
from torch import Tensor

from .checkpoint import CheckpointError, read_tensors, write_checkpoint
from .parameters import read_optimizer, read_weights, run_schedules, set_optimizer, set_weights
from .randomness import RandomState

Batches = Iterator[tuple[int, list[Example]]]
"""Each with the number of its epoch."""


@dataclass
class Progress:
    """How far training is.

    steps: updates made. words: in their batches. seconds: that they took. losses: since the last
    evaluation, by component, each with NumPy's name of its type if it has one. results: score and
    number of the step, from 0, of each evaluation. performance: what goes to meta.json.
    exhausted: all epochs were read. finished: training is over, and its results are written.
    """

    steps: int = 0
    words: int = 0
    seconds: float = 0.0
    losses: dict[str, Any] = field(default_factory=dict)
    results: list[tuple[float, int]] = field(default_factory=list)
    performance: dict[str, Any] = field(default_factory=dict)
    exhausted: bool = False
    finished: bool = False

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Progress:
        """As `Saved.write` has it."""
        results = [(score, step) for score, step in values["results"]]
        losses = _losses_from_json(values["losses"])
        return cls(**values | {"results": results, "losses": losses})

    def over(self, max_steps: int, patience: int) -> bool:
        """Whether training stops here; in spaCy's counting, which has max_steps + 1 updates."""
        if self.exhausted:
            return True
        if not self.results:
            return False
        last = self.steps - 1
        best = -max((score, -step) for score, step in self.results)[1]
        return bool(patience and last - best >= patience) or bool(max_steps and last >= max_steps)


@dataclass
class Saved:
    """All that a checkpoint keeps.

    frozen: components that don't change. run: what this is a training of. begins: digests of the
    components before the first update. data_random: the random numbers that the data began with.
    """

    nlp: Language
    optimizer: Optimizer
    frozen: Collection[str]
    run: dict[str, Any]
    begins: dict[str, str]
    data_random: RandomState
    progress: Progress = field(default_factory=Progress)

    def write(self, output: Path) -> None:
        """Write the checkpoint of a folder."""
        weights, graded = read_weights(self.nlp, self.frozen)
        moments, numbers = read_optimizer(self.nlp, self.optimizer)
        self.progress.performance = self.nlp.meta.get("performance", {})
        losses = _losses_to_json(self.progress.losses)
        state = {
            "run": self.run,
            "begins": self.begins,
            "progress": asdict(self.progress) | {"losses": losses},
            "data_random": self.data_random.to_json(),
            "random": RandomState.now().to_json(),
            "optimizer": numbers,
            "graded": graded,
        }
        tensors = _named("weights", weights) | _named("optimizer", moments)
        write_checkpoint(output, tensors, state)

    def read(
        self,
        output: Path,
        state: dict[str, Any],
        batches: Batches,
        dev: Callable[[], Iterable[Example]],
    ) -> None:
        """Undo `write`. state: of the checkpoint. batches: from the first, which are skipped. dev:
        the examples of an evaluation, read as often as there were evaluations.

        Raises CheckpointError if it doesn't fit the pipeline or the data.
        """
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
        tensors = read_tensors(output)
        set_weights(self.nlp, self.frozen, _of("weights", tensors), set(state["graded"]))
        set_optimizer(self.nlp, self.optimizer, _of("optimizer", tensors), state["optimizer"])
        self.nlp.meta["performance"] = progress.performance
        progress.finished = False
        # the last, for what is above may draw
        RandomState.from_json(state["random"]).restore()


def _skip(batches: Batches, progress: Progress) -> None:
    """Read what was trained on. Raises CheckpointError if it isn't what it was."""
    words = 0
    for _ in range(progress.steps):
        _, batch = next(batches, (0, []))
        words += sum(len(example) for example in batch)
    if words != progress.words:
        raise CheckpointError(
            f"the training data have changed: the first {progress.steps} batches have {words} "
            f"words, and had {progress.words}"
        )


def _losses_to_json(losses: dict[str, Any]) -> dict[str, Any]:
    # a sum in 32 bits goes on in 32 bits
    return {name: [float(loss), _type(loss)] for name, loss in losses.items()}


def _losses_from_json(losses: dict[str, Any]) -> dict[str, Any]:
    return {
        name: np.dtype(kind).type(loss) if kind else loss for name, (loss, kind) in losses.items()
    }


def _type(value: Any) -> str | None:
    return str(value.dtype) if isinstance(value, np.generic | np.ndarray) else None


def _named(kind: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {f"{kind}/{name}": tensor for name, tensor in tensors.items()}


def _of(kind: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    start = f"{kind}/"
    return {
        name.removeprefix(start): tensor
        for name, tensor in tensors.items()
        if name.startswith(start)
    }
