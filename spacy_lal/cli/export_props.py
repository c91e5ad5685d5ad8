"""`export-props`: the frames of Docs in CoNLL-2005's columns."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..formats.docbins import read_spacy
from ..formats.docs import language_vocab
from ..formats.files import whole_file
from ..formats.props import PropsSentence, doc_props, format_props
from .checks import check_outputs, clear_errors, from_each


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
    with clear_errors("export-props"):
        check_outputs([output], [docs])
        sentences = _read(docs)
        text = format_props(sentences)
        output.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(output) as unfinished:
            unfinished.write_text(text, encoding="utf8")
    predicates = sum(len(sentence.frames) for sentence in sentences)
    typer.echo(f"{len(sentences):,} sentences, {predicates:,} predicates")


def _read(path: Path) -> list[PropsSentence]:
    """Raises ValueError, which names the file and the Doc (from 1)."""
    sentences: list[PropsSentence] = []
    # Only a language's vocabulary knows which tokens are whitespace.
    docs = from_each([path], lambda path: read_spacy(path, language_vocab("xx")))
    for number, doc in enumerate(docs, start=1):
        try:
            sentences += doc_props(doc)
        except ValueError as error:
            raise ValueError(f"{path}: Doc {number}: {error}") from error
    return sentences
