"""`evaluate`: EVALB, attachment scores and speed of a pipeline."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from wasabi import msg

from .measuring import MetricsOption, ThreadsOption, measuring


def evaluate(
    model: Annotated[str, typer.Argument(help="A pipeline's name or folder.")],
    corpus: Annotated[Path, typer.Argument(help="A .spacy file with trees.", exists=True)],
    prm: Annotated[
        str, typer.Option("--prm", help="EVALB parameters: a name or a .prm file.")
    ] = "nk",
    output: MetricsOption = None,
    gpu_id: Annotated[int, typer.Option("--gpu-id", help="GPU, or -1 for the CPU.")] = -1,
    threads: ThreadsOption = 0,
    batch_size: Annotated[
        int, typer.Option("--batch-size", min=0, help="Docs per batch; 0 for the pipeline's.")
    ] = 0,
) -> None:
    """EVALB, attachment scores, tag accuracy and speed of MODEL on CORPUS.

    MODEL reads the words as they are in CORPUS, one sentence a Doc, and predicts everything else.
    """
    with measuring("evaluate", output, [corpus], threads) as result:
        import spacy
        import torch

        from ..evaluation import parses

        if gpu_id >= 0:
            spacy.require_gpu(gpu_id)
        result |= parses.evaluate(model, corpus, prm, batch_size or None)
        result["device"] = "cpu" if gpu_id < 0 else torch.cuda.get_device_name(gpu_id)
        msg.table([(key, _shown(value)) for key, value in result.items() if _shown(value)])


def _shown(value: object) -> str:
    """A number or text; scores are fractions, and shown in percent."""
    if isinstance(value, float) and 0 <= value <= 1:
        return f"{100 * value:.2f}"
    return "" if value is None or isinstance(value, dict) else str(value)
