"""Convert the French Treebank, as in the SPMRL shared tasks, to .spacy files.

Labels lose their ##features## and functions (NP-SUJ is NP); those of multiword expressions, as MWN
or NPP+, are phrases like others. SENT stays a constituent: the root is the bracket without a label
above it, and the shared tasks' evalb_spmrl ignores TOP, ROOT, S1 and VROOT, but counts SENT.

D. Seddah et al. (2013), Overview of the SPMRL 2013 Shared Task.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import splits
import typer
from splits import PARTS, Losses
from wasabi import msg

from spacy_lal.treebanks import brackets
from spacy_lal.treebanks.docs import Sentence
from spacy_lal.treebanks.files import FormatError, read_text_as
from spacy_lal.trees import BracketError

ENCODINGS = ("utf-8-sig", "latin-1")
"""Any bytes are valid in the second, so it must be the last."""


def find_file(folder: Path, part: str, given: str = "") -> Path:
    """The file of a split: `given`, from `folder`, or the one PART.French.gold.ptb within it.

    Raises FileNotFoundError, or ValueError if there are several.
    """
    if given:
        if not (folder / given).is_file():
            raise FileNotFoundError(f"{part}: no file {folder / given}")
        return folder / given
    name = f"{part}.French.gold.ptb"
    found = sorted(p for p in folder.rglob(f"{part}.*") if _plain_name(p) == name.lower())
    if not found:
        raise FileNotFoundError(f"{part}: no {name} in {folder}")
    if len(found) > 1:
        raise ValueError(f"{part}: {found[0]} and {found[1]}; say which")
    return found[0]


def _plain_name(path: Path) -> str:
    """Lower case, without the suffix of compression."""
    name = path.name.lower()
    return name.removesuffix(".xz").removesuffix(".gz").removesuffix(".bz2")


def read_sentences(
    path: Path, losses: Losses, *, encoding: str = "auto", functions: bool = False
) -> Iterator[Sentence]:
    """Sentences with tags and constituents. Raises BracketError, FormatError, ValueError."""
    text, used = read_text_as(path, ENCODINGS if encoding == "auto" else (encoding,))
    if encoding == "auto" and used != ENCODINGS[0]:
        msg.warn(f"{path} isn't UTF-8, read as {used}")
    trees = brackets.parse_sentences(text, source=str(path))
    return splits.clean_sentences(trees, losses, functions=functions)


def main(
    ftb: Annotated[Path, typer.Argument(help="Folder of train.French.gold.ptb …", exists=True)],
    output: Annotated[Path, typer.Argument(help="Folder for {train,dev,test}.spacy.")],
    train: Annotated[str, typer.Option(help="File in FTB to train on, by another name.")] = "",
    dev: Annotated[str, typer.Option(help="Development file, likewise.")] = "",
    test: Annotated[str, typer.Option(help="Test file, likewise.")] = "",
    encoding: Annotated[
        str, typer.Option(help="Of the files: utf-8, latin-1, or auto for what fits.")
    ] = "auto",
    functions: Annotated[bool, typer.Option(help="Keep functions: NP-SUJ.")] = False,
) -> None:
    """Convert the French Treebank in SPMRL's bracketed format to one Doc a sentence."""
    given = dict(zip(PARTS, (train, dev, test), strict=True))
    losses = Losses()
    try:
        files = {part: find_file(ftb, part, name) for part, name in given.items()}
        splits.check_apart({part: [path] for part, path in files.items()})
        parts = {
            part: (
                path.name,
                list(read_sentences(path, losses, encoding=encoding, functions=functions)),
            )
            for part, path in files.items()
        }
        splits.write_parts(parts, output, "fr", losses)
    except (BracketError, FormatError, LookupError, OSError, ValueError) as error:
        typer.echo(f"convert_ftb: {error}", err=True)
        raise typer.Exit(1) from None


if __name__ == "__main__":
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(main)
    app()
