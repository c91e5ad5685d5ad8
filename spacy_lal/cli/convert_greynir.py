"""`convert greynir`: GreynirCorpus, gold trees of Icelandic."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..formats.greynir import part_files, read_sentences
from .checks import clear_errors
from .convert_parts import PartsArgument, convert_parts
from .converting import ReportOption


def convert_greynir(
    greynir: Annotated[
        Path,
        typer.Argument(help="A checkout, or a folder of train.*, dev.* and test.*", exists=True),
    ],
    output: PartsArgument,
    report: ReportOption = None,
) -> None:
    """Convert GreynirCorpus: its devset, every tenth file for development, and its testset."""
    with clear_errors("convert"):
        convert_parts(part_files(greynir), read_sentences, output, "is", report)
