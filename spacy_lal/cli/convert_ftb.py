"""`convert ftb`: the French Treebank, as in the SPMRL shared tasks."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ..formats.ftb import find_file, read_sentences
from ..formats.splits import PARTS
from .checks import clear_errors
from .convert_parts import PartsArgument, convert_parts
from .converting import ReportOption


def convert_ftb(
    ftb: Annotated[Path, typer.Argument(help="Folder of train.French.gold.ptb …", exists=True)],
    output: PartsArgument,
    train: Annotated[str, typer.Option("--train", help="Another training file in FTB.")] = "",
    dev: Annotated[str, typer.Option("--dev", help="Another development file.")] = "",
    test: Annotated[str, typer.Option("--test", help="Another test file.")] = "",
    encoding: Annotated[
        str, typer.Option("--encoding", help="utf-8, latin-1, or auto to detect it.")
    ] = "auto",
    functions: Annotated[
        bool, typer.Option("--functions/--no-functions", help="Keep functions: NP-SUJ.")
    ] = False,
    report: ReportOption = None,
) -> None:
    """Convert the French Treebank in SPMRL's bracketed format."""
    given = dict(zip(PARTS, (train, dev, test), strict=True))
    with clear_errors("convert"):
        files = {part: [find_file(ftb, part, name)] for part, name in given.items()}
        read = partial(read_sentences, encoding=encoding, functions=functions)
        convert_parts(files, read, output, "fr", report)
