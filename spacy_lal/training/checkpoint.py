"""Checkpoints of training: one file of tensors, with everything else as JSON.

Thinc's optimizer keeps state under (layer id, parameter name), and ids depend on the process. Here
a parameter's name is `<component>/<number of the layer in model.walk()>/<name>`, in a torch module
`<component>/<number of the layer>.<number of its shim>/<name>`.
"""

import json
import random
import warnings
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import safetensors.torch
import torch
from safetensors import safe_open
from spacy.language import Language
from spacy.training import Example
from thinc.api import Model, Optimizer, get_current_ops
from thinc.util import to_numpy
from torch import Tensor, nn

from ..formats.files import whole_file
from ..layers.prepared import awake

T = TypeVar("T")
RandomState = dict[str, Any]
"""States of the random generators of Python, NumPy (global) and PyTorch by name; "cuda": PyTorch's
of every GPU in use. CuPy doesn't expose its generator's state."""

CHECKPOINT = "checkpoint.safetensors"
"""The file's name in the output folder of training."""
OPTIMIZER_STATE = ("mom1", "mom2", "averages", "nr_update")
"""Attributes of Thinc's optimizers with a value for each parameter."""


class CheckpointError(ValueError):
    """Checkpoint from which training can't resume."""


def write_checkpoint(folder: Path, tensors: dict[str, Tensor], state: dict[str, Any]) -> None:
    """Write tensors and state to `folder`, atomically replacing the earlier checkpoint."""
    # safetensors can't store tensors that share memory
    apart = {
        name: tensor.detach().clone(memory_format=torch.contiguous_format)
        for name, tensor in tensors.items()
    }
    text = json.dumps(state, default=lambda value: value.tolist())
    with whole_file(folder / CHECKPOINT) as path:
        safetensors.torch.save_file(apart, path, {"state": text})


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

    def share(self, max_steps: int, limit: float) -> float:
        """Return the share of the training that is over. limit: seconds; 0 for none."""
        by_steps = self.steps / max_steps if max_steps else 0.0
        return max(by_steps, self.seconds / limit if limit else 0.0)

    def over(self, max_steps: int, patience: int, limit: float = 0.0) -> bool:
        """Return whether training stops; as in spaCy, after max_steps + 1 updates. limit: seconds;
        0 for none."""
        if self.exhausted or not self.results:
            return self.exhausted
        last = self.steps - 1
        best = -max((score, -step) for score, step in self.results)[1]
        too_long = bool(max_steps and last >= max_steps) or bool(limit and self.seconds >= limit)
        return too_long or bool(patience and last - best >= patience)


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
        self.progress.performance = self.nlp.meta.get("performance", {})
        state = {
            "run": self.run,
            "begins": self.begins,
            "progress": vars(self.progress),
            "data_random": self.data_random,
            "random": random_state(),
            "graded": graded,
        }
        named = {"weights": weights, "optimizer": read_optimizer(self.nlp, self.optimizer)}
        tensors = {f"{kind}/{name}": t for kind, of in named.items() for name, t in of.items()}
        write_checkpoint(output, tensors, state)

    def read(
        self,
        output: Path,
        state: dict[str, Any],
        batches: Iterator[tuple[int, list[Example]]],
        dev: Callable[[], Iterable[Example]],
    ) -> None:
        """Undo `write`. Raises CheckpointError if the state doesn't fit the pipeline or the data.
        state: the checkpoint's. batches: with epoch numbers, from the first; those trained on are
            skipped. dev: examples of an evaluation, read as often as there were evaluations."""
        for name, digest in self.begins.items():
            if state["begins"].get(name) != digest:
                raise CheckpointError(
                    f"{name} begins with other labels or another vocabulary than the component "
                    "that the checkpoint is of"
                )
        self.progress = progress = Progress(**state["progress"])
        progress.results = [(score, step) for score, step in progress.results]
        trained = islice(batches, progress.steps)
        words = sum(len(example) for _, batch in trained for example in batch)
        if words != progress.words:
            raise CheckpointError(
                f"the training data have changed: the first {progress.steps} batches have {words} "
                f"words, and had {progress.words}"
            )
        for _ in progress.results:
            deque(dev(), maxlen=0)  # it may change with every reading
        run_schedules(self.optimizer, progress.steps, progress.results)
        tensors: dict[str, dict[str, Tensor]] = {"weights": {}, "optimizer": {}}
        for place, tensor in safetensors.torch.load_file(output / CHECKPOINT).items():
            kind, _, name = place.partition("/")
            tensors[kind][name] = tensor
        set_weights(self.nlp, self.frozen, tensors["weights"], set(state["graded"]))
        set_optimizer(self.nlp, self.optimizer, tensors["optimizer"])
        self.nlp.meta["performance"] = progress.performance
        progress.finished = False
        # last, since the code above may draw
        set_random_state(state["random"])


def models_of(nlp: Language, exclude: Collection[str] = ()) -> dict[str, Model]:
    """Return the models of components, by component name."""
    models = ((name, getattr(pipe, "model", None)) for name, pipe in nlp.pipeline)
    return {k: model for k, model in models if k not in exclude and isinstance(model, Model)}


def _layers(nlp: Language, exclude: Collection[str] = ()) -> Iterator[tuple[str, Model]]:
    for name, model in models_of(nlp, exclude).items():
        for k, node in enumerate(model.walk()):
            yield f"{name}/{k}", node


def _modules(nlp: Language, exclude: Collection[str] = ()) -> Iterator[tuple[str, Any, nn.Module]]:
    """Yield torch modules, places and shims; NotImplementedError for other libraries' shims."""
    for place, node in _layers(nlp, exclude):
        for number, shim in enumerate(node.shims):
            module = getattr(shim, "_model", None)
            if not isinstance(module, nn.Module):
                raise NotImplementedError(
                    f"layer {node.name} has parameters in a {type(shim).__name__}, which is not "
                    "PyTorch's: `spacy train` can train it, but not resume"
                )
            yield f"{place}.{number}", shim, module


def read_weights(nlp: Language, exclude: Collection[str]) -> tuple[dict[str, Tensor], list[str]]:
    """Return the weights of components not in `exclude`, and the names of weights with a gradient,
    even a zero one: optimizers change only these."""
    tensors, graded = {}, []
    for place, node in _layers(nlp, exclude):
        for name in filter(node.has_param, node.param_names):
            tensors[f"{place}/{name}"] = torch.as_tensor(to_numpy(node.get_param(name)))
            if node.has_grad(name):
                graded.append(f"{place}/{name}")
    for place, _, module in _modules(nlp, exclude):
        for name, tensor in awake(module).state_dict(keep_vars=True).items():
            tensors[f"{place}/{name}"] = tensor
            if tensor.grad is not None:
                graded.append(f"{place}/{name}")
    return tensors, graded


def set_weights(
    nlp: Language, exclude: Collection[str], tensors: dict[str, Tensor], graded: Collection[str]
) -> None:
    """Undo `read_weights`. Raises CheckpointError, naming the first weight that doesn't fit."""
    own, _ = read_weights(nlp, exclude)
    for name in sorted(own.keys() | tensors.keys()):
        shapes = [tuple(t[name].shape) if name in t else "missing" for t in (own, tensors)]
        if shapes[0] != shapes[1]:
            raise CheckpointError(
                f"the shape of {name} is {shapes[0]} in this pipeline and {shapes[1]} in the "
                "checkpoint"
            )
    for place, node in _layers(nlp, exclude):
        for name in filter(node.has_param, node.param_names):
            value = _to_array(tensors[f"{place}/{name}"])
            node.set_param(name, value)
            if f"{place}/{name}" in graded:
                node.set_grad(name, node.ops.xp.zeros_like(value))
    for place, _, module in _modules(nlp, exclude):
        module.load_state_dict({name: tensors[f"{place}/{name}"] for name in module.state_dict()})
        for name, parameter in module.state_dict(keep_vars=True).items():
            if f"{place}/{name}" in graded:
                parameter.grad = torch.zeros_like(parameter)


def read_optimizer(nlp: Language, optimizer: Optimizer) -> dict[str, Tensor]:
    """Return the `OPTIMIZER_STATE` of a Thinc optimizer or one derived from it, named by attribute
    and parameter. Schedules are for `run_schedules`."""
    places = _places(nlp)
    return {
        f"{attribute}/{places[key]}": torch.as_tensor(to_numpy(value))
        for attribute in OPTIMIZER_STATE
        for key, value in (getattr(optimizer, attribute) or {}).items()
    }


def set_optimizer(nlp: Language, optimizer: Optimizer, tensors: dict[str, Tensor]) -> None:
    """Undo `read_optimizer`, in a new optimizer of the same config."""
    keys = {place: key for key, place in _places(nlp).items()}
    for name, tensor in tensors.items():
        attribute, _, place = name.partition("/")
        value = int(tensor) if attribute == "nr_update" else _to_array(tensor)
        getattr(optimizer, attribute)[keys[place]] = value


def run_schedules(optimizer: Optimizer, steps: int, results: list[tuple[float, int]]) -> None:
    """Advance the schedules of a new optimizer by this number of steps.
    results: score and step, from 0, of each evaluation so far, passed to the `set_scores(results)`
        of schedules that have it."""
    with warnings.catch_warnings():
        # the original steps gave these warnings
        warnings.simplefilter("ignore")
        for _ in range(steps):
            optimizer.step_schedules()
    for schedule in optimizer.schedules.values():
        if results and hasattr(schedule, "set_scores"):
            schedule.set_scores(results)


def _places(nlp: Language) -> dict[tuple[int, str], str]:
    """Return each parameter's place, by its key in the optimizer."""
    places: dict[tuple[int, str], str] = {}
    for place, node in _layers(nlp):
        for name in node.param_names:
            places.setdefault((node.id, name), f"{place}/{name}")
    for place, shim, module in _modules(nlp):
        for name, _ in module.named_parameters():
            places.setdefault((shim.id, name), f"{place}/{name}")
    return places


def _to_array(tensor: Tensor) -> Any:
    return get_current_ops().asarray(cast(Any, tensor.numpy())).copy()


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
