"""`export-ged`: the grammatical errors of Docs in two columns."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from spacy.tokens import Doc

from ..annotations.grammar_errors import ERRORS_KEY
from ..formats.docbins import read_spacy
from ..formats.docs import language_vocab
from ..formats.files import whole_file
from ..formats.learner_tsv import format_tsv, multiged_escape
from .checks import check_outputs, clear_errors, from_each


def export_ged(
    docs: Annotated[
        Path, typer.Argument(help="A .spacy file whose Docs have errors.", exists=True)
    ],
    output: Annotated[Path, typer.Argument(help="The .tsv file to write.")],
    types: Annotated[
        bool, typer.Option("--types", help="Write types of errors instead of i.")
    ] = False,
    multiged_escapes: Annotated[
        bool, typer.Option("--multiged-escapes", help=r"Write a double quote as \".")
    ] = False,
) -> None:
    """Write one line per token, with the label c or i after a tab, as in shared tasks."""
    with clear_errors("export-ged"):
        check_outputs([output], [docs])
        read = _read(docs)
        missing = sum(ERRORS_KEY not in doc.spans for doc in read)
        if missing:
            raise ValueError(f"{docs}: {missing} of {len(read)} Docs have no doc.spans['errors']")
        escape = multiged_escape if multiged_escapes else str
        text = format_tsv(read, types=types, escape=escape)
        output.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(output) as unfinished:
            unfinished.write_text(text, encoding="utf8")
    typer.echo(f"{len(read):,} Docs")


def _read(path: Path) -> list[Doc]:
    # only a language's vocabulary knows which tokens are whitespace
    return list(from_each([path], lambda path: read_spacy(path, language_vocab("xx"))))
