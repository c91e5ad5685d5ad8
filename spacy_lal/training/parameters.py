"""Weights and optimizer state under names that hold in another process.

Thinc's optimizer keeps state under (layer id, parameter name), and ids depend on the process. Here
a parameter's name is `<component>/<number of the layer in model.walk()>/<name>`, in a torch module
`<component>/<number of the layer>.<number of its shim>/<name>`.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Collection, Iterator
from typing import Any, cast

import numpy as np
import torch
from spacy.language import Language
from thinc.api import Model, Ops, Optimizer, get_current_ops
from thinc.util import is_xp_array, to_numpy
from torch import Tensor, nn


class CheckpointError(ValueError):
    """Checkpoint from which training can't resume."""


def models_of(nlp: Language, exclude: Collection[str] = ()) -> dict[str, Model]:
    """Return the models of components, by component name."""
    models = {name: getattr(pipe, "model", None) for name, pipe in nlp.pipeline}
    return {
        name: model
        for name, model in models.items()
        if name not in exclude and isinstance(model, Model)
    }


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
            tensors[f"{place}/{name}"] = _to_tensor(node.get_param(name))
            if node.has_grad(name):
                graded.append(f"{place}/{name}")
    for place, _, module in _modules(nlp, exclude):
        for name, tensor in module.state_dict().items():
            tensors[f"{place}/{name}"] = tensor
        for name, parameter in module.named_parameters():
            if parameter.grad is not None:
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
        for name in node.param_names:
            if f"{place}/{name}" in tensors:
                value = _to_array(node.ops, tensors[f"{place}/{name}"])
                node.set_param(name, value)
                if f"{place}/{name}" in graded:
                    node.set_grad(name, node.ops.xp.zeros_like(value))
    for place, _, module in _modules(nlp, exclude):
        module.load_state_dict({name: tensors[f"{place}/{name}"] for name in module.state_dict()})
        for name, parameter in module.named_parameters():
            if f"{place}/{name}" in graded:
                parameter.grad = torch.zeros_like(parameter)


def read_optimizer(
    nlp: Language, optimizer: Optimizer
) -> tuple[dict[str, Tensor], dict[str, dict[str, Any]]]:
    """Return the state of parameters in a Thinc optimizer or one derived from it. Tensors and
    numbers come from its dictionaries by parameter, named by attribute and parameter; plain
    attributes are kept if JSON preserves them. Schedules are for `run_schedules`."""
    places = _places(nlp)
    tensors: dict[str, Tensor] = {}
    numbers: dict[str, dict[str, Any]] = {"by parameter": {}, "plain": {}}
    for attribute in _attributes(optimizer):
        value = getattr(optimizer, attribute)
        if _by_parameter(value):
            numbers["by parameter"][attribute] = plain = {}
            for key, entry in value.items():
                if key not in places:
                    raise ValueError(f"the optimizer's {attribute} has {key}, which no model has")
                if is_xp_array(entry):
                    tensors[f"{attribute}/{places[key]}"] = _to_tensor(entry)
                else:
                    plain[places[key]] = entry
        elif _same_after_json(value):
            numbers["plain"][attribute] = value
    return tensors, numbers


def set_optimizer(
    nlp: Language,
    optimizer: Optimizer,
    tensors: dict[str, Tensor],
    numbers: dict[str, dict[str, Any]],
) -> None:
    """Undo `read_optimizer`, in a new optimizer of the same config."""
    keys = {place: key for key, place in _places(nlp).items()}
    ops = get_current_ops()
    for attribute, value in numbers["plain"].items():
        setattr(optimizer, attribute, value)
    for attribute, plain in numbers["by parameter"].items():
        entries = getattr(optimizer, attribute)
        entries.update({keys[place]: entry for place, entry in plain.items()})
    for name, tensor in tensors.items():
        attribute, _, place = name.partition("/")
        getattr(optimizer, attribute)[keys[place]] = _to_array(ops, tensor)


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


def _attributes(optimizer: Optimizer) -> list[str]:
    slots = [name for base in type(optimizer).__mro__ for name in getattr(base, "__slots__", ())]
    names = {*slots, *getattr(optimizer, "__dict__", ())} - {"schedules", "__dict__"}
    return sorted(name for name in names if hasattr(optimizer, name))


def _by_parameter(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(key, tuple) and [type(part) for part in key] == [int, str] for key in value
    )


def _same_after_json(value: Any) -> bool:
    try:
        return bool(json.loads(json.dumps(value)) == value)
    except (TypeError, ValueError):
        return False


def _to_tensor(array: Any) -> Tensor:
    return torch.from_numpy(np.asarray(to_numpy(array), order="C"))


def _to_array(ops: Ops, tensor: Tensor) -> Any:
    return ops.asarray(cast(Any, tensor.numpy())).copy()
