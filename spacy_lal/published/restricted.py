"""Reading of `torch.save` files without running any code in them.

A pickle may name any function to be called. This unpickler of `spacy lal import` accepts tensors,
plain containers and listed class names, whose objects become `Inert` data without constructor or
methods, and refuses every other name before any call. (`torch.load(weights_only=True)` refuses
classes of absent programs, functions of dill, and the format before PyTorch 1.6.)
"""

from __future__ import annotations

import math
import pickle
import pickletools
import struct
import sys
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import IO, Any

import torch
from torch import Tensor

STORAGES = {
    "torch.DoubleStorage": torch.float64,
    "torch.FloatStorage": torch.float32,
    "torch.HalfStorage": torch.float16,
    "torch.BFloat16Storage": torch.bfloat16,
    "torch.LongStorage": torch.int64,
    "torch.IntStorage": torch.int32,
    "torch.ShortStorage": torch.int16,
    "torch.CharStorage": torch.int8,
    "torch.ByteStorage": torch.uint8,
    "torch.BoolStorage": torch.bool,
}
"""Tensor storages, by their names in PyTorch's files."""
OLD_MODULES = {"__builtin__": "builtins", "copy_reg": "copyreg"}
"""Modules renamed since protocol 2."""
LEGACY = 0x1950A86A20F9469CFC6C
"""First number in files of PyTorch before 1.6."""
Storage = Callable[..., Tensor]


KEYS = {"supar": {"transform", "args"}, "lal-parser": {"spec"}, "benepar": {"config"}}
"""Keys of checkpoints beside parameters, by program."""


def looks_like(path: Path) -> str:
    """Return the program of a checkpoint file or release folder, by the strings in its pickle.
    Raises ValueError, naming the file, for a program that isn't in `KEYS`."""
    if path.is_dir():
        return "benepar"
    strings = set[Any]()
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                (pickled,) = (name for name in archive.namelist() if name.endswith("/data.pkl"))
                strings.update(
                    argument for _, argument, _ in pickletools.genops(archive.read(pickled))
                )
        else:
            with path.open("rb") as file:
                for _ in range(4):  # a number, the protocol, the system, the checkpoint
                    strings.update(argument for _, argument, _ in pickletools.genops(file))
    except Exception:  # pickletools has no kind of its own
        strings.clear()
    for kind, keys in KEYS.items():
        if keys <= strings:
            return kind
    raise ValueError(
        f"{path}: no checkpoint of {', '.join(KEYS)} that can be recognised: give --kind"
    )


class Inert:
    """Data of an object whose class is absent, as attributes."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Inert:
        return object.__new__(cls)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __setstate__(self, state: Any) -> None:
        # (__dict__, __slots__) of a class with slots
        for part in state if isinstance(state, tuple) else (state,):
            if isinstance(part, dict):
                self.__dict__.update(part)


class Absent(Inert):
    """Stand-in for a function; it accepts any use and has no effect."""

    def __call__(self, *args: Any, **kwargs: Any) -> Absent:
        return self

    def __setstate__(self, state: Any) -> None:
        pass

    def _ignore(self, *args: Any) -> None:
        pass

    __setitem__ = append = extend = _ignore


class _Maker:
    """Function that a pickle may call and can't change."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[..., Any]) -> None:
        self._make = make

    def __call__(self, *args: Any) -> Any:
        return self._make(*args)

    def __setstate__(self, state: Any) -> None:
        raise pickle.UnpicklingError("it sets attributes of a function")


class _Refused(pickle.UnpicklingError):
    """Refused name in a pickle."""


def read_checkpoint(
    path: str | Path, classes: Collection[str] = (), absent: Collection[str] = ()
) -> Any:
    """Return the contents of a .pt file in the zip format or in the format before PyTorch 1.6.

    classes: full names whose objects become `Inert` data. absent: names of functions, or prefixes
        that end in a dot, that become `Absent`.
    Raises ValueError, naming the file, if it is missing, truncated, damaged, or has any other name.
    """
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"{path}: no such file; a checkpoint saved by torch.save was expected")
    unpickler = partial(_Unpickler, classes=classes, absent=absent)
    try:
        return (_read_zip if zipfile.is_zipfile(path) else _read_legacy)(path, unpickler)
    except _Refused as error:
        raise ValueError(f"{path}: {error}") from error
    except Exception as error:  # a pickle may fail in any way
        raise ValueError(
            f"{path}: truncated, damaged, or not saved by torch.save: "
            f"{type(error).__name__}: {str(error) or 'it ends too soon'}".replace("\n", " ")
        ) from error


class _Unpickler(pickle.Unpickler):
    def __init__(
        self,
        file: IO[bytes],
        storage: Storage | None = None,
        *,
        classes: Collection[str],
        absent: Collection[str],
    ) -> None:
        super().__init__(file, encoding="utf-8")
        self._storage = storage
        self._absent = absent
        # made for each file, so that changes by a pickle end with it
        self._known: dict[str, Any] = {
            name: type(name.rpartition(".")[2], (Inert,), {}) for name in classes
        }

    def find_class(self, module: str, name: str) -> Any:
        full = f"{OLD_MODULES.get(module, module)}.{name}"
        for table in (self._known, STORAGES, PLAIN):
            if full in table:
                return table[full]
        if any(full == a or (a.endswith(".") and full.startswith(a)) for a in self._absent):
            return Absent()
        raise _Refused(f"it holds {full!r}, which such a checkpoint has not; nothing of it was run")

    def persistent_load(self, pid: Any) -> Tensor:
        if self._storage is None or not isinstance(pid, tuple) or pid[0] != "storage":
            raise _Refused(f"it refers to {str(pid)[:40]!r}, which is no tensor")
        return self._storage(*pid[1:])


def _read_zip(path: Path, unpickler: Callable[..., _Unpickler]) -> Any:
    with zipfile.ZipFile(path) as archive:
        members = {info.filename: info for info in archive.infolist()}
        (pickled,) = (name for name in members if name.endswith("/data.pkl"))
        folder = pickled.removesuffix("data.pkl")
        if any(info.compress_type != zipfile.ZIP_STORED for info in members.values()):
            raise _Refused("it is compressed, as torch.save leaves nothing")
        order = archive.read(folder + "byteorder") if folder + "byteorder" in members else b"little"
        if order.decode() != sys.byteorder:
            raise _Refused(f"its numbers are in the byte order {order.decode()!r}")
        made: dict[str, Tensor] = {}

        def storage(dtype: torch.dtype, key: str, location: Any, numel: int) -> Tensor:
            if key not in made:
                made[key] = _tensor(archive.read(f"{folder}data/{key}"), dtype, numel)
            return made[key]

        with archive.open(pickled) as file:
            return unpickler(file, storage).load()


def _read_legacy(path: Path, unpickler: Callable[..., _Unpickler]) -> Any:
    size = path.stat().st_size
    with path.open("rb") as file:
        # other files are seldom pickles
        if unpickler(file).load() != LEGACY:
            raise pickle.UnpicklingError("its beginning is not that of a file of torch.save")
        for _ in range(2):  # the protocol, the system
            unpickler(file).load()
        made: dict[str, Tensor] = {}

        def storage(dtype: torch.dtype, key: str, location: Any, numel: int, view: Any) -> Tensor:
            if not 0 <= numel * dtype.itemsize <= size:
                raise pickle.UnpicklingError(f"a tensor of {numel} values, more than the file has")
            if key not in made:
                made[key] = torch.empty(numel, dtype=dtype)
            return made[key] if view is None else made[key][view[1] : view[1] + view[2]]

        found = unpickler(file, storage).load()
        for key in unpickler(file).load():
            tensor = made[key]
            (numel,) = struct.unpack("<q", file.read(8))
            if numel != len(tensor):
                raise pickle.UnpicklingError(f"{numel} values of a tensor of {len(tensor)}")
            data = file.read(numel * tensor.dtype.itemsize)
            tensor.copy_(_tensor(data, tensor.dtype, numel))
        return found


def _tensor(data: bytes, dtype: torch.dtype, numel: int) -> Tensor:
    if len(data) != numel * dtype.itemsize:
        raise pickle.UnpicklingError(f"{len(data)} bytes of {numel} values of {dtype}")
    return torch.frombuffer(bytearray(data), dtype=dtype) if data else torch.empty(0, dtype=dtype)


def _rebuild_tensor(
    storage: Tensor, offset: int, size: tuple[int, ...], stride: tuple[int, ...], *_: Any
) -> Tensor:
    if math.prod(size) > len(storage):
        raise pickle.UnpicklingError(f"a tensor of shape {size} in {len(storage)} values")
    return storage.as_strided(size, stride, offset)


def _rebuild_object(cls: Any, *_: Any) -> Any:
    """Start an object, in old pickles."""
    if not (isinstance(cls, type) and issubclass(cls, Inert)):
        raise pickle.UnpicklingError(f"it holds an object of {cls!r}, which is not expected")
    return cls()


def _encode(text: str, encoding: str) -> bytes:
    """Return bytes, as in protocol 2."""
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"it holds bytes in the encoding {encoding!r}, not latin1")
    return text.encode("latin1")


PLAIN: dict[str, Any] = {
    "collections.OrderedDict": OrderedDict,
    "collections.defaultdict": _Maker(lambda *args: dict(*args[1:])),
    "collections.Counter": _Maker(dict),
    "builtins.set": set,
    "builtins.frozenset": frozenset,
    # of defaultdict(int), which is not called
    **dict.fromkeys(("builtins.int", "builtins.long", "builtins.object"), Absent()),
    "_codecs.encode": _Maker(_encode),
    "copyreg._reconstructor": _Maker(_rebuild_object),
    "torch.Size": _Maker(tuple),
    "torch.device": _Maker(lambda *args: ":".join(map(str, args))),
    "torch._utils._rebuild_tensor": _Maker(_rebuild_tensor),
    "torch._utils._rebuild_tensor_v2": _Maker(_rebuild_tensor),
    "torch._utils._rebuild_parameter": _Maker(lambda tensor, *_: tensor),
}
"""Names allowed in any checkpoint."""
