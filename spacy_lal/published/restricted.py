"""Reading of `torch.save` files without running any code in them.

A pickle may name any function to be called. `spacy lal import` reads tensors and plain containers
by `torch.load(weights_only=True)`, which refuses every other name before any call. Objects of
listed classes, whose programs are absent, become data without constructor or methods.
"""

import pickletools
import re
import zipfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import IO, Any, Self

import torch

KEYS = {"supar": {"transform", "args"}, "lal-parser": {"spec"}, "benepar": {"config"}}
"""Keys of checkpoints beside parameters, by program."""


def looks_like(path: Path) -> str:
    """Return the program of a checkpoint file or release folder, by the strings in its pickle.
    Raises ValueError, naming the file, for a program that isn't in `KEYS`."""
    if path.is_dir():
        return "benepar"
    try:
        strings = {argument for _, argument in _instructions(path)}
    except Exception:  # pickletools has no kind of its own
        strings = set()
    for kind, keys in KEYS.items():
        if keys <= strings:
            return kind
    raise ValueError(
        f"{path}: no checkpoint of {', '.join(KEYS)} that can be recognised: give --kind"
    )


def _instructions(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the names and arguments of instructions that make a checkpoint."""
    with path.open("rb") as file:
        pickles: list[IO[bytes]] = [file] * 4  # a number, the protocol, the system, the checkpoint
        if zipfile.is_zipfile(path):
            archive = zipfile.ZipFile(file)
            (pickled,) = (name for name in archive.namelist() if name.endswith("/data.pkl"))
            pickles = [archive.open(pickled)]
        for one in pickles:
            yield from ((code.name, argument) for code, argument, _ in pickletools.genops(one))


class Inert:
    """Data of an object whose class is absent, as attributes."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        return object.__new__(cls)


class Absent(Inert):
    """Stand-in for a function; it accepts any call and has no effect."""

    def __call__(self, *args: Any, **kwargs: Any) -> Self:
        return self

    def __setstate__(self, state: Any) -> None:
        pass


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
    prefixes = tuple(name for name in absent if name.endswith("."))
    # made for each file, so that changes by a pickle end with it
    known: list[Any] = [(type(name, (Inert,), {}), name) for name in classes]
    try:
        named = {
            argument.replace(" ", ".") for code, argument in _instructions(path) if code == "GLOBAL"
        }
        functions = {*absent, *(name for name in named if name.startswith(prefixes))}
        known += [(Absent(), name) for name in functions]
        with torch.serialization.safe_globals([*CONTAINERS, *known]):
            return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # a pickle may fail in any way
        problem = "truncated, damaged, or not saved by torch.save"
        if refused := re.search(r"GLOBAL (\S+) w", str(error)):
            problem = (
                f"it holds {refused[1]!r}, which such a checkpoint has not; nothing of it was run"
            )
        raise ValueError(f"{path}: {problem}") from error


def _dict(*args: Any) -> dict[Any, Any]:
    """Return a `defaultdict` without its function."""
    return dict(*args[1:])


def _object(cls: Any, *_: Any) -> Any:
    """Start an object, in old pickles."""
    return cls.__new__(cls) if issubclass(cls, Inert) else Absent()


CONTAINERS: list[Any] = [
    (_dict, "collections.defaultdict"),
    (_object, "copyreg._reconstructor"),
    (frozenset, "builtins.frozenset"),
    (int, "builtins.int"),
    (object, "builtins.object"),
    (Absent, "Absent"),  # its objects may get a state
]
"""What checkpoints may name, beside what any file of tensors may."""
