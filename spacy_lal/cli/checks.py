"""Checks of all commands: bad input gives a one-line message and exit status 1."""

import os
import tarfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import product
from pathlib import Path
from typing import Annotated, TypeVar

import typer

T = TypeVar("T")

ModelArgument = Annotated[str, typer.Argument(help="A pipeline: a package's name or a folder.")]
ThreadsOption = Annotated[int, typer.Option(min=0, help="Threads of torch; 0 for its default.")]


Group = partial(typer.Typer, no_args_is_help=True, rich_markup_mode=None)
"""A command with commands of its own."""


@contextmanager
def clear_errors(command: str, source: Path | None = None) -> Iterator[None]:
    """End the command with one line that names the place of bad input, without a traceback.

    source: a place to add to errors that don't name it.
    """
    try:
        yield
    except (OSError, ValueError, ImportError, NotImplementedError, tarfile.TarError) as error:
        said = " ".join(str(error).split())
        if source is not None and str(source) not in said:
            said = f"{source}: {said}"
        typer.echo(f"{command}: {said}", err=True)
        raise typer.Exit(1) from None


def check_outputs(outputs: Iterable[Path | None], inputs: Iterable[Path]) -> None:
    """Raise OSError or ValueError for an output that can't be written, or that is an input.

    outputs: files to write, or None. inputs: all files that will be read. Links are resolved.
    """
    written = [path for path in outputs if path is not None]
    places = [os.path.realpath(path) for path in written]
    for path, place in zip(written, places, strict=True):
        if path.is_dir():
            raise IsADirectoryError(f"can't write {path}: it is a folder")
        _check_writable(path)
        if places.count(place) > 1:
            raise ValueError(f"{path} would be written twice")
    existing = [path for path in written if path.is_file()]
    for path, source in product(existing, inputs):
        if source.is_file() and path.samefile(source):
            raise ValueError(f"{path} would overwrite the input {source}")


def check_folder(output: Path, inputs: Iterable[Path], *, apart: bool = False) -> None:
    """Raise OSError or ValueError for a folder that can't be written, or is or contains an input.

    inputs: all files and folders that will be read. apart: whether it may not be in one, either.
    """
    _check_writable(output)
    place = output.resolve()
    for source in inputs:
        if source.resolve().is_relative_to(place):
            raise ValueError(f"{output} would overwrite the input {source}")
        if apart and place.is_relative_to(source.resolve()):
            raise ValueError(f"{output} is inside the input {source}, and would be read, too")


def _check_writable(path: Path) -> None:
    place = path.resolve()
    above = next(parent for parent in (place, *place.parents) if parent.exists())
    if above != place and not above.is_dir():
        raise NotADirectoryError(f"can't write {path}: {above} is no folder")
    if not os.access(above, os.W_OK):
        raise PermissionError(f"can't write {path}: permission denied")


def from_each(inputs: Iterable[Path], read: Callable[[Path], Iterable[T]]) -> Iterator[T]:
    """Yield values read from each input, a file or a folder.

    Raises ValueError, which names the input, for one without any sentence.
    """
    for path in inputs:
        empty = True
        for found in read(path):
            empty = False
            yield found
        if empty:
            raise ValueError(f"no sentences in {path}")


def values(option: str) -> list[str]:
    """Return the values of an option that takes several, separated by commas."""
    return [value.strip() for value in option.split(",") if value.strip()]
