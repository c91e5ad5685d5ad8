"""Convert the Penn Treebank's Wall Street Journal by its usual sections to .spacy files.

Heads and relations, or tags, may come from CoNLL-X files {train,dev,test}.conllx that have the
same sentences in the same order; without them, heads may come from head rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import splits
import typer
from splits import HeadRules, Take
from wasabi import msg

from spacy_lal.treebanks import brackets
from spacy_lal.treebanks.docs import Sentence
from spacy_lal.treebanks.files import FormatError
from spacy_lal.trees import BracketError, ptb_unescape

SUFFIXES = {".mrg", ".tree", ".ptb"}


def sections(text: str) -> list[str]:
    """Section names: "02-21" is 02, 03 … 21 and "00,24" these two. Raises ValueError."""
    return [f"{number:02}" for number in splits.numbers(text)]


def section_files(wsj: Path, names: Sequence[str]) -> tuple[list[Path], list[str]]:
    """The sections' files in order, and which sections have none."""
    files: list[Path] = []
    empty: list[str] = []
    for name in names:
        found = sorted(p for p in (wsj / name).rglob("*") if p.suffix.lower() in SUFFIXES)
        files += found
        if not found:
            empty.append(name)
    return files, empty


def read_trees(path: Path, rules: HeadRules = HeadRules.none) -> Iterator[Sentence]:
    """Sentences with tags and bare constituents, all escapes undone, and heads by rules."""
    trees = brackets.read_treebank(path, unescape="ptb")
    return splits.sentences_of(trees, spaces=True, rules=rules)


def main(
    wsj: Annotated[Path, typer.Argument(help="Folder of the sections: 00 … 24.", exists=True)],
    output: Annotated[Path, typer.Argument(help="Folder for {train,dev,test}.spacy.")],
    train: Annotated[str, typer.Option(help="Sections to train on.")] = "02-21",
    dev: Annotated[str, typer.Option(help="Development sections.")] = "22",
    test: Annotated[str, typer.Option(help="Test sections.")] = "23",
    conllx: Annotated[str, typer.Option(help="Folder of CoNLL-X files; empty for none.")] = "",
    take: Annotated[Take, typer.Option(help="What to take from them.")] = Take.heads,
    heads: Annotated[
        HeadRules, typer.Option(help="Head rules, where no CoNLL-X file gives heads.")
    ] = HeadRules.none,
) -> None:
    """Convert WSJ, split by sections, to one Doc a sentence."""
    annotation = splits.Annotation(conllx, take, ptb_unescape, heads)
    table = []
    try:
        annotation.check()
        for split, text in (("train", train), ("dev", dev), ("test", test)):
            files, empty = section_files(wsj, sections(text))
            if not files:
                raise FileNotFoundError(f"no trees of sections {text} in {wsj}")
            if empty:
                msg.warn(f"{split}: no trees in sections {', '.join(empty)}")
            table.append(
                splits.write_split(split, text, files, read_trees, annotation, output, "en")
            )
    except (BracketError, FormatError, OSError, ValueError) as error:
        typer.echo(f"convert_ptb: {error}", err=True)
        raise typer.Exit(1) from None
    msg.table(table, header=splits.HEADER, divider=True)


if __name__ == "__main__":
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(main)
    app()
