"""Convert the Penn Treebank's Wall Street Journal by its usual sections to .spacy files.

Heads and relations, or tags, may come from CoNLL-X files {train,dev,test}.conllx that have the
same sentences in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from wasabi import msg

from spacy_lal.treebanks import brackets, conllu
from spacy_lal.treebanks.docs import Sentence, write_docs
from spacy_lal.treebanks.files import FormatError
from spacy_lal.trees import BracketError, ptb_unescape

SUFFIXES = {".mrg", ".tree", ".ptb"}


class Take(StrEnum):
    """What to read from CoNLL-X files."""

    heads = "heads"
    tags = "tags"
    both = "both"


def sections(text: str) -> list[str]:
    """Section names: "02-21" is 02, 03 … 21 and "00,24" these two. Raises ValueError."""
    names: list[str] = []
    for part in text.split(","):
        first, hyphen, last = part.strip().partition("-")
        if not (first.isdecimal() and (last.isdecimal() or not hyphen)):
            raise ValueError(f"sections {text!r}: write them as 02-21 or 00,24")
        names += (f"{i:02}" for i in range(int(first), int(last or first) + 1))
    return names


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


def read_trees(path: Path) -> Iterator[Sentence]:
    """Sentences with tags and bare constituents, all escapes undone."""
    for tree in brackets.read_treebank(path, unescape="ptb"):
        cleaned = brackets.clean_tree(tree)
        if cleaned is not None:
            yield brackets.to_sentence(cleaned)


def merge(sentences: Sequence[Sentence], path: Path, take: Take) -> tuple[list[Sentence], int]:
    """The sentences with what a CoNLL-X file says, and how many have no usable heads there.

    Raises FormatError at the first place where the words aren't the same.
    """
    merged: list[Sentence] = []
    faults = 0
    for row in conllu.read_conllu(path):
        place = {"source": row.source, "line": row.line}
        if len(merged) == len(sentences):
            raise FormatError(f"more than the treebank's {len(sentences)} sentences", **place)
        sentence = sentences[len(merged)]
        if [ptb_unescape(word) for word in row.words] != list(sentence.words):
            raise FormatError(
                f"sentence {len(merged) + 1} is {' '.join(row.words)!r} here and "
                f"{' '.join(sentence.words)!r} in the treebank",
                **place,
            )
        predicted, _ = conllu.to_sentence(row)
        if take is not Take.tags:
            sentence = replace(sentence, heads=predicted.heads, deps=predicted.deps)
            faults += predicted.heads is None
        if take is not Take.heads:
            if not predicted.tags or not all(predicted.tags):
                raise FormatError(f"sentence {len(merged) + 1} has words without a tag", **place)
            sentence = replace(sentence, tags=predicted.tags)
        merged.append(sentence)
    if len(merged) != len(sentences):
        raise ValueError(f"{path}: {len(merged)} sentences, the treebank has {len(sentences)}")
    return merged, faults


def main(
    wsj: Annotated[Path, typer.Argument(help="Folder of the sections: 00 … 24.", exists=True)],
    output: Annotated[Path, typer.Argument(help="Folder for {train,dev,test}.spacy.")],
    train: Annotated[str, typer.Option(help="Sections to train on.")] = "02-21",
    dev: Annotated[str, typer.Option(help="Development sections.")] = "22",
    test: Annotated[str, typer.Option(help="Test sections.")] = "23",
    conllx: Annotated[str, typer.Option(help="Folder of CoNLL-X files; empty for none.")] = "",
    take: Annotated[Take, typer.Option(help="What to take from them.")] = Take.heads,
) -> None:
    """Convert WSJ, split by sections, to one Doc a sentence."""
    table = []
    try:
        if conllx and not Path(conllx).is_dir():
            raise FileNotFoundError(f"no folder {conllx} of CoNLL-X files")
        for split, text in (("train", train), ("dev", dev), ("test", test)):
            files, empty = section_files(wsj, sections(text))
            if not files:
                raise FileNotFoundError(f"no trees of sections {text} in {wsj}")
            if empty:
                msg.warn(f"{split}: no trees in sections {', '.join(empty)}")
            sentences = [sentence for path in files for sentence in read_trees(path)]
            taken, faults = "", 0
            if conllx and (path := Path(conllx) / f"{split}.conllx").exists():
                sentences, faults = merge(sentences, path, take)
                taken = "tags, heads" if take is Take.both else take
            elif conllx:
                msg.warn(f"{split}: {path} isn't there, the treebank's annotation stays as it is")
            write_docs(sentences, output / f"{split}.spacy", "en")
            words = sum(len(sentence.words) for sentence in sentences)
            table.append((split, text, len(files), len(sentences), words, taken, faults))
    except (BracketError, FormatError, OSError, ValueError) as error:
        typer.echo(f"convert_ptb: {error}", err=True)
        raise typer.Exit(1) from None
    header = ("", "sections", "files", "sentences", "words", "from CoNLL-X", "no usable heads")
    msg.table(table, header=header, divider=True)


if __name__ == "__main__":
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(main)
    app()
