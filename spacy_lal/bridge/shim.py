"""The bridge between Thinc and PyTorch. `TorchShim` differs from Thinc's own `PyTorchShim`:

- the module is built late, from a JSON-able *header* of sizes that only the training data give, and
  stored as safetensors with that header: no pickle;
- outside a training step the module stays in eval mode, so that threads may share it;
- the dropout rate comes from spaCy's training loop at every step;
- parameter averaging (`use_averages`) reaches the module's parameters.
"""

import contextlib
import copy
import json
from collections.abc import Callable, Iterator, Mapping
from math import inf
from pathlib import Path
from threading import Lock
from typing import Any, Literal, Self, cast

import safetensors.torch
import torch
from spacy.tokens import Doc
from thinc.api import (
    Model,
    Optimizer,
    Shim,
    deserialize_attr,
    get_torch_default_device,
    torch2xp,
    xp2torch,
)
from thinc.types import Floats2d, FloatsXd
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from ..layers.dropout import set_dropout
from ..layers.precision import Precision, bfloat16_products
from ..layers.prepared import Packed, Prepared, prepare, sleepers
from ..layers.settings import Settings
from .weights import MODEL, WEIGHTS, Header, parts_of, read_weights

NO_PARAMETERS = "this model has no parameters yet: call nlp.initialize() or load trained weights"
"""Message of the error of a network that is not built yet."""
_PREPARING = Lock()
"""Held while weights are prepared: threads that share a module may begin to predict at once."""
PREDICTING = ("prediction", "max_batch_spans")
"""Attributes of models that the config sets and no weight depends on."""


@deserialize_attr.register(Settings)
def _keep_settings(settings: Settings, _: Any, name: str, model: Model) -> Settings:
    """Settings in a model's attributes are those of the config, whatever was stored beside it."""
    return settings


class TorchShim(Shim):
    """Owner of one `nn.Module`, which `build` makes from the header.

    make_reader: function from the header to `reader`, the module's reader of Docs, such as a
    tokenizer. Both functions are defined in modules, so that a pickle can name them.
    """

    def __init__(
        self,
        build: Callable[[Header], nn.Module],
        make_reader: Callable[[Header], Any] | None = None,
    ) -> None:
        super().__init__(None)
        self._build = build
        self._make_reader = make_reader
        self.reader: Any = None
        self.header: Header | None = None
        self._weights_elsewhere = False
        self._frozen: set[str] = set()
        # "asleep": weights have been read, and nothing is made of them yet
        self._prepared: Precision | Literal["asleep"] | None = None
        self._first: nn.Parameter | None = None

    def __getstate__(self) -> dict[str, Any]:
        # readers, and functions that libraries hang on modules, can't be pickled
        return self.__dict__ | {
            "reader": None,
            "_model": None,
            "_first": None,
            "weights": self.to_bytes(),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        weights = state.pop("weights")
        self.__dict__.update(state)
        self.from_bytes(weights)

    def copy(self) -> Self:
        """Returns a copy with its own id, which makes it another one for an optimizer."""
        copied = copy.deepcopy(self)
        with Shim.global_id_lock:
            Shim.global_id += 1
            copied.id = Shim.global_id
        return copied

    def initialize(self, header: Header) -> None:
        """Builds the module with fresh parameters."""
        self._own(header, self._build(header).to(get_torch_default_device()).eval())

    def _own(self, header: Header, module: nn.Module) -> None:
        self.header, self._model, self._frozen, self._prepared = header, module, set(), None
        self._first = next(module.parameters())
        self.reader = None if self._make_reader is None else self._make_reader(header)

    @property
    def module(self) -> nn.Module:
        if self._model is None:
            raise ValueError(NO_PARAMETERS)
        return self._model

    @property
    def device(self) -> torch.device:
        if self._first is None:
            raise ValueError(NO_PARAMETERS)
        # to look for a parameter at each call takes much longer
        return self._first.device

    def run(
        self,
        *inputs: Any,
        is_train: bool,
        dropout: float = 0.0,
        prediction: Precision = "float32",
        method: str = "__call__",
    ) -> Any:
        """Returns the module's output, or, in prediction, that of another method; in training with
        the autograd graph.

        prediction: products outside of training. 8-bit ones are for CPUs; elsewhere they are
        float32, as are 16-bit ones on processors that have none."""
        module = self.module
        if not is_train:
            on_cpu = self.device.type == "cpu"
            self._prepare(prediction if on_cpu or prediction != "int8" else "float32")
            lower = bfloat16_products(self.device.type, prediction == "bfloat16")
            with torch.no_grad(), lower:
                output = getattr(module, method)(*inputs)
            return _float32(output) if prediction == "bfloat16" else output
        self._prepare(None)
        set_dropout(module, dropout)
        module.train()
        try:
            return module(*inputs)
        finally:
            module.eval()

    def _prepare(self, prediction: Precision | None) -> None:
        """Readies weights for predictions with such products, or, before they change, for none."""
        with _PREPARING:
            if self._prepared != prediction:
                prepare(self.module, prediction)
                self._prepared = prediction

    def finish_update(self, optimizer: Optimizer) -> None:
        self._prepare(None)
        self._freeze(optimizer)
        for name, parameter in self.module.named_parameters():
            if parameter.grad is not None:
                weights = cast(FloatsXd, torch2xp(parameter.data))
                if optimizer.averages is not None and (self.id, name) not in optimizer.averages:
                    # Thinc begins at zero: the first averages, with which pipelines are evaluated
                    # and saved, would be too small
                    optimizer.averages[self.id, name] = weights.copy()
                value, _ = optimizer(
                    (self.id, name),
                    weights,
                    cast(FloatsXd, torch2xp(parameter.grad)),
                )
                updated = xp2torch(value, device=parameter.device)
                # Thinc's optimizer works in place where it can. Taking its array over would wrap
                # tensor in array in tensor, one layer more at every step, none of them ever freed.
                if updated.data_ptr() != parameter.data_ptr():
                    parameter.data.copy_(updated.reshape(parameter.shape))
                parameter.grad = None

    def _freeze(self, optimizer: Optimizer) -> None:
        """Stops computing gradients of parameters that the optimizer freezes (`GroupedAdam`)."""
        # the optimizer can't thaw what never had gradients, such as an encoder's lower layers
        parameters = {
            name: parameter
            for name, parameter in self.module.named_parameters()
            if parameter.requires_grad or name in self._frozen
        }
        freezes = getattr(optimizer, "freezes", lambda name: False)
        frozen = {name for name in parameters if freezes(name)}
        # PyTorch has no backward pass without any gradient
        if len(frozen) == len(parameters):
            frozen = set()
        for name in frozen - self._frozen:
            parameters[name].requires_grad_(False).grad = None
        for name in self._frozen - frozen:
            parameters[name].requires_grad_(True)
        self._frozen = frozen

    @contextlib.contextmanager
    def use_params(self, params: dict[tuple[int, str], Any]) -> Iterator[None]:
        """Lends the module other values, such as the optimizer's averages."""
        self._prepare(None)
        parameters = {} if self._model is None else dict(self._model.named_parameters())
        own = {n: p.data for n, p in parameters.items() if (self.id, n) in params}
        for name, values in own.items():
            lent = xp2torch(params[(self.id, name)], device=values.device)
            parameters[name].data = lent.reshape(values.shape)
        try:
            yield
        finally:
            self._prepare(None)
            for name, values in own.items():
                parameters[name].data = values

    def to_device(self, device_type: str, device_id: int) -> None:
        if self._model is not None:
            self._prepare(None)
            self._model.to("cpu" if device_type == "cpu" else f"cuda:{device_id}")

    def tensors(self) -> dict[str, Tensor]:
        """Returns the module's parameters by name; none before it is built."""
        if self._model is None:
            return {}
        tensors = {name: t.detach() for name, t in self._model.state_dict().items()}
        for name, (part, own_name) in sleepers(self._model).items():
            if own_name in part.asleep:
                tensors[name] = part.asleep[own_name].unpacked()
        return {name: t.contiguous() for name, t in tensors.items()}

    def load(self, header: Header, tensors: Mapping[str, Tensor | Packed]) -> None:
        """Builds the module from its header with these parameters, which become its own. Raises
        ValueError if they do not fit or are not finite, before the module takes memory."""
        try:
            _check_sizes(header, max(LEAST, sum(t.shape.numel() for t in tensors.values())))
            # a damaged header may specify endless layers; some tensors are made twice
            with torch.device("meta"), WithoutFirstValues(2 * len(tensors)):
                module = self._build(header)
        except Exception as err:
            raise ValueError(
                f"the header of the weights describes no module that is known here: {err!r}"
            ) from err
        have = {name: tuple(t.shape) for name, t in tensors.items()}
        want = {name: tuple(t.shape) for name, t in module.state_dict().items()}
        for name in sorted(have.keys() | want.keys()):
            if have.get(name) != want.get(name):
                raise ValueError(
                    f"these are not the weights of this model: {name} is "
                    f"{have.get(name, 'missing')}, and should be {want.get(name, 'left out')}"
                )
        device = get_torch_default_device()
        may_sleep = sleepers(module) if device.type == "cpu" else {}
        asleep: dict[Prepared, dict[str, Packed]] = {}
        own: dict[str, Tensor] = {}
        for name, tensor in tensors.items():
            if isinstance(tensor, Packed):
                tensor.check(name)
                if name in may_sleep:
                    part, own_name = may_sleep[name]
                    asleep.setdefault(part, {})[own_name] = tensor
                    own[name] = torch.empty(()).expand(tensor.shape)
                    continue
                tensor = tensor.unpacked()
            # integers of 32 bits would lose some as float32
            dtype = torch.float32 if tensor.is_floating_point() else tensor.dtype
            own[name] = tensor.to(device, dtype).contiguous()
            _check_finite(name, own[name])
        # not copied: they are the module's only memory
        module.eval().load_state_dict(own, assign=True)
        # such as the numbers of positions
        if not_stored := [name for name, _ in module.named_buffers() if name not in want]:
            fresh = dict(self._build(header).named_buffers())
            for name in not_stored:
                owner, _, buffer = name.rpartition(".")
                setattr(module.get_submodule(owner), buffer, fresh[name].to(device))
        self._own(header, module)
        for part, packed in asleep.items():
            part.sleep(packed)
            self._prepared = "asleep"

    def to_bytes(self) -> bytes:
        if self._model is None or self._weights_elsewhere:
            return b""
        return safetensors.torch.save(self.tensors(), {"headers": json.dumps([self.header])})

    def from_bytes(self, data: bytes) -> Self:
        if data:
            headers, tensors = read_weights(data)
            if len(headers) != 1:
                raise ValueError(
                    f"expected the weights of one module, found those of {len(headers)}"
                )
            self.load(headers[0], tensors)
        return self


class WithoutFirstValues(TorchFunctionMode):
    """Modules without random values. Without memory for parameters such values are useless, and to
    draw them PyTorch would import its compiler, which takes longer than all else.

    most: how many tensors may be made; one more raises ValueError.
    """

    def __init__(self, most: float = inf) -> None:
        super().__init__()
        self.most = most

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func in (torch.empty, torch.ones, torch.rand, torch.randn, torch.zeros):
            self.most -= 1
            if self.most < 0:
                raise ValueError("it describes more parameters than the file has tensors")
            if func in (torch.rand, torch.randn):
                func = torch.empty
        drawn = func.__name__ in ("normal_", "uniform_", "mul")  # mul, as in randn(3) * 0.1
        if drawn or getattr(func, "__module__", None) == "torch.nn.init":
            return kwargs["tensor"] if "tensor" in kwargs else args[0]
        return func(*args, **kwargs)


def _float32(output: Any) -> Any:
    """Returns a tensor, or a tuple of tensors and None, in float32."""
    if isinstance(output, tuple):
        values = map(_float32, output)
        return output._make(values) if hasattr(output, "_make") else tuple(values)
    return output.float() if isinstance(output, Tensor) else output


def _check_finite(name: str, tensor: Tensor) -> None:
    # values are finite if their sum is, which is a faster test
    if not tensor.float().sum().isfinite() and not tensor.isfinite().all():
        raise ValueError(f"{name} has values that are not finite")


LEAST = 1_000_000
"""Largest number in headers that does no harm."""


def _check_sizes(settings: dict[str, Any], most: int) -> None:
    for name, value in settings.items():
        if isinstance(value, dict):
            _check_sizes(value, most)
        elif isinstance(value, int) and abs(value) > most and name != "hash_seed":
            raise ValueError(
                f"the header of the weights has {name} = {value}, more than the weights can be of"
            )


def torch_shims(model: Model) -> list[tuple[Model, TorchShim]]:
    """Returns every layer of `model` that wraps a torch module, with its shim, in walking order."""
    return [
        (node, shim) for node in model.walk() for shim in node.shims if isinstance(shim, TorchShim)
    ]


def torch_shim(model: Model) -> TorchShim:
    """Returns the shim of a Thinc layer that wraps one PyTorch module."""
    return cast(TorchShim, model.shims[0])


def to_tensor(model: Model, rows: list[Floats2d], device: torch.device) -> Tensor:
    """Concatenates the rows of all Docs to one tensor."""
    # a negative stride would end the process, not raise
    return xp2torch(model.ops.xp.ascontiguousarray(model.ops.flatten(rows)), device=device)


def backward(model: Model, flat: Tensor, d_rows: list[Floats2d]) -> None:
    """Backpropagates the gradient of the rows that `to_rows` made of `flat`, if there is any."""
    if flat.requires_grad:
        # without a Doc, the gradient's width isn't known
        flat.backward(to_tensor(model, d_rows, flat.device).view_as(flat))


def to_rows(model: Model, flat: Tensor, lengths: list[int]) -> list[Floats2d]:
    """Undoes `to_tensor`."""
    rows = cast(Floats2d, torch2xp(flat.detach()))
    return model.ops.unflatten(rows, model.ops.asarray1i(lengths))


Output = tuple[list[Floats2d], Callable[[list[Floats2d]], list[Doc]]]
"""Rows of each Doc's tokens, and their backprop."""


def no_docs(gradient: Any) -> list[Doc]:
    """The backprop of a prediction."""
    return []


def rows_of_docs(model: Model, flat: Tensor, docs: list[Doc]) -> Output:
    """Returns the output of a layer that reads Docs, with no layer below."""

    def backprop(d_rows: list[Floats2d]) -> list[Doc]:
        backward(model, flat, d_rows)
        return []

    return to_rows(model, flat, [len(doc) for doc in docs]), backprop


def side_by_side(model: Model, first: Output, second: Output) -> Output:
    """Concatenates the rows of two layers over the same Docs."""
    (rows, backprop_first), (others, backprop_second) = first, second
    xp = model.ops.xp
    width = rows[0].shape[1] if rows else 0

    def backprop(d_rows: list[Floats2d]) -> list[Doc]:
        backprop_second([xp.ascontiguousarray(d[:, width:]) for d in d_rows])
        return backprop_first([xp.ascontiguousarray(d[:, :width]) for d in d_rows])

    pairs = zip(rows, others, strict=True)
    return [xp.concatenate(pair, axis=1) for pair in pairs], backprop


@contextlib.contextmanager
def weights_elsewhere(model: Model) -> Iterator[None]:
    """Leaves the torch modules of `model` out of its serialised form."""
    shims = [shim for _, shim in torch_shims(model)]
    for shim in shims:
        shim._weights_elsewhere = True
    try:
        yield
    finally:
        for shim in shims:
            shim._weights_elsewhere = False


def save_weights(model: Model, path: Path) -> None:
    """Writes the parameters of all torch modules in `model`, with their headers, to one safetensors
    file. Tensors are named "<number of the module>.<name>", in the model's walking order."""
    shims = [shim for _, shim in torch_shims(model) if shim.header is not None]
    tensors = {
        f"{k}.{name}": tensor
        for k, shim in enumerate(shims)
        for name, tensor in shim.tensors().items()
    }
    headers = json.dumps([shim.header for shim in shims])
    # save_file makes the file readable by its owner alone
    path.write_bytes(safetensors.torch.save(tensors, {"headers": headers}))


def model_to_disk(model: Model, folder: Path) -> None:
    """Writes a component's model: its torch modules as safetensors, all else in Thinc's file."""
    with weights_elsewhere(model):
        model.to_disk(folder / MODEL)
    save_weights(model, folder / WEIGHTS)


def model_from_disk(model: Model, folder: Path) -> None:
    """Undoes `model_to_disk`, or reads Thinc's file with all weights, as spaCy's components write
    it. Raises ValueError, naming the file, for files that don't fit."""
    before = [(shim, shim._model) for _, shim in torch_shims(model)]
    with naming(folder / MODEL), configured(model):
        model.from_disk(folder / MODEL)
    if (folder / WEIGHTS).exists():
        load_weights(model, folder / WEIGHTS)
    elif not before or any(shim._model is module for shim, module in before):
        raise ValueError(f"{folder / WEIGHTS}: no such file; the weights are missing")


@contextlib.contextmanager
def configured(model: Model) -> Iterator[None]:
    """Lets a model keep these attributes when it reads what another config's model wrote."""
    own = [
        (node.attrs, {name: node.attrs[name] for name in PREDICTING if name in node.attrs})
        for node in model.walk()
    ]
    yield
    for attrs, values in own:
        attrs.update(values)


@contextlib.contextmanager
def naming(source: str | Path) -> Iterator[None]:
    """Names the source in errors of reading, whatever their type."""
    try:
        yield
    except Exception as error:
        message = f"{source}: damaged, or another component's: {type(error).__name__}: {error}"
        raise ValueError(message) from error


def load_weights(model: Model, path: Path) -> None:
    """Undoes `save_weights`. Raises ValueError, naming the file, if it is damaged or unsuitable."""
    shims = [shim for _, shim in torch_shims(model)]
    try:
        headers, tensors = read_weights(*(part.read_bytes() for part in parts_of(path)))
        if len(headers) not in (0, len(shims)):
            raise ValueError(
                f"the file has the weights of {len(headers)} modules, but the model has "
                f"{len(shims)}"
            )
        module_tensors: list[dict[str, Tensor | Packed]] = [{} for _ in headers]
        for name, tensor in tensors.items():
            number, _, own_name = name.partition(".")
            if number not in map(str, range(len(headers))):
                raise ValueError(
                    f"the tensor {name} of the file belongs to none of the model's {len(headers)} "
                    "modules"
                )
            module_tensors[int(number)][own_name] = tensor
        for shim, header, own in zip(shims, headers, module_tensors, strict=False):
            shim.load(header, own)
    except ValueError as err:
        raise ValueError(f"{path}: {err}") from err
