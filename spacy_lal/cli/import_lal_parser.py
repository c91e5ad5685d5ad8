"""`import lal-parser`: the released parser of Mrini et al. 2020."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .import_published import LangOption, LicenceOption, OutArgument, run_import

if TYPE_CHECKING:
    from ..published.imported import Imported


def import_lal_parser(
    checkpoint: Annotated[
        Path, typer.Argument(help="The .pt file that its training saved.", exists=True)
    ],
    output: OutArgument,
    encoder: Annotated[
        Path | None,
        typer.Option(
            "--encoder", help="Folder with config.json and tokenizer.json of its transformer."
        ),
    ] = None,
    lang: LangOption = "en",
    licence: LicenceOption = None,
) -> None:
    """Write a pipeline that finds the trees and heads which CHECKPOINT finds."""

    def read() -> Imported:
        from ..published.lal_parser import read_lal_parser

        return read_lal_parser(checkpoint, encoder, lang)

    run_import(checkpoint, output, licence, read, () if encoder is None else (encoder,))
