"""`convert sequoia`: the French Sequoia treebank, with UD_French-Sequoia's heads."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..formats.cleaning import Losses
from ..formats.sequoia import join, tree_files
from ..formats.splits import PARTS
from .checks import check_outputs, clear_errors
from .convert_parts import PartsArgument, shown, write_parts
from .converting import Counts, ReportOption, counts_of, finish

TOKENS = "train-tokens"
"""The name of the file with the training sentences that only have tokens."""


def convert_sequoia(
    trees: Annotated[
        Path, typer.Argument(help="A file of all trees, or a folder of train.* …", exists=True)
    ],
    output: PartsArgument,
    ud: Annotated[
        Path, typer.Option("--ud", help="UD_French-Sequoia: a release or a checkout.", exists=True)
    ],
    report: ReportOption = None,
) -> None:
    """Join Sequoia's trees with UD's heads, by their text; split as UD is.

    train-tokens.spacy has the training sentences in tokens as they are written, for parsers of raw
    text: compounds are several tokens under one bracket.
    """
    with clear_errors("convert"):
        files = [*tree_files(trees), *ud.glob("*.conllu*")]
        check_outputs([*(output / f"{name}.spacy" for name in (*PARTS, TOKENS)), report], files)
        losses = Losses()
        parts = join(trees, ud, losses)
        results: dict[str, Counts] = {
            part: counts_of(content.sentences, headless=content.unjoined)
            for part, content in parts.items()
        }
        results[TOKENS] = counts_of(parts["train"].tokens)
        results["all"] = {"dropped": losses.dropped, **shown(losses)}
        written = {part: content.sentences for part, content in parts.items()}
        write_parts(written | {TOKENS: parts["train"].tokens}, output, "fr")
        finish(results, report)
