"""`ged-pairs`: which errors a pipeline finds in sentences as a textbook has them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .measuring import MetricsOption, ThreadsOption, measuring


def ged_pairs(
    model: Annotated[str, typer.Argument(help="A pipeline with `gec_detector`: name or folder.")],
    pairs: Annotated[
        Path,
        typer.Argument(
            help="Columns kind, wrong and right; [brackets] around wrong words.", exists=True
        ),
    ],
    output: MetricsOption = None,
    threads: ThreadsOption = 0,
) -> None:
    """Count wrong sentences whose error MODEL finds, and right sentences that it marks."""
    with measuring("ged-pairs", output, [pairs], threads) as result:
        from ..evaluation.pairs import evaluate_pairs

        result |= evaluate_pairs(model, pairs)
        kinds = result["kinds"] | {"all": result["all"]}
        width = max(map(len, kinds))
        typer.echo(f"{'':{width}}  pairs   found  elsewhere  right")
        for kind, of in kinds.items():
            typer.echo(
                f"{kind:{width}}  {of['pairs']:5}  {of['found']:5.1f}%"
                f"  {of['marked_elsewhere']:8.1f}%  {of['right_marked']:4.1f}%"
            )
