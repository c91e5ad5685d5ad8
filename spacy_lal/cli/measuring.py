"""What the commands that measure share: options, the corpus that is read, the file of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import srsly
import typer

from ..formats.whole_files import whole_file
from .checks import check_outputs, clear_errors, input_files

MetricsOption = Annotated[
    Path | None, typer.Option("--output", help="Write the numbers here, as JSON.")
]
ThreadsOption = Annotated[
    int, typer.Option("--threads", min=0, help="Threads of torch; 0 for torch's default.")
]


@contextmanager
def measuring(
    command: str, output: Path | None, corpora: Iterable[Path], threads: int
) -> Iterator[dict[str, Any]]:
    """Yields a dict for the numbers, which are written to `output` at the end.

    Errors end the command as in `clear_errors`; before the work, `output` is checked.
    """
    import torch

    numbers: dict[str, Any] = {}
    with clear_errors(command):
        check_outputs([output], input_files(corpora, "*.spacy"))
        if threads:
            torch.set_num_threads(threads)
        yield numbers
        if output is not None:
            output.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(output) as unfinished:
                srsly.write_json(unfinished, numbers)
