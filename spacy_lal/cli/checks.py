"""Checks of all commands: bad input gives a one-line message and exit status 1."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from ..formats.treebank_format import files_in

T = TypeVar("T")

ModelArgument = Annotated[str, typer.Argument(help="A pipeline: a package's name or a folder.")]
ThreadsOption = Annotated[int, typer.Option(min=0, help="Threads of torch; 0 for its default.")]


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
        above = next(parent for parent in Path(place).parents if parent.exists())
        if path.is_dir():
            raise IsADirectoryError(f"can't write {path}: it is a folder")
        if not above.is_dir():
            raise NotADirectoryError(f"can't write {path}: {above} is no folder")
        if not os.access(path if path.exists() else above, os.W_OK):
            raise PermissionError(f"can't write {path}: permission denied")
        if places.count(place) > 1:
            raise ValueError(f"{path} would be written twice")
    existing = {_identity(path): path for path in written if path.is_file()}
    for source in inputs if existing else ():
        if source.is_file() and _identity(source) in existing:
            raise ValueError(f"{existing[_identity(source)]} would overwrite the input {source}")


def check_folder(output: Path, inputs: Iterable[Path]) -> None:
    """Raise OSError or ValueError for a folder that can't be written, or is or contains an input.

    inputs: all files and folders that will be read.
    """
    place = Path(os.path.realpath(output))
    above = next(parent for parent in (place, *place.parents) if parent.exists())
    if not above.is_dir():
        raise NotADirectoryError(f"can't write {output}: {above} is no folder")
    if not os.access(above, os.W_OK):
        raise PermissionError(f"can't write {output}: permission denied")
    for source in inputs:
        of_source = Path(os.path.realpath(source))
        if place in (of_source, *of_source.parents):
            raise ValueError(f"{output} would overwrite the input {source}")


def check_apart(output: Path, source: Path) -> None:
    """Raise ValueError if the folder `output` is inside the folder `source`."""
    if Path(os.path.realpath(source)) in Path(os.path.realpath(output)).parents:
        raise ValueError(
            f"{output} is inside the input {source}: what is written would be read, too"
        )


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino


def input_files(inputs: Iterable[Path], pattern: str) -> Iterator[Path]:
    """Yield the files among the inputs, and those in the folders whose names match.

    Raises FileNotFoundError for a folder without such files.
    """
    for path in inputs:
        yield from files_in(path, pattern)


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
