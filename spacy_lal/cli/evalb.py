"""`evalb`: compare two files of trees as EVALB does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ..scoring.evalb import EvalbParameters, evaluate_files
from .checks import clear_errors


def evalb(
    gold: Annotated[Path, typer.Argument(help="Gold trees, one per line.")],
    test: Annotated[Path, typer.Argument(help="Trees to evaluate, one per line.")],
    prm: Annotated[
        str,
        typer.Option(
            "--prm",
            "-p",
            help="nk, new, collins, sample, sequoia, icon, greynir, niivtb, or a .prm file.",
        ),
    ] = "nk",
    cutoff: Annotated[
        int | None,
        typer.Option("--cutoff", "-c", help="Longest sentence that the second summary counts."),
    ] = None,
    max_errors: Annotated[
        int | None,
        typer.Option(
            "--max-errors", "-e", help="Stop if there are more sentence errors than this."
        ),
    ] = None,
) -> None:
    """Labelled bracketing recall, precision and F1 of TEST against GOLD, as EVALB prints them.

    Messages about sentences that can't be compared go to standard error; after too many of them
    there is no summary and the exit status is 1.
    """
    with clear_errors("evalb"):
        params = EvalbParameters.load(prm)
        if cutoff is not None:
            params = replace(params, cutoff_length=cutoff)
        if max_errors is not None:
            params = replace(params, max_errors=max_errors)
        report = evaluate_files(gold, test, params)
    typer.echo(report.format(), nl=False)
    for message in report.errors:
        typer.echo(message.encode("utf8", "backslashreplace").decode("utf8"), err=True)
    if report.aborted:
        raise typer.Exit(1)
