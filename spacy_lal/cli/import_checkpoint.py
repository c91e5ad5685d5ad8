"""`import`: other parsers' published checkpoints as pipelines of this package."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from wasabi import msg

from .checks import check_folder, clear_errors


class Kind(StrEnum):
    """The parser that a checkpoint belongs to."""

    benepar = "benepar"
    lal_parser = "lal-parser"
    supar = "supar"


def import_checkpoint(
    checkpoint: Annotated[
        Path,
        typer.Argument(
            help="A .pt file of the LAL parser (Mrini et al. 2020), supar (crf-constituency or "
            "biaffine-dependency) or benepar 0.2, or the folder of a release of benepar.",
            exists=True,
        ),
    ],
    output: Annotated[Path, typer.Argument(help="Folder of the pipeline to write.")],
    kind: Annotated[Kind | None, typer.Option(help="Default: what it looks like.")] = None,
    encoder: Annotated[
        Path | None, typer.Option(help="Folder of a transformer's config.json and tokenizer.json.")
    ] = None,
    escaped: Annotated[
        bool, typer.Option("--escaped", help='benepar: tokens as in treebanks, "-LRB-", "``".')
    ] = False,
    lang: Annotated[str, typer.Option(help="Language code of the pipeline.")] = "en",
    licence: Annotated[
        str | None, typer.Option("--license", help="Licence of the weights, for meta.json.")
    ] = None,
) -> None:
    """Write a pipeline that finds the same trees and heads as CHECKPOINT.

    Nothing is downloaded, and the other parser isn't needed.
    """
    with clear_errors("import", checkpoint):
        from ..published.benepar_checkpoints import MODEL, read_benepar
        from ..published.imported import write_imported
        from ..published.lal_parser import read_lal_parser
        from ..published.restricted import looks_like
        from ..published.supar import read_supar

        check_folder(output, [checkpoint, *([] if encoder is None else [encoder])])
        kind = kind or Kind(looks_like(checkpoint))
        if escaped and kind is not Kind.benepar:
            raise ValueError(f"--escaped is for benepar, and this is a checkpoint of {kind}")
        if kind is Kind.benepar:
            nlp = read_benepar(checkpoint, lang=lang, encoder=encoder, escaped=escaped)
        elif kind is Kind.lal_parser:
            nlp = read_lal_parser(checkpoint, encoder, lang)
        else:
            nlp = read_supar(checkpoint, encoder, lang)
        weights = checkpoint / MODEL if checkpoint.is_dir() else checkpoint
        write_imported(nlp, kind, weights, output, licence)
    msg.good(str(output))
