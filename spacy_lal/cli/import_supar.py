"""`import supar`: supar's constituents or heads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .import_published import LangOption, LicenceOption, OutArgument, run_import

if TYPE_CHECKING:
    from ..published.imported import Imported


def import_supar(
    checkpoint: Annotated[
        Path, typer.Argument(help="A file that supar's `save` wrote.", exists=True)
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
    """Write a pipeline that finds what supar's CHECKPOINT finds: crf-constituency or
    biaffine-dependency.
    """

    def read() -> Imported:
        from ..published.supar import read_supar

        return read_supar(checkpoint, encoder, lang)

    run_import(checkpoint, output, licence, read, () if encoder is None else (encoder,))
