"""Size of a training's checkpoint, and the time that it takes to write, read and restore.

Of a torch module of so many parameters with Adam's moments and averages:

    python benchmarks/checkpoint.py --millions 23
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from time import perf_counter, process_time
from typing import Annotated

import numpy as np
import spacy
import typer
from spacy.language import Language
from thinc.api import Adam, Model, PyTorchWrapper
from torch import nn
from wasabi import msg

from spacy_lal.training.checkpoint import CHECKPOINT, read_tensors, write_checkpoint
from spacy_lal.training.parameters import read_optimizer, read_weights, set_optimizer, set_weights

WIDTH = 1000


class Pipe:
    """A component that does nothing with its model."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def __call__(self, doc):
        return doc


def pipeline(millions: int) -> Language:
    """With a model of so many parameters, in matrices of a million."""
    layers = [nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(millions)]
    nlp = spacy.blank("en")
    Language.factory("of_many", func=lambda nlp, name: Pipe(PyTorchWrapper(nn.Sequential(*layers))))
    nlp.add_pipe("of_many")
    return nlp


def main(
    millions: Annotated[int, typer.Option(min=1, help="Millions of parameters.")] = 23,
) -> None:
    """Print a table."""
    nlp, optimizer = pipeline(millions), Adam(0.001)
    (shim,) = nlp.get_pipe("of_many").model.shims
    gradient = np.ones((WIDTH, WIDTH), dtype="float32")
    for name, parameter in shim._model.named_parameters():
        optimizer((shim.id, name), parameter.detach().numpy(), gradient.copy())
    rows = []

    with tempfile.TemporaryDirectory() as folder:

        def write() -> None:
            weights, graded = read_weights(nlp, ())
            moments, numbers = read_optimizer(nlp, optimizer)
            tensors = {f"w/{name}": t for name, t in weights.items()} | moments
            write_checkpoint(Path(folder), tensors, {"optimizer": numbers, "graded": graded})

        def read() -> None:
            tensors = read_tensors(Path(folder))
            start = "w/"
            weights = {n.removeprefix(start): t for n, t in tensors.items() if n.startswith(start)}
            set_weights(nlp, (), weights, ())
            _, numbers = read_optimizer(nlp, optimizer)
            set_optimizer(nlp, Adam(0.001), tensors, numbers)

        for name, step in (("write", write), ("write again", write), ("read", read)):
            wall, cpu = perf_counter(), process_time()
            step()
            rows.append((name, f"{perf_counter() - wall:.2f}", f"{process_time() - cpu:.2f}"))
        size = (Path(folder) / CHECKPOINT).stat().st_size / 1e6
    msg.table(rows, header=("", "seconds", "CPU seconds"), divider=True, aligns=("l", "r", "r"))
    msg.text(f"{size:.0f} MB")


if __name__ == "__main__":
    typer.run(main)
