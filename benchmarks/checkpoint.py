"""Size of a training's checkpoint, and the time that it takes to write, read and restore.

    python benchmarks/checkpoint.py [--millions 23] [--threads 1] [--repeats 5] [--json FILE]

Of a torch module of so many million parameters with Adam's two moments and averages.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from measure import headline, machine, options, parsed, seconds, write
from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Adam, Model, Optimizer, PyTorchWrapper
from torch import nn

from spacy_lal.training.checkpoint import CHECKPOINT, read_tensors, write_checkpoint
from spacy_lal.training.parameters import read_optimizer, read_weights, set_optimizer, set_weights

WIDTH = 1000


class Pipe:
    """A component that has a model and does nothing with it."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def __call__(self, doc: Doc) -> Doc:
        return doc


def trained(millions: int) -> tuple[Language, Optimizer]:
    """A pipeline with so many parameters, in matrices of a million, after one update."""
    layers = [nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(millions)]
    model = PyTorchWrapper(nn.Sequential(*layers))
    nlp = spacy.blank("en")
    Language.factory("large", func=lambda nlp, name: Pipe(model))
    nlp.add_pipe("large")
    optimizer = Adam(0.001)
    for name, parameter in model.shims[0]._model.named_parameters():
        gradient = np.ones((WIDTH, WIDTH), dtype="float32")
        optimizer((model.shims[0].id, name), parameter.detach().numpy(), gradient)
    return nlp, optimizer


def measured(folder: Path, millions: int, repeats: int) -> dict[str, Any]:
    nlp, optimizer = trained(millions)
    weights, graded = read_weights(nlp, ())
    moments, numbers = read_optimizer(nlp, optimizer)

    def restore() -> None:
        tensors = read_tensors(folder)
        set_weights(nlp, (), {name: tensors[name] for name in weights}, graded)
        set_optimizer(nlp, Adam(0.001), {name: tensors[name] for name in moments}, numbers)

    writing = seconds(lambda: write_checkpoint(folder, weights | moments, {}), repeats)
    reading = seconds(restore, repeats)
    size = (folder / CHECKPOINT).stat().st_size / 1e6
    return {"millions": millions, "write": writing, "restore": reading, "mb": size}


def main() -> None:
    parser = options(__doc__, repeats=5)
    parser.add_argument("--millions", type=int, default=23, help="millions of parameters")
    arguments = parsed(parser)
    report = machine(arguments, "spacy", "torch", "safetensors")
    print(headline(report))
    with tempfile.TemporaryDirectory() as folder:
        report["checkpoint"] = found = measured(Path(folder), arguments.millions, arguments.repeats)
    print(
        f"{found['millions']} million parameters: {found['mb']:.0f} MB, "
        f"written in {found['write']:.2f} s, restored in {found['restore']:.2f} s"
    )
    write(arguments.json, report)


if __name__ == "__main__":
    main()
