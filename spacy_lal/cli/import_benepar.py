"""`import benepar`: a model of the Berkeley Neural Parser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .import_published import LangOption, LicenceOption, OutArgument, run_import

if TYPE_CHECKING:
    from ..published.imported import Imported


def import_benepar(
    model: Annotated[
        Path, typer.Argument(help="Folder of a release of benepar 0.2, or a .pt file.", exists=True)
    ],
    output: OutArgument,
    encoder: Annotated[
        Path | None,
        typer.Option("--encoder", help="For a .pt file: folder with config.json, tokenizer.json."),
    ] = None,
    escaped: Annotated[
        bool, typer.Option("--escaped", help='Tokens will be as in treebanks: "-LRB-", "``".')
    ] = False,
    lang: LangOption = "en",
    licence: LicenceOption = None,
) -> None:
    """Write a pipeline that finds the trees which benepar's MODEL finds. It needs no benepar."""

    def read() -> Imported:
        from ..published.benepar import read_benepar

        return read_benepar(model, lang=lang, encoder=encoder, escaped=escaped)

    run_import(model, output, licence, read, () if encoder is None else (encoder,))
