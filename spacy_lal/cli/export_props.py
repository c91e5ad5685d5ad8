"""`export-props`: the frames of Docs in CoNLL-2005's columns."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..treebanks.docbins import read_spacy
from ..treebanks.docs import language_vocab
from ..treebanks.props import PropsSentence, doc_props, format_props


def export_props(
    docs: Annotated[
        Path, typer.Argument(help="A .spacy file whose Docs have frames.", exists=True)
    ],
    output: Annotated[Path, typer.Argument(help="The props file to write.")],
) -> None:
    """Write frames as CoNLL-2005 props: a column of lemmas, and one for each predicate.

    Every sentence is a block of rows, a row for each token other than whitespace; in a Doc without
    sentence boundaries, all of it is one block.
    """
    try:
        sentences = _read(docs)
        text = format_props(sentences)
    except (OSError, ValueError) as error:
        typer.echo(f"export-props: {error}", err=True)
        raise typer.Exit(1) from None
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(text, encoding="utf8")
    predicates = sum(len(sentence.frames) for sentence in sentences)
    typer.echo(f"{len(sentences):,} sentences, {predicates:,} predicates")


def _read(path: Path) -> list[PropsSentence]:
    """Raises ValueError, which names the file and the Doc (from 1)."""
    sentences: list[PropsSentence] = []
    # Only a language's vocabulary knows which tokens are whitespace.
    for number, doc in enumerate(read_spacy(path, language_vocab("xx")), start=1):
        try:
            sentences += doc_props(doc)
        except ValueError as error:
            raise ValueError(f"{path}: Doc {number}: {error}") from error
    return sentences
