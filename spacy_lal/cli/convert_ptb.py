"""`convert ptb`: the Penn Treebank's Wall Street Journal, by its usual sections.

Heads and relations, or tags, may come from CoNLL-X files {train,dev,test}.conllx that have the
same sentences in the same order; without them, heads may come from head rules.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from wasabi import msg

from ..formats.head_rules import HeadRules
from ..formats.ptb import read_trees, section_files, sections
from ..formats.splits import PARTS, Annotation, Take
from ..trees.brackets import ptb_unescape
from .checks import clear_errors
from .convert_parts import ConllxOption, PartsArgument, RulesOption, TakeOption, convert_parts
from .converting import ReportOption


def convert_ptb(
    wsj: Annotated[Path, typer.Argument(help="Folder of the sections: 00 … 24.", exists=True)],
    output: PartsArgument,
    train: Annotated[str, typer.Option("--train", help="Sections to train on.")] = "02-21",
    dev: Annotated[str, typer.Option("--dev", help="Development sections.")] = "22",
    test: Annotated[str, typer.Option("--test", help="Test sections.")] = "23",
    conllx: ConllxOption = "",
    take: TakeOption = Take.heads,
    heads: RulesOption = HeadRules.none,
    report: ReportOption = None,
) -> None:
    """Convert the Penn Treebank's WSJ, split by sections."""
    files: dict[str, list[Path]] = {}
    with clear_errors("convert"):
        for part, text in zip(PARTS, (train, dev, test), strict=True):
            files[part], empty = section_files(wsj, sections(text))
            if not files[part]:
                raise FileNotFoundError(f"no trees of sections {text} in {wsj}")
            if empty:
                msg.warn(f"{part}: no trees in sections {', '.join(empty)}")
        annotation = Annotation(conllx, take, ptb_unescape, heads)
        read = partial(read_trees, rules=annotation.rules_in_use)
        convert_parts(files, read, output, "en", report, annotation)
