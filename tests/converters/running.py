"""Runs of a project's converter, and small converted files."""

from __future__ import annotations

from pathlib import Path

import typer
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab
from typer.testing import CliRunner, Result

from spacy_lal.cli.convert import command
from spacy_lal.formats.treebank_format import Format


def run(format: type[Format], *arguments: object) -> Result:
    """As `python convert_….py ARGUMENTS` does."""
    app = typer.Typer()
    app.command()(command(format))
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def read(path: Path) -> list[Doc]:
    return list(DocBin().from_disk(path).get_docs(Vocab()))
