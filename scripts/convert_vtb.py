"""Convert the Vietnamese Treebank, as VLSP distributes it, to .spacy files.

Sentences stand between <s> and </s>, as in the .prd files, or are plain bracketings. Labels lose
their functions and tags their marks of heads (NP-SUB is NP, N-H is N), and are otherwise as the
treebank writes them. Words are brought to Unicode's NFC; their syllables are joined by underscores,
which stay: PhoBERT reads words so. LBKT and RBKT are brackets again. Empty elements, as *T* and
*E*, are removed.

P.-T. Nguyen, X.-L. Vu, T.-M.-H. Nguyen, V.-H. Nguyen and H.-P. Le (2009), Building a Large
Syntactically-Annotated Corpus of Vietnamese.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Annotated
from unicodedata import normalize

import splits
import typer
from splits import PARTS, Losses
from wasabi import msg

from spacy_lal.treebanks import brackets
from spacy_lal.treebanks.docs import Sentence
from spacy_lal.treebanks.files import FormatError, read_text
from spacy_lal.trees import BracketError, ConstituentTree

SUFFIXES = {".prd", ".mrg", ".ptb", ".tree"}
"""Files to take from a folder; beside them are raw texts of the same names."""

NULL_WORDS = re.compile(r"\*[A-Z0]\*(?:-\d+)?")

BRACKETS = {"LBKT": "(", "RBKT": ")"}

# (N-H hiện nay): a tag and two words or more.
_SYLLABLES = re.compile(r"(?<=\()([^\s()]+[ \t]+)([^\s()]+(?:[ \t]+[^\s()]+)+)(?=[ \t]*\))")


class Malformed(StrEnum):
    """What to do at a sentence between <s> and </s> that isn't one well-formed bracketing."""

    stop = "stop"
    drop = "drop"


def tree_files(path: Path) -> list[Path]:
    """The file itself, or a folder's files of trees, by name."""
    if not path.is_dir():
        return [path]
    return sorted(p for p in path.rglob("*") if p.is_file() and p.suffix.lower() in SUFFIXES)


def named_files(folder: Path, names: str) -> list[Path]:
    """What is named, commas between: files, folders and patterns, from `folder`; train is train.*
    if there is nothing just so. Raises FileNotFoundError."""
    files: dict[Path, None] = {}
    for name in map(str.strip, names.split(",")):
        found: list[Path] = []
        if name and (folder / name).exists():
            found = [folder / name]
        elif name and not Path(name).is_absolute():
            found = sorted(folder.glob(name)) or sorted(folder.glob(f"{name}.*"))
        inside = [file for path in found for file in tree_files(path)]
        if not inside:
            raise FileNotFoundError(f"no trees in {str(folder / name) if name else repr(names)}")
        files |= dict.fromkeys(inside)
    return list(files)


def shares(text: str) -> list[int]:
    """ "18:1:1" as numbers. Raises ValueError."""
    found = text.split(":")
    if len(found) != len(PARTS) or not all(part.isdecimal() and int(part) for part in found):
        raise ValueError(f"ratio {text!r}: write it as 18:1:1, of train, dev and test")
    return [int(part) for part in found]


def cut(sentences: Sequence[Sentence], ratio: Sequence[int]) -> list[Sequence[Sentence]]:
    """As many pieces as `ratio` has numbers, in order, nothing shuffled."""
    ends = [len(sentences) * end // sum(ratio) for end in accumulate(ratio, initial=0)]
    return [sentences[start:end] for start, end in pairwise(ends)]


def read_sentences(paths: Iterable[Path], losses: Losses) -> Iterator[Sentence]:
    """Sentences with bare tags and constituents. Raises BracketError, FormatError, ValueError."""
    for path in paths:
        text, joined = _SYLLABLES.subn(
            lambda match: match[1] + "_".join(match[2].split()), read_text(path)
        )
        losses.counts["words whose syllables were apart"] += joined
        trees = (
            sentence._replace(tree=sentence.tree and with_root(sentence.tree))
            for sentence in brackets.parse_sentences(text, source=str(path))
        )
        for sentence in splits.clean_sentences(trees, losses, null_words=NULL_WORDS):
            words = [BRACKETS.get(word, normalize("NFC", word)) for word in sentence.words]
            losses.counts["words brought to NFC"] += sum(
                word not in BRACKETS and word != new
                for word, new in zip(sentence.words, words, strict=True)
            )
            yield replace(sentence, words=words)


def with_root(tree: ConstituentTree) -> ConstituentTree:
    """The tree; S1 is a clause here, not the root that it is called in other treebanks."""
    return ConstituentTree("", (tree,)) if tree.label == "S1" else tree


def main(
    vtb: Annotated[Path, typer.Argument(help="Folder or file of trees.", exists=True)],
    output: Annotated[Path, typer.Argument(help="Folder for {train,dev,test}.spacy.")],
    train: Annotated[
        str, typer.Option(help="Files, folders or patterns in VTB to train on: a.prd,b*.prd")
    ] = "",
    dev: Annotated[str, typer.Option(help="Development files, likewise.")] = "",
    test: Annotated[str, typer.Option(help="Test files, likewise.")] = "",
    ratio: Annotated[
        str,
        typer.Option(help="Instead: cut the sentences of all files in this ratio, as 18:1:1."),
    ] = "",
    malformed: Annotated[
        Malformed, typer.Option(help="Where <s> … </s> isn't well-formed: stop, or drop it.")
    ] = Malformed.stop,
) -> None:
    """Convert the Vietnamese Treebank to one Doc a sentence.

    Without options, VTB has train, dev and test: folders, or files with any suffix.
    """
    given = dict(zip(PARTS, (train, dev, test), strict=True))
    losses = Losses(drop_malformed=malformed is Malformed.drop)
    try:
        parts: dict[str, tuple[str, Sequence[Sentence]]]
        if ratio:
            if any(given.values()):
                raise ValueError("either a ratio or files, not both")
            numbers = shares(ratio)
            sentences = list(read_sentences(tree_files(vtb), losses))
            parts = {
                part: (f"{number}/{sum(numbers)} of {vtb}", piece)
                for part, number, piece in zip(PARTS, numbers, cut(sentences, numbers), strict=True)
            }
        elif not vtb.is_dir():
            raise ValueError(f"{vtb} is one file: say in what --ratio to cut it")
        else:
            files = {part: named_files(vtb, text or part) for part, text in given.items()}
            splits.check_apart(files)
            parts = {
                part: (f"{len(paths)} files", list(read_sentences(paths, losses)))
                for part, paths in files.items()
            }
            rest = set(tree_files(vtb)).difference(*files.values())
            if rest:
                msg.warn(f"{len(rest)} files of {vtb} are in no split, as {min(rest)}")
        splits.write_parts(parts, output, "vi", losses)
    except (BracketError, FormatError, OSError, ValueError) as error:
        typer.echo(f"convert_vtb: {error}", err=True)
        raise typer.Exit(1) from None


if __name__ == "__main__":
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(main)
    app()
