"""Convert the Penn Chinese Treebank by the numbers of its files to .spacy files.

Two splits of version 5.1 are in use, one for constituents and one for dependencies. Heads and
relations, or tags, may come from CoNLL-X files {train,dev,test}.conllx that have the same
sentences in the same order; without them, heads may come from head rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import splits
import typer
from splits import HeadRules, Take
from wasabi import msg

from spacy_lal.treebanks import brackets
from spacy_lal.treebanks.docs import Sentence
from spacy_lal.treebanks.files import FormatError
from spacy_lal.trees import BracketError

NAME = re.compile(r"chtb_(\d+)\.\w+", re.IGNORECASE)
"""chtb_001.fid; in later versions chtb_0001.nw and other genres."""

ENCODINGS = ("utf-8-sig", "gb18030")
"""Of version 5.1 there are files in both; text in the second is never valid in the first."""


class Split(StrEnum):
    """constituency: as in most work on constituents. dependency: Zhang and Clark (2008)."""

    constituency = "constituency"
    dependency = "dependency"


SPLITS: dict[Split, dict[str, str]] = {
    Split.constituency: {"train": "001-270,440-1151", "dev": "301-325", "test": "271-300"},
    Split.dependency: {
        "train": "001-815,1001-1136",
        "dev": "886-931,1148-1151",
        "test": "816-885,1137-1147",
    },
}


def numbered_files(folder: Path) -> dict[int, Path]:
    """The treebank's files by number. Raises ValueError if two have the same."""
    files: dict[int, Path] = {}
    for path in sorted(folder.rglob("*")):
        if match := NAME.fullmatch(path.name):
            number = int(match[1])
            if number in files:
                raise ValueError(f"{files[number]} and {path} have the same number")
            files[number] = path
    return files


def reader(encoding: str) -> Callable[[Path, HeadRules], Iterable[Sentence]]:
    """What reads a file's sentences in an encoding, or in the first that fits if it is "auto"."""

    def read(path: Path, rules: HeadRules = HeadRules.none) -> Iterable[Sentence]:
        for name in ENCODINGS if encoding == "auto" else (encoding,):
            try:
                trees = brackets.read_treebank(path, encoding=name)
                break
            except FormatError:
                if name in (encoding, ENCODINGS[-1]):
                    raise
        return splits.sentences_of(trees, spaces=False, rules=rules)

    return read


def main(
    ctb: Annotated[Path, typer.Argument(help="Folder of chtb_001.fid …", exists=True)],
    output: Annotated[Path, typer.Argument(help="Folder for {train,dev,test}.spacy.")],
    split: Annotated[Split, typer.Option(help="Which usual split.")] = Split.constituency,
    train: Annotated[str, typer.Option(help="Files to train on, instead of the split's.")] = "",
    dev: Annotated[str, typer.Option(help="Development files, likewise.")] = "",
    test: Annotated[str, typer.Option(help="Test files, likewise.")] = "",
    encoding: Annotated[
        str, typer.Option(help="Of the files: gb18030, utf-8, or auto for what fits.")
    ] = "auto",
    conllx: Annotated[str, typer.Option(help="Folder of CoNLL-X files; empty for none.")] = "",
    take: Annotated[Take, typer.Option(help="What to take from them.")] = Take.heads,
    heads: Annotated[
        HeadRules, typer.Option(help="Head rules, where no CoNLL-X file gives heads.")
    ] = HeadRules.none,
) -> None:
    """Convert the Chinese Treebank, split by file numbers, to one Doc a sentence."""
    annotation = splits.Annotation(conllx, take, str, heads)
    given = {"train": train, "dev": dev, "test": test}
    table = []
    try:
        annotation.check()
        read = reader(encoding)
        files = numbered_files(ctb)
        for part, usual in SPLITS[split].items():
            text = given[part] or usual
            chosen = [files[n] for n in splits.numbers(text, "files") if n in files]
            if not chosen:
                raise FileNotFoundError(f"no files chtb_*.fid with numbers {text} in {ctb}")
            table.append(splits.write_split(part, text, chosen, read, annotation, output, "zh"))
    except (BracketError, FormatError, LookupError, OSError, ValueError) as error:
        typer.echo(f"convert_ctb: {error}", err=True)
        raise typer.Exit(1) from None
    msg.table(table, header=splits.HEADER, divider=True)


if __name__ == "__main__":
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(main)
    app()
