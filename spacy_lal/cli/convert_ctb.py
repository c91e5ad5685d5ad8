"""`convert ctb`: the Penn Chinese Treebank, by the numbers of its files.

Heads and relations, or tags, may come from CoNLL-X files {train,dev,test}.conllx that have the
same sentences in the same order; without them, heads may come from head rules.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ..formats.ctb import SPLITS, Split, numbered_files, read_trees
from ..formats.head_rules import HeadRules
from ..formats.splits import Annotation, Take, numbers
from .checks import clear_errors
from .convert_parts import ConllxOption, PartsArgument, RulesOption, TakeOption, convert_parts
from .converting import ReportOption


def convert_ctb(
    ctb: Annotated[Path, typer.Argument(help="Folder of chtb_001.fid …", exists=True)],
    output: PartsArgument,
    split: Annotated[
        Split, typer.Option("--split", help="Which common split to use.")
    ] = Split.constituency,
    train: Annotated[
        str, typer.Option("--train", help="Files to train on, instead of the split's.")
    ] = "",
    dev: Annotated[str, typer.Option("--dev", help="Development files, likewise.")] = "",
    test: Annotated[str, typer.Option("--test", help="Test files, likewise.")] = "",
    encoding: Annotated[
        str, typer.Option("--encoding", help="gb18030, utf-8, or auto to detect it.")
    ] = "auto",
    conllx: ConllxOption = "",
    take: TakeOption = Take.heads,
    heads: RulesOption = HeadRules.none,
    report: ReportOption = None,
) -> None:
    """Convert the Chinese Treebank, split by file numbers."""
    given = {"train": train, "dev": dev, "test": test}
    files: dict[str, list[Path]] = {}
    with clear_errors("convert"):
        there = numbered_files(ctb)
        for part, usual in SPLITS[split].items():
            text = given[part] or usual
            files[part] = [there[n] for n in numbers(text, "files") if n in there]
            if not files[part]:
                raise FileNotFoundError(f"no files chtb_*.fid with numbers {text} in {ctb}")
        annotation = Annotation(conllx, take, str, heads)
        read = partial(read_trees, encoding=encoding, rules=annotation.rules_in_use)
        convert_parts(files, read, output, "zh", report, annotation)
