"""`evaluate-ged`: grammatical error detection of a pipeline, at its threshold and at others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .measuring import MetricsOption, ThreadsOption, measuring


def evaluate_ged(
    model: Annotated[str, typer.Argument(help="A pipeline with `gec_detector`: name or folder.")],
    corpora: Annotated[list[Path], typer.Argument(help=".spacy files with errors.", exists=True)],
    tune: Annotated[
        Path | None,
        typer.Option(
            "--tune",
            help="Use the threshold that gives the best F0.5 on this .spacy file.",
            exists=True,
        ),
    ] = None,
    join: Annotated[
        int,
        typer.Option(
            "--join", min=1, help="Sentences per Doc; if several, without gold boundaries."
        ),
    ] = 1,
    output: MetricsOption = None,
    threads: ThreadsOption = 0,
) -> None:
    """Precision, recall and F0.5 of MODEL on each of CORPORA."""
    read = [*corpora, *([tune] if tune else [])]
    with measuring("evaluate-ged", output, read, threads) as result:
        from ..evaluation import errors

        result |= errors.evaluate(model, corpora, tune, join)
